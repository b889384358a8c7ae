//! Workflow runs: the list, and one with its way through the states.

mod detail;
mod page;

pub(crate) use page::SessionsPage;
