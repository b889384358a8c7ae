//! The record of every decision and call: list, filters, live, one of them, export.

mod choose;
mod columns;
mod detail;
mod filters;
mod integrity;
mod live;
mod page;
mod scope;
mod server;
mod tail;
mod views;

pub(crate) use columns::tone;
pub(crate) use page::RecordsPage;
pub(crate) use server::ServerRecordsPage;
pub(crate) use tail::Tail;
