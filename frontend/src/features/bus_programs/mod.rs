//! Tool services and workers on the message bus: which of their processes run, what they announced, what waits
//! for them, and the definitions of services.

mod dead_letters;
mod definition;
mod list;
mod page;
mod service_form;
mod service_params;
mod words;

pub(crate) use dead_letters::DeadLettersPage;
pub(crate) use definition::{NewServicePage, ServiceDefinitionPage};
pub(crate) use list::BusProgramsPage;
pub(crate) use page::BusProgramPage;
