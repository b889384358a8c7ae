//! `options.http` as it is kept: the request, the credential, and how the upstream is treated.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::request::HttpRequest;

/// A general HTTP request built from the arguments.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HttpOptions {
    /// Scheme, host and optional port and path prefix: `https://api.example.com/v1`.
    pub base_url: String,
    /// Appended to the base; `{name}` is replaced by that argument, percent-encoded as one segment. With `request`, it is
    /// the name of a parameter of the path.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub path: String,
    /// The method; `GET` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// Query parameter to argument name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub query: BTreeMap<String, String>,
    /// Header to argument name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub header: BTreeMap<String, String>,
    /// What goes into the body, and nothing else then. Absent: arguments used nowhere else go to the query (GET, HEAD,
    /// DELETE) or into an object (other methods). It is JSON, or a form where `headers` has that `Content-Type`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<HttpBody>,
    /// Instead of `query`, `header` and `body`: every part of the request by name, and nothing else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<Box<HttpRequest>>,
    /// Further request headers with constant values.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// The credential.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auth: Option<Box<HttpAuth>>,
    /// When to try again; absent: GET and HEAD up to twice more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<Box<HttpRetry>>,
    /// When to leave the upstream alone; absent: after 5 failures in a row, for 10 seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub breaker: Option<HttpBreaker>,
    /// Calls that may run at the same time on one server, 1 to 1000; never more than the server allows any tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<u32>,
    /// How long an answer serves further calls; absent: not at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<HttpCache>,
    /// The probe that asks whether the upstream is healthy; absent: it is not probed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probe: Option<Box<HttpProbe>>,
    /// What becomes of the answer; absent: it is the result as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Box<HttpResult>>,
}

/// What goes into the body.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum HttpBody {
    /// The value of one argument is the whole body.
    Argument(String),
    /// An object of body property to argument name.
    Fields(BTreeMap<String, String>),
}

/// Where the credential comes from and where it goes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HttpAuth {
    /// How it is presented.
    #[serde(default)]
    pub scheme: AuthScheme,
    /// The environment variable (or `secret:NAME`) with the value; empty for `oauth2` and `account`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub env: String,
    /// The name of the header, the query parameter or the cookie (`header`, `query` and `cookie` only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Where the token comes from (`oauth2` only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<OAuthClient>,
    /// The account provider of the project at which the caller has an account (`account` only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
}

impl HttpAuth {
    /// The variables and secrets that it takes values from.
    pub fn sources(&self) -> impl Iterator<Item = &str> {
        let client = self.client.as_ref();
        let of_client = client.map(|client| [client.client_id.as_str(), client.client_secret.as_str()]);
        let own = (!self.env.is_empty()).then_some(self.env.as_str());
        own.into_iter().chain(of_client.into_iter().flatten())
    }
}

/// How a credential is presented.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AuthScheme {
    /// `Authorization: Bearer <value>`
    #[default]
    Bearer,
    /// `Authorization: Basic <base64 of value>`, where the value is `user:password`.
    Basic,
    /// `<name>: <value>`
    Header,
    /// `?<name>=<value>`
    Query,
    /// `Cookie: <name>=<value>`
    Cookie,
    /// `Authorization: Bearer <token>`, where the token is fetched with the client's credentials (RFC 6749 section 4.4).
    OAuth2,
    /// As the account provider says: the caller's own credential.
    Account,
}

/// An OAuth 2 client that acts for itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OAuthClient {
    /// Where tokens are given out.
    pub token_url: String,
    /// The variable (or `secret:NAME`) with the client's id.
    pub client_id: String,
    /// The variable (or `secret:NAME`) with the client's secret.
    pub client_secret: String,
    /// The scopes to ask for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<String>,
    /// The audience of the token, where the server requires one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audience: Option<String>,
    /// How the client presents itself; `basic` when absent.
    #[serde(default, skip_serializing_if = "AuthStyle::is_basic")]
    pub auth_style: AuthStyle,
}

/// How an OAuth 2 client presents itself (RFC 6749 section 2.3.1).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AuthStyle {
    /// `Authorization: Basic`
    #[default]
    Basic,
    /// `client_id` and `client_secret` in the form.
    Body,
}

impl AuthStyle {
    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "serde calls it with a reference"
    )]
    fn is_basic(&self) -> bool {
        *self == Self::Basic
    }
}

/// When a request is sent again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HttpRetry {
    /// Tries altogether, 1 to 6.
    pub attempts: u32,
    /// The statuses to try again after; 429 (when it says for how long), 502, 503 and 504 when absent. A connection that
    /// failed is always one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<Vec<u16>>,
    /// The pause before the second try in milliseconds, doubled for each further one, and up to as much again at random;
    /// 40 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backoff_ms: Option<u64>,
    /// The header by which the upstream knows a repetition; it gets the call's id. Needed for methods that are not
    /// idempotent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_header: Option<String>,
}

/// When the circuit breaker of an upstream opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HttpBreaker {
    /// After how many failures in a row, 1 to 1000; 5 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failures: Option<u32>,
    /// For how many seconds, 1 to 3600, until one call may try; 10 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_s: Option<u32>,
}

/// How long an answer serves further calls that would send the very same request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HttpCache {
    /// Seconds, 1 to 86 400.
    pub ttl_s: u32,
}

/// A request that asks whether an upstream is healthy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HttpProbe {
    /// Appended to the base address; it may have a query, and takes no arguments.
    pub path: String,
    /// Seconds between two of them, 5 to 3600.
    pub interval_s: u32,
    /// `GET` or `HEAD`; `GET` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
}

/// What becomes of an answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HttpResult {
    /// The media types to ask for, the best first; absent: JSON, then text, then anything.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accept: Vec<String>,
    /// The part that is the result (JSONPath, RFC 9535).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub select: Option<String>,
    /// Where the answer says how to get the next page (JSONPath); a `Link` header is read without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// The most bytes the result has as JSON, 100 to 10 485 760.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_bytes: Option<u64>,
    /// What becomes of a larger one; it is cut when absent.
    #[serde(default, skip_serializing_if = "Beyond::is_cut")]
    pub beyond: Beyond,
    /// For how many seconds it is kept, 60 to 604 800 (`keep` only); a day when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep_s: Option<u32>,
}

/// What becomes of a result that is too large.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Beyond {
    /// Lists and texts are cut, and a call with another result fails.
    #[default]
    Cut,
    /// The whole of it is kept for a while beside the part that is answered.
    Keep,
}

impl Beyond {
    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "serde calls it with a reference"
    )]
    fn is_cut(&self) -> bool {
        *self == Self::Cut
    }
}
