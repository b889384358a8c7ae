//! Sends requests, bounds them in time, and turns every answer into an [`Answer`] or an [`ApiError`].
//!
//! Nothing here is generic but the last step, [`Answer::read`]: every instance of a generic function is code that
//! browsers load.

use std::future::Future;
use std::pin::Pin;

use gloo_net::http::{Method, RequestBuilder, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, to_value};
use web_sys::AbortSignal;

use super::{ApiError, events};

/// Milliseconds after which a request is aborted that does not say, so that no wait is unbounded.
const TIMEOUT_MS: u32 = 20_000;

/// What a request carries.
#[derive(Debug, Clone)]
pub(crate) enum Body {
    /// Nothing.
    None,
    /// JSON.
    Json(String),
    /// YAML.
    Yaml(String),
}

impl Body {
    /// A value as JSON.
    pub(crate) fn json<B: Serialize>(body: &B) -> Self {
        Self::Json(json_of(body).to_string())
    }
}

/// A request to be sent.
#[derive(Debug, Clone)]
pub(crate) struct Ask {
    method: Method,
    path: String,
    accept: &'static str,
    if_match: Option<String>,
    is_new: bool,
    headers: Vec<(String, String)>,
    takes_refusals: bool,
    within_ms: u32,
    body: Body,
}

impl Ask {
    /// Reads.
    pub(crate) fn get(path: impl Into<String>) -> Self {
        Self::new(Method::GET, path.into(), Body::None)
    }

    /// Adds, or asks for something to be done.
    pub(crate) fn post(path: impl Into<String>, body: Body) -> Self {
        Self::new(Method::POST, path.into(), body)
    }

    /// Replaces.
    pub(crate) fn put(path: impl Into<String>, body: Body) -> Self {
        Self::new(Method::PUT, path.into(), body)
    }

    /// Changes in part.
    pub(crate) fn patch(path: impl Into<String>, body: Body) -> Self {
        Self::new(Method::PATCH, path.into(), body)
    }

    /// Removes.
    pub(crate) fn delete(path: impl Into<String>) -> Self {
        Self::new(Method::DELETE, path.into(), Body::None)
    }

    /// Only if the resource still has this tag.
    pub(crate) fn if_match(mut self, tag: impl Into<String>) -> Self {
        self.if_match = Some(tag.into());
        self
    }

    /// Only if there is no such resource yet.
    pub(crate) fn if_new(mut self) -> Self {
        self.is_new = true;
        self
    }

    /// With a further header.
    pub(crate) fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// Takes JSON for an answer whatever its status is: the protocol says in it what went wrong.
    pub(crate) fn taking_refusals(mut self) -> Self {
        self.takes_refusals = true;
        self
    }

    /// Waits longer for the answer: the server itself waits for another one.
    pub(crate) fn within(mut self, ms: u32) -> Self {
        self.within_ms = ms;
        self
    }

    /// Asks for YAML.
    pub(crate) fn for_yaml(mut self) -> Self {
        self.accept = "application/yaml";
        self
    }

    fn new(method: Method, path: String, body: Body) -> Self {
        Self {
            method,
            path,
            accept: "application/json, application/problem+json",
            if_match: None,
            is_new: false,
            headers: Vec::new(),
            takes_refusals: false,
            within_ms: TIMEOUT_MS,
            body,
        }
    }

    /// Sends it.
    pub(crate) fn send(self) -> Pin<Box<dyn Future<Output = Result<Answer, ApiError>>>> {
        Box::pin(async move {
            let takes_refusals = self.takes_refusals;
            check(self.fetch().await?, takes_refusals).await
        })
    }

    /// Sends it, and passes on the parts of the answer as they come. A server that streams nothing answers as always.
    pub(crate) fn send_for_parts(
        mut self,
        on_part: Box<dyn Fn(Value)>,
    ) -> Pin<Box<dyn Future<Output = Result<Answer, ApiError>>>> {
        self.accept = "text/event-stream, application/json, application/problem+json";
        Box::pin(async move {
            let response = self.fetch().await?;
            let kind = response.headers().get("content-type").unwrap_or_default();
            if response.ok() && kind.starts_with("text/event-stream") {
                return events::answer(&response, on_part).await;
            }
            check(response, false).await
        })
    }

    fn fetch(self) -> Pin<Box<dyn Future<Output = Result<Response, ApiError>>>> {
        Box::pin(async move {
            let mut request = RequestBuilder::new(&self.path)
                .method(self.method)
                .header("accept", self.accept)
                .abort_signal(Some(&AbortSignal::timeout_with_u32(self.within_ms)));
            if let Some(tag) = &self.if_match {
                request = request.header("if-match", tag);
            }
            if self.is_new {
                request = request.header("if-none-match", "*");
            }
            for (name, value) in &self.headers {
                request = request.header(name, value);
            }
            let request = match self.body {
                Body::None => request.build()?,
                Body::Json(text) => request.header("content-type", "application/json").body(text)?,
                Body::Yaml(text) => request.header("content-type", "application/yaml").body(text)?,
            };
            Ok(request.send().await?)
        })
    }
}

/// An answer that was not an error.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answer {
    /// The tag that a change of the resource must name.
    pub(crate) etag: String,
    /// The body.
    pub(crate) text: String,
}

impl Answer {
    /// The body as a value of the contract.
    pub(crate) fn read<T: DeserializeOwned>(&self) -> Result<T, ApiError> {
        read_json(&self.text)
    }
}

/// Reads a text as a value of the contract. Everything comes through here.
#[inline(never)]
pub(crate) fn read_json<T: DeserializeOwned>(text: &str) -> Result<T, ApiError> {
    serde_json::from_str(text).map_err(|error| ApiError::Unreadable(error.to_string()))
}

/// A value of the contract as JSON. Every type of the contract has one; null where that fails.
pub(crate) fn json_of<T: Serialize>(value: &T) -> Value {
    to_value(value).unwrap_or_default()
}

/// Parses a text.
pub(crate) fn parse(text: &str) -> Result<Value, ApiError> {
    serde_json::from_str(text).map_err(|error| ApiError::Unreadable(error.to_string()))
}

/// Lets successful answers pass; everything else becomes the problem in the answer.
async fn check(response: Response, takes_refusals: bool) -> Result<Answer, ApiError> {
    let headers = response.headers();
    let is = |kind: &str| {
        headers
            .get("content-type")
            .is_some_and(|text| text.starts_with(kind))
    };
    if response.ok() || (takes_refusals && is("application/json")) {
        return Ok(Answer {
            etag: headers.get("etag").unwrap_or_default(),
            text: response.text().await?,
        });
    }
    let status = response.status();
    let is_problem = is("application/problem+json");
    let request_id = headers.get("x-request-id");
    match if is_problem {
        response.text().await.ok().and_then(|text| read_json(&text).ok())
    } else {
        None
    } {
        Some(problem) => Err(ApiError::Problem(Box::new(problem))),
        None => Err(ApiError::Status { status, request_id }),
    }
}
