//! Everything that leaves the process on behalf of a call.
//!
//! One call goes through here in four steps:
//!
//! 1. `executors` finds the tool's slot and what the tool's kind of executor prepared for this revision (`prepared`).
//! 2. The prepared tool works the call out without sending anything (`executor::Prepared::plan`). For HTTP, a template turns
//!    the definition, the arguments and the environment values into a `http::plan::RequestPlan`; `options.http`
//!    (`http::template`) and the Jina preset (`jina`) both end in that plan.
//! 3. `guard` decides whether the tool may go out now: circuit breaker and concurrency limits. An answer that is kept
//!    (`answers`) is given without it.
//! 4. The planned call runs until its deadline. For HTTP, `http::send` sends the plan through the guarded connector of
//!    `egress`, follows redirects by hand and retries what may be retried; `http::answer` or `jina::answer` turns the
//!    upstream's answer into a result or a `Failure`.
//!
//! A secret value is held in a `secrecy::SecretString` until it is written into a header or a body. It is never part
//! of a URL, and every text that leaves this crate is redacted of the secrets of its request (`redact`).
//!
//! To add a kind of executor: give it an `ExecutorKind` and a `kinds` file in core, implement `Executor` and `Prepared` in a
//! module beside `http`, and register it in `Executors::with_resolver`, or, if it needs configuration, by `Executors::with`.

mod account;
mod answers;
mod asking;
pub mod bus;
mod config;
pub mod egress;
mod events;
mod exchange;
mod executor;
mod executors;
mod failure;
mod guard;
mod http;
mod invocation;
mod jina;
mod ledger;
mod management;
mod mcp;
mod prepared;
mod redact;
mod reports;
mod result;
mod static_answer;
mod upstream_log;
mod values;

pub use account::Account;
pub use asking::Asker;
pub use bus::{
    Bus, BusAnnouncement, BusAuth, BusConfig, BusError, BusReport, BusTls, Dead, KeptDead, LargeCards,
    ServiceExecutor, WorkerExecutor, WorkerReport,
};
pub use config::{EnvSource, ExecutorConfig, SecretSource};
pub use egress::{EgressError, EgressPolicy, Origins, Resolve};
pub use events::{EventSplitter, EventTooLarge};
pub use exchange::Exchange;
pub use executor::{Circumstances, Executor, Key, Planned, Prepared, Reply, Scope};
pub use executors::{Executors, Reach};
pub use failure::Failure;
pub use guard::UpstreamReport;
pub use http::fetch::{FetchLimits, Fetched};
pub use http::form::JsonPost;
pub use http::stream::{StreamLimits, StreamedAnswer};
pub use invocation::{Artifact, ArtifactKind, Execution, Invocation, Parts};
pub use ledger::Ledger;
pub use management::Manager;
pub use mcp::{
    ComparedBecause, Comparison, Completed, Completion, ConnectionStates, ConnectionStatus, Instance,
    LastError, LogLines, LoggedLine, McpExecutor, McpServers, McpTarget, Offered, OfferedList, ServerSet,
    StdioSettings, run_behind,
};
pub use redact::Secrets;
pub use reports::{AnswerUses, BreakerReport, OpenUpstream, PlaceUses, ProbeReport, ToolUpstream, ToolUses};
pub use upstream_log::{LogLevel, LogMessage, UpstreamLog};
pub use values::Values;
