//! The tools of a project.

mod empty;
mod page;
mod search;
mod table;

pub(crate) use page::ToolsPage;
