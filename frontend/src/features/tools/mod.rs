//! Tools: the list, one tool, its definition and its history.

mod bulk;
mod call_form;
mod call_session;
mod change;
mod columns;
mod conflict;
mod definition;
mod definition_form;
mod draft;
mod editing;
mod empty;
mod filters;
mod guides;
mod in_step;
mod merge;
mod page;
mod revisions;
mod row;
mod selection;
mod tool;
mod uses;

pub(crate) use bulk::{affected, outlook};
pub(crate) use change::{address, offer_undo};
pub(crate) use definition_form::{Parameters, TypeFields};
pub(crate) use filters::Exact;
pub(crate) use in_step::InStep;
pub(crate) use merge::diff;
pub(crate) use page::ToolsPage;
pub(crate) use tool::ToolPage;
