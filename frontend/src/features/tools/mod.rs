//! Tools: the list, one tool, its definition and its history.

mod bulk;
mod call_form;
mod change;
mod columns;
mod definition;
mod empty;
mod filters;
mod page;
mod revisions;
mod row;
mod selection;
mod tool;

pub(crate) use filters::Exact;
pub(crate) use page::ToolsPage;
pub(crate) use tool::ToolPage;
