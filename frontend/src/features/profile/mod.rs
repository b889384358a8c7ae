//! The profile of the user who is signed in.

mod appearance;
mod page;
mod sign_ins;

pub(crate) use page::ProfilePage;
