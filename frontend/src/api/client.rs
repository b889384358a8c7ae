//! Sends requests, bounds them in time, and turns every answer into a value or an [`ApiError`].

use gloo_net::http::{Request, RequestBuilder, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;
use web_sys::AbortSignal;

use super::ApiError;

/// Milliseconds after which a request is given up, so that nothing waits for ever.
const TIMEOUT_MS: u32 = 20_000;

/// Reads a resource.
pub(super) async fn get<T: DeserializeOwned>(path: &str, query: &[(&str, &str)]) -> Result<T, ApiError> {
    let request = prepare(Request::get(path)).query(query.iter().copied()).build()?;
    let response = check(request.send().await?).await?;
    Ok(response.json().await?)
}

/// Sends a body and reads nothing back.
pub(super) async fn post<B: Serialize>(path: &str, body: &B) -> Result<(), ApiError> {
    let request = prepare(Request::post(path)).json(body)?;
    check(request.send().await?).await.map(drop)
}

/// Asks for something to be done.
pub(super) async fn post_empty(path: &str) -> Result<(), ApiError> {
    let request = prepare(Request::post(path)).build()?;
    check(request.send().await?).await.map(drop)
}

fn prepare(request: RequestBuilder) -> RequestBuilder {
    request
        .header("accept", "application/json, application/problem+json")
        .abort_signal(Some(&AbortSignal::timeout_with_u32(TIMEOUT_MS)))
}

/// Lets successful answers pass; everything else becomes the problem that the server tells.
async fn check(response: Response) -> Result<Response, ApiError> {
    if response.ok() {
        return Ok(response);
    }
    let status = response.status();
    let headers = response.headers();
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
