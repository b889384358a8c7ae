//! Widgets that know no feature.

mod code;
mod heading;
mod icon;
mod menu;
mod problem;
mod skeleton;
mod theme_switch;
mod time;

pub(crate) use code::CodeBlock;
pub(crate) use heading::{PageHeading, provide_heading_focus};
pub(crate) use icon::{Icon, Symbol};
pub(crate) use menu::Menu;
pub(crate) use problem::ProblemPanel;
pub(crate) use skeleton::Skeleton;
pub(crate) use theme_switch::ThemeSwitch;
pub(crate) use time::TimeAgo;
