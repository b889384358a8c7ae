//! Who holds what: a matrix of principals and groups, and the grants behind it.

mod add;
mod edit;
mod effective;
mod page;
mod terms;
mod unused;

pub(crate) use page::PermissionsPage;
pub(crate) use terms::TermsFields;
