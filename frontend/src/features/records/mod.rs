//! The record of every decision and call: list, filters, live, one of them, export.

mod detail;
mod filters;
mod integrity;
mod live;
mod page;
mod tail;

pub(crate) use page::{RecordsPage, tone};
pub(crate) use tail::Tail;
