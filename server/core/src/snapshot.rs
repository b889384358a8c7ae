//! A project's definitions, compiled.
