//! Imports of descriptions of APIs: taking one in, importing it again, and the changes that wait for approval.

mod again;
mod awaiting;
mod badges;
mod change;
mod choices;
mod choose;
mod decide;
mod hosts;
mod layers;
mod list;
mod next;
mod page;
mod quarantine;
mod questions;
mod report;
mod rule;
mod source;
mod trying;
mod waiting;
mod wizard;

pub(crate) use list::ImportsPage;
pub(crate) use next::Next;
pub(crate) use page::ImportPage;
pub(crate) use quarantine::QuarantinePage;
pub(crate) use report::Verdict;
pub(crate) use waiting::Waiting;
pub(crate) use wizard::NewImportPage;
