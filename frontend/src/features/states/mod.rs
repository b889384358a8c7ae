//! States: the machine that the tools make, drawn; its problems; walking through it.

mod drawing;
mod layout;
mod page;

pub(crate) use page::StatesPage;
