//! Tool services and workers that [Toolgate](../../../README.md) calls over a message bus (NATS).
//!
//! [`ToolService`] answers the requests of a tool service, [`Worker`] the commands of the UTP tool protocol. Each is a function and
//! a name. [`Invoker`] calls tools the other way. `server/docs/tool-services.md` and `server/docs/workers.md` say what travels.

mod cards;
mod connection;
mod envelope;
mod error;
mod invoke;
mod presence;
mod rest;
mod running;
mod schema;
mod service;
mod trace;
mod worker;

pub use self::cards::Call;
pub use self::connection::connect;
pub use self::envelope::Request;
pub use self::error::{Error, Failure};
pub use self::invoke::{Invocation, Invoker, RestTokens, Tokens};
pub use self::presence::Announcement;
pub use self::service::ToolService;
pub use self::worker::Worker;
