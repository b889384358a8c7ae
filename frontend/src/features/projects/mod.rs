//! Projects: the shared list, the page that shows it, and where to start.

mod create;
mod page;
mod start;
mod store;

pub(crate) use page::ProjectsPage;
pub(crate) use start::StartPage;
pub(crate) use store::Projects;
