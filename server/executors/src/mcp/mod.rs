//! Tools of MCP servers: one connection for each server of a project, over which the calls of all its tools go.
//!
//! `rmcp` is the protocol. Ours is what surrounds it: `manager` has a `connection` for each server (or for each `instance` of it), which connects (`connect`)
//! when it is first needed, pauses after failures and ends when nothing needs it. `http` and `sse` send through the guarded client (with the token of `bearer`), `stdio`
//! starts a process in the `sandbox`, bounded by a `cgroup`, whose only way out is a `proxy` (and its `relay` inside). `handler` answers what servers ask and takes their notices, `callers` knows whose calls run and
//! `notices` passes progress and log messages to them; `listing` reads their lists, `listen` hears of their changes and
//! `comparison` says when their tools are compared with the approved ones,
//! `call` sends one call and `answer` makes a result of what came back; `raw` keeps it as it came. `offers` reads what they have beside tools, `questions` puts what they
//! ask to callers. `executor` is the seam to the guards.

mod answer;
mod bearer;
mod call;
mod callers;
mod cgroup;
mod comparison;
mod connect;
mod connection;
mod error;
mod executor;
mod handler;
mod http;
mod instance;
mod instances;
mod lines;
mod listen;
mod listing;
mod log;
mod manager;
mod notices;
mod offers;
mod proxy;
mod questions;
mod raw;
mod relay;
mod sandbox;
mod settings;
mod sse;
mod stdio;
mod target;
mod task;
mod throttle;

pub use self::comparison::{ComparedBecause, Comparison};
pub use self::connection::{ConnectionStatus, LastError};
pub use self::executor::McpExecutor;
pub use self::instance::Instance;
pub use self::log::{LogLines, LoggedLine};
pub use self::manager::{ConnectionStates, McpServers};
pub use self::offers::{Completed, Completion, Offered, OfferedList};
pub use self::relay::run_behind;
pub use self::settings::StdioSettings;
pub use self::target::{McpTarget, ServerSet};
