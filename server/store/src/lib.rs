//! Everything Toolgate keeps. The only crate that knows SQL.

pub mod rows;
