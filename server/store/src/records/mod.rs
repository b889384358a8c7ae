//! The record of every decision and call: reading here, writing in `writer`.

mod abandoned;
mod batch;
pub(crate) mod chain;
mod columns;
mod entry;
mod moves;
mod read;
mod retention;
pub(crate) mod tail;
mod task;
pub(crate) mod verification;
pub(crate) mod verify;
pub(crate) mod writer;
