//! The frame around every page of a signed-in person.

mod account_menu;
mod project_switcher;
mod top_bar;

pub(crate) use top_bar::TopBar;
