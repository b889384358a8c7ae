//! MCP servers behind the gateway: adding them, how their connections are, and their tools.

mod account;
mod add;
mod changing;
mod connection;
mod edit;
mod follow;
mod form;
mod import;
mod list;
mod log;
mod offers;
mod page;
mod removal;
mod testing;
mod tools;

pub(crate) use follow::follow;
pub(crate) use list::McpServersPage;
pub(crate) use page::McpServerPage;
