//! Everything that leaves the process on behalf of a call.
//!
//! One call goes through here in five steps, one module each:
//!
//! 1. `executors` finds the tool's slot and its prepared template (`prepared`).
//! 2. A template turns the definition, the arguments and the environment values into a `http::plan::RequestPlan`.
//!    This step is pure; `options.http` (`http::template`) and the Jina preset (`jina`) both end in that plan.
//! 3. `guard` decides whether the tool may go out now: circuit breaker and concurrency limits.
//! 4. `http::send` sends the plan through the guarded connector of `egress`, follows redirects by hand and retries
//!    what may be retried.
//! 5. `http::answer` or `jina::answer` turns the upstream's answer into a result or a `Failure`.
//!
//! A secret value lives in a `secrecy::SecretString` until it is written into a header or a body. It is never part of
//! a URL, and every text that leaves this crate is redacted of the secrets of its request (`redact`).
//!
//! To add an executor: write a template whose `plan` makes a `RequestPlan` (or, for something that is no HTTP request, a
//! module beside `http`), and name it in `prepared`.

mod answers;
mod config;
pub mod egress;
mod executors;
mod failure;
mod guard;
mod http;
mod invocation;
mod jina;
mod prepared;
mod redact;
mod reports;

pub use config::{EnvSource, ExecutorConfig, SecretSource};
pub use egress::{EgressError, EgressPolicy, Origins, Resolve};
pub use executors::Executors;
pub use failure::Failure;
pub use guard::UpstreamReport;
pub use http::fetch::{FetchLimits, Fetched};
pub use http::stream::{StreamLimits, StreamedAnswer};
pub use invocation::{Artifact, ArtifactKind, Execution, Invocation};
pub use redact::Secrets;
pub use reports::{AnswerUses, BreakerReport, OpenUpstream, PlaceUses, ProbeReport, ToolUpstream, ToolUses};
