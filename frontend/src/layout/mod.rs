//! The frame around every page of a signed-in person.

mod account_menu;
mod palette;
mod password;
mod project_switcher;
mod shortcuts;
mod sidebar;
mod top_bar;

pub(crate) use sidebar::Navigation;
pub(crate) use top_bar::TopBar;
