//! Who may call what, when: groups, states and the decision.

pub mod condition;
pub mod decision;
pub mod gates;
pub mod grants;
pub mod groups;
pub mod moment;

pub use decision::{Decision, Effect};
pub use gates::{ClosedBecause, ClosedGroup};
pub use moment::{Load, Moment};
