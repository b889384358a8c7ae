//! Who may call what, when: groups, states and the decision.

pub mod condition;
pub mod decision;
pub mod evaluation_context;
pub mod grants;
pub mod group_conditions;
pub mod groups;

pub use decision::{Decision, Effect};
pub use evaluation_context::{EvaluationContext, Load};
pub use group_conditions::{ClosedBecause, ClosedGroup};
