//! A checked definition. What is here has passed every rule of `super`; nothing else constructs it from user input.
//!
//! The serialised form is canonical: one vocabulary, absent and `[]` kept apart, and reading it back gives the same
//! value. It is what revisions store and what diffs compare.

mod http;
pub mod request;
mod schema_text;
mod static_answer;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use toolgate_api::tools::AfterExecution;

pub use self::http::{
    AuthScheme, AuthStyle, Beyond, HttpAuth, HttpBody, HttpBreaker, HttpCache, HttpOptions, HttpProbe,
    HttpResult, HttpRetry, OAuthClient,
};
pub use self::schema_text::SchemaText;
pub use self::static_answer::{StaticError, StaticOptions};
use crate::ids::ToolName;

/// A tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolDefinition {
    /// What callers call it.
    pub name: ToolName,
    /// What executes it, for example `openapi`, `tool-service`, `mcp-tool`.
    #[serde(rename = "type")]
    pub kind: String,
    /// What people read instead of its name; absent: the name in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<Box<str>>,
    /// What it does, as the model reads it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Whether it may be called; absent when it may.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub enabled: bool,
    /// Absent: `["default"]`. Empty: reachable only by a request for `*`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<Vec<String>>,
    /// The state after success; absent: no move.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// Absent: every state. Empty: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub available_in_states: Option<Vec<String>>,
    /// JSON Schema of the arguments; always an object schema.
    pub parameters: SchemaText,
    /// JSON Schema of the result, if declared. A result that does not fit it is reported as a warning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<SchemaText>,
    /// What the caller's turn does afterwards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_execution: Option<AfterExecution>,
    /// What it does to its environment, where that does not follow from how it is executed.
    #[serde(default, skip_serializing_if = "Annotations::is_empty")]
    pub annotations: Annotations,
    /// The bus subject of its worker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_subject: Option<String>,
    /// The tool service it refers to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<String>,
    /// Values for the service's configuration parameters.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub config: Map<String, Value>,
    /// How it is executed.
    #[serde(default, skip_serializing_if = "Options::is_empty")]
    pub options: Options,
}

/// What a tool does to its environment (MCP 2025-11-25, `ToolAnnotations`). Only hints: the gateway decides by grants.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Annotations {
    /// It changes nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_only_hint: Option<bool>,
    /// It may change or remove what exists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destructive_hint: Option<bool>,
    /// A second call with the same arguments changes nothing more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotent_hint: Option<bool>,
    /// It reaches systems outside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_world_hint: Option<bool>,
}

impl Annotations {
    /// Whether nothing is set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

fn yes() -> bool {
    true
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde calls it with a reference"
)]
fn is_yes(value: &bool) -> bool {
    *value
}

/// How a tool is executed. What most tools lack is behind a pointer, because servers keep many definitions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// Argument layers.
    #[serde(default, skip_serializing_if = "ArgOptions::is_empty")]
    pub args: ArgOptions,
    /// Parameter name to environment variable name; the value is injected when the tool runs.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub envs: BTreeMap<String, String>,
    /// Milliseconds one call may take, 1 to 300 000; 30 000 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// The Jina search and reader preset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jina: Option<Box<JinaOptions>>,
    /// A general HTTP request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http: Option<Box<HttpOptions>>,
    /// An answer that needs no upstream.
    #[serde(default, rename = "static", skip_serializing_if = "Option::is_none")]
    pub static_answer: Option<Box<StaticOptions>>,
    /// This and the following options may also be in `http`, which means the same; see the methods of the same names.
    ///
    /// When a request is sent again; absent: GET and HEAD up to twice more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<Box<HttpRetry>>,
    /// When the circuit breaker opens; absent: after 5 failures in a row, for 10 seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub breaker: Option<HttpBreaker>,
    /// Calls that may run at the same time on one server, 1 to 1000; never more than the server allows any tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<u32>,
    /// How long an answer serves further calls; absent: not at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<HttpCache>,
    /// What becomes of the answer; absent: it is the result as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Box<HttpResult>>,
}

impl Options {
    /// Whether nothing is set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// When a request is sent again.
    #[must_use]
    pub fn retry(&self) -> Option<&HttpRetry> {
        let in_http = || self.http.as_ref()?.retry.as_deref();
        self.retry.as_deref().or_else(in_http)
    }

    /// The request of `http` with everything the options say about it, wherever it is written.
    #[must_use]
    pub fn http_request(&self) -> Option<HttpOptions> {
        Some(HttpOptions {
            retry: self.retry().cloned().map(Box::new),
            result: self.result().cloned().map(Box::new),
            ..*self.http.clone()?
        })
    }

    /// When the circuit breaker opens.
    #[must_use]
    pub fn breaker(&self) -> Option<HttpBreaker> {
        self.breaker.or_else(|| self.http.as_ref()?.breaker)
    }

    /// Calls that may run at the same time on one server.
    #[must_use]
    pub fn concurrency(&self) -> Option<u32> {
        self.concurrency.or_else(|| self.http.as_ref()?.concurrency)
    }

    /// How long an answer serves further calls.
    #[must_use]
    pub fn cache(&self) -> Option<HttpCache> {
        self.cache.or_else(|| self.http.as_ref()?.cache)
    }

    /// What becomes of the answer.
    #[must_use]
    pub fn result(&self) -> Option<&HttpResult> {
        let in_http = || self.http.as_ref()?.result.as_deref();
        self.result.as_deref().or_else(in_http)
    }
}

/// Argument layers that the definition brings.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArgOptions {
    /// Used where the caller gave nothing; an explicit null counts as given.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub defaults: Map<String, Value>,
    /// Overwrite what the caller gave; hidden from callers.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub fixed: Map<String, Value>,
}

impl ArgOptions {
    /// Whether nothing is set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.defaults.is_empty() && self.fixed.is_empty()
    }
}

/// Which of Jina's two services.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum JinaMode {
    /// `s.jina.ai`
    Search,
    /// `r.jina.ai`
    Reader,
}

/// The Jina preset (tool development guide, section 4).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JinaOptions {
    /// Which service.
    pub mode: JinaMode,
    /// `https://s.jina.ai` or `https://r.jina.ai` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// `/search` when absent (search only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// `GET` or `POST`; when absent, `GET` for search and `POST` for reader.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// The environment variable with the API key; `JINA_API_KEY` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auth_env: Option<String>,
    /// `application/json` (the default) or `text/plain`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accept: Option<String>,
    /// Further request headers with constant values.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
}

/// A service that tools refer to (tool services specification, tier 1).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ServiceDefinition {
    /// Its id.
    pub id: ToolName,
    /// The queue of requests; absent for services that are no bus service.
    #[serde(default, rename = "request-queue", skip_serializing_if = "Option::is_none")]
    pub request_queue: Option<String>,
    /// The queue of responses.
    #[serde(default, rename = "response-queue", skip_serializing_if = "Option::is_none")]
    pub response_queue: Option<String>,
    /// The configuration parameters its tools may or must set.
    #[serde(default, rename = "config-params", skip_serializing_if = "Vec::is_empty")]
    pub config_params: Vec<ConfigParam>,
    /// Calls of all its tools that a server may have running at the same time.
    #[serde(default, rename = "max-concurrent", skip_serializing_if = "Option::is_none")]
    pub max_concurrent: Option<u32>,
    /// Environment variables by parameter name; these override the `options.envs` of its tools.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub envs: BTreeMap<String, String>,
}

/// One configuration parameter of a service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfigParam {
    /// Its name.
    pub name: String,
    /// Whether every tool must set it.
    #[serde(default)]
    pub required: bool,
}
