//! Service keys: how agents identify themselves.

mod create;
mod page;

pub(crate) use page::KeysPage;
