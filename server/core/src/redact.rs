//! What may be kept of arguments.
