//! The snapshot against the rule's text.

mod building;
mod oracle;
mod validation;
mod workflows;
