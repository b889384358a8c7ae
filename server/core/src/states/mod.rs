//! The workflow that tools make together: which states there are, which tool leads from which to which, and where that
//! goes wrong.

mod components;
pub mod graph;
pub mod render;

pub use graph::{DeadEnd, State, StateGraph, Transition};

#[cfg(test)]
mod tests;
