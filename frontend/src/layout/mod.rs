//! The frame around every page of a signed-in person.

mod account_menu;
mod bell;
mod notifications;
mod palette;
mod password;
mod project_switcher;
mod second_factor;
mod shortcuts;
mod sidebar;
mod top_bar;

pub(crate) use notifications::NotificationList;
pub(crate) use palette::Palette;
pub(crate) use password::PasswordDialog;
pub(crate) use second_factor::SecondFactorDialog;
pub(crate) use sidebar::Navigation;
pub(crate) use top_bar::TopBar;
