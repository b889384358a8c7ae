//! States: the machine that the tools make, drawn; its problems; walking through it; changing its arrows.

mod describe;
mod drawing;
mod edit;
mod focus;
mod layout;
mod lens;
mod map;
mod page;
mod picked;
mod problems;
mod table;
mod walk;

pub(crate) use page::StatesPage;
