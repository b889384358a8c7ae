//! The snapshot against the rule's text.

mod building;
mod changes;
mod conditions;
mod oracle;
mod validation;
mod workflows;
