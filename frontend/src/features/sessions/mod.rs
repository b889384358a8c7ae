//! Workflow runs: the list, and one with what happened in it.

mod columns;
mod detail;
mod live;
mod page;
mod timeline;

pub(crate) use page::SessionsPage;
