//! States: the machine that the tools make, drawn; its problems; walking through it, as a caller or as anyone; changing its arrows.

mod caller;
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
