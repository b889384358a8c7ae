//! Who may call what, when: groups, states and the decision (DESIGN, section 3).

pub mod groups;
