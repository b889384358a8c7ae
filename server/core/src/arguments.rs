//! Argument layers.
