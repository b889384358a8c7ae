//! Groups: what is in them, who holds them, when they are open, and changing all of that.

mod cost;
mod detail;
mod matrix;
mod page;
mod tree;

pub(crate) use page::GroupsPage;
