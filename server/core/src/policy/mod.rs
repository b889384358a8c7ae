//! Who may call what, when: groups, states and the decision.

pub mod decision;
pub mod groups;

pub use decision::{Decision, Effect};
