//! The guides of the product (`server/docs`), in the binary: as pages under `/help`, and as sections to search.

mod library;
mod page;
mod search;

pub use library::{Guide, Section, guides};
pub(crate) use page::router;
pub use search::search;

#[cfg(test)]
mod tests;
