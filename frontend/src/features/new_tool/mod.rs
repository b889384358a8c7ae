//! A new tool from what is pasted: the form that fills itself, the test, and the first call by a key.

mod examples;
mod outcome;
mod page;
mod paste;
mod saved;
mod trial;

pub(crate) use page::NewToolPage;
