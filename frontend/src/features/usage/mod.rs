//! How often what was asked for, over time: charts, and the tables behind them.

mod charts;
mod page;
mod series;

pub(crate) use charts::total_charts;
pub(crate) use page::UsagePage;
pub(crate) use series::{By, counted_by, principals, records_path, title_of};
