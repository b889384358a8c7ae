//! Tool services and workers on the message bus: which of their processes run, what they announced, and what waits for them.

mod dead_letters;
mod list;
mod page;
mod words;

pub(crate) use dead_letters::DeadLettersPage;
pub(crate) use list::BusProgramsPage;
pub(crate) use page::BusProgramPage;
