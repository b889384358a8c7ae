//! Sends requests, bounds them in time, and turns every answer into a value or an [`ApiError`].
//!
//! What does not depend on a type is not generic: every instance of a generic function is code that browsers load.

use gloo_net::http::{Method, RequestBuilder, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;
use web_sys::AbortSignal;

use super::ApiError;

/// Milliseconds after which a request is given up, so that nothing waits for ever.
const TIMEOUT_MS: u32 = 20_000;

/// A resource and the tag that a change of it must name.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tagged<T> {
    /// The resource.
    pub(crate) value: T,
    /// Its entity tag.
    pub(crate) etag: Option<String>,
}

/// What a request carries.
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
    pub(crate) fn json<B: Serialize>(body: &B) -> Result<Self, ApiError> {
        serde_json::to_string(body)
            .map(Self::Json)
            .map_err(|error| ApiError::Unreadable(error.to_string()))
    }
}

/// An answer that was not an error.
struct Answer {
    etag: Option<String>,
    text: String,
}

impl Answer {
    fn read<T: DeserializeOwned>(self) -> Result<Tagged<T>, ApiError> {
        match serde_json::from_str(&self.text) {
            Ok(value) => Ok(Tagged {
                value,
                etag: self.etag,
            }),
            Err(error) => Err(ApiError::Unreadable(error.to_string())),
        }
    }
}

/// Reads a resource.
pub(crate) async fn get<T: DeserializeOwned>(path: &str, query: &[(&str, &str)]) -> Result<T, ApiError> {
    get_tagged(path, query).await.map(|tagged| tagged.value)
}

/// Reads a resource with its tag.
pub(crate) async fn get_tagged<T: DeserializeOwned>(
    path: &str,
    query: &[(&str, &str)],
) -> Result<Tagged<T>, ApiError> {
    exchange(Method::GET, path, query, None, Body::None).await?.read()
}

/// Reads a resource as text of a media type.
pub(crate) async fn get_text(path: &str, accept: &str) -> Result<Tagged<String>, ApiError> {
    let request = RequestBuilder::new(path)
        .header("accept", accept)
        .abort_signal(Some(&AbortSignal::timeout_with_u32(TIMEOUT_MS)));
    let answer = answer(request.send().await?).await?;
    Ok(Tagged {
        value: answer.text,
        etag: answer.etag,
    })
}

/// Sends a body and reads the answer.
pub(crate) async fn send<T: DeserializeOwned>(
    method: Method,
    path: &str,
    query: &[(&str, &str)],
    if_match: Option<&str>,
    body: Body,
) -> Result<Tagged<T>, ApiError> {
    exchange(method, path, query, if_match, body).await?.read()
}

/// Sends a body; whatever is answered is not read.
pub(crate) async fn send_only(
    method: Method,
    path: &str,
    query: &[(&str, &str)],
    if_match: Option<&str>,
    body: Body,
) -> Result<(), ApiError> {
    exchange(method, path, query, if_match, body).await.map(drop)
}

async fn exchange(
    method: Method,
    path: &str,
    query: &[(&str, &str)],
    if_match: Option<&str>,
    body: Body,
) -> Result<Answer, ApiError> {
    let mut request = RequestBuilder::new(path)
        .method(method)
        .query(query.iter().copied())
        .header("accept", "application/json, application/problem+json")
        .abort_signal(Some(&AbortSignal::timeout_with_u32(TIMEOUT_MS)));
    if let Some(tag) = if_match {
        request = request.header("if-match", tag);
    }
    let request = match body {
        Body::None => request.build()?,
        Body::Json(text) => request.header("content-type", "application/json").body(text)?,
        Body::Yaml(text) => request.header("content-type", "application/yaml").body(text)?,
    };
    answer(request.send().await?).await
}

/// Lets successful answers pass; everything else becomes the problem that the server tells.
async fn answer(response: Response) -> Result<Answer, ApiError> {
    let headers = response.headers();
    if response.ok() {
        return Ok(Answer {
            etag: headers.get("etag"),
            text: response.text().await?,
        });
    }
    let status = response.status();
    let is_problem = headers
        .get("content-type")
        .is_some_and(|kind| kind.starts_with("application/problem+json"));
    let request_id = headers.get("x-request-id");
    match if is_problem {
        response.json().await.ok()
    } else {
        None
    } {
        Some(problem) => Err(ApiError::Problem(Box::new(problem))),
        None => Err(ApiError::Status { status, request_id }),
    }
}
