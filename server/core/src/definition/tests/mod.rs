//! Tables and properties of whole uploads.
