//! Service keys: how agents identify themselves.

mod create;
mod on_bus;
mod page;
mod rotate;

pub(crate) use create::CreateKeyDialog;
pub(crate) use page::{KeysPage, is_usable};
