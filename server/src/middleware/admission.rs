//! What must not reach a handler: requests of clients that have too many, for other hosts, from other sites' pages, and with
//! bodies that are too large or too slow.

use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::{DefaultBodyLimit, MatchedPath, Request};
use axum::response::{IntoResponse, Response};
use axum::routing::Route;
use toolgate_api::ErrorCode;
use toolgate_core::openapi_import::MAX_BYTES;
use tower::ServiceExt;

use super::body::{self, BodyFault};
use super::host::HostFault;
use super::{EdgeSettings, csrf};
use crate::gateway::Problem;
use crate::oauth::POSTED_FROM_ELSEWHERE;
use crate::serve::TooManyRequests;

/// The routes that take descriptions of APIs, whole projects and results of workers, which are larger than other bodies.
const LARGE: [&str; 4] = [
    "/projects/{project_id}/cards",
    "/projects/{project_id}/import",
    "/projects/{project_id}/imports",
    "/projects/{project_id}/imports/{import_id}",
];
/// Bytes of their bodies: the largest description, and the form around it.
const MAX_LARGE_BYTES: usize = MAX_BYTES + (64 << 10);

/// Passes on what a handler may see.
pub(super) async fn admit(
    settings: Arc<EdgeSettings>,
    mut request: Request,
    route: Route,
) -> Result<Response, Infallible> {
    let max_bytes = match request.extensions().get::<MatchedPath>() {
        Some(route) if LARGE.contains(&route.as_str()) => settings.max_body_bytes.max(MAX_LARGE_BYTES),
        _ => settings.max_body_bytes,
    };
    if let Err(problem) = check(&settings, &request, max_bytes) {
        return Ok(problem.into_response());
    }
    // Extractors that read the body go by the same limit.
    DefaultBodyLimit::max(max_bytes).apply(&mut request);
    let fault = body::bound(request.body_mut(), max_bytes, settings.body_timeout);
    let response = route.oneshot(request).await?;
    // What a handler makes of a body that broke off says less than why it did.
    Ok(match fault.get() {
        Some(BodyFault::TooLarge) => too_large(max_bytes).into_response(),
        Some(BodyFault::TooSlow) => {
            let seconds = settings.body_timeout.as_secs();
            let detail = format!("The body did not arrive within {seconds} seconds.");
            Problem::new(ErrorCode::RequestTimeout, detail).into_response()
        }
        None => response,
    })
}

fn check(settings: &EdgeSettings, request: &Request, max_bytes: usize) -> Result<(), Problem> {
    let (uri, headers) = (request.uri(), request.headers());
    if let Some(TooManyRequests { most }) = request.extensions().get() {
        let detail = format!("This client has {most} requests open already. Wait for their answers.");
        return Err(Problem::new(ErrorCode::RateLimited, detail).retry_after(1));
    }
    settings.hosts.check(uri, headers).map_err(of_host)?;
    // Clients in pages of other sites send no credential of ours there, and none is read.
    let route = request.extensions().get::<MatchedPath>();
    let from_elsewhere = route.is_some_and(|route| POSTED_FROM_ELSEWHERE.contains(&route.as_str()));
    if !from_elsewhere && csrf::is_cross_site(&settings.hosts, request.method(), uri, headers) {
        let detail =
            "A page of another site sent this request. Use the dashboard itself, or send `Authorization`.";
        return Err(Problem::new(ErrorCode::CrossSite, detail));
    }
    if body::declares_too_much(headers, max_bytes) {
        return Err(too_large(max_bytes));
    }
    Ok(())
}

fn of_host(fault: HostFault) -> Problem {
    let (code, detail) = match fault {
        HostFault::Missing => (
            ErrorCode::MalformedRequest,
            "The request names no host: send one `Host` header.",
        ),
        HostFault::Several => (
            ErrorCode::MalformedRequest,
            "The request names several hosts: send one `Host` header.",
        ),
        HostFault::Malformed => (
            ErrorCode::MalformedRequest,
            "The request's host is not a host with an optional port.",
        ),
        HostFault::Foreign => (
            ErrorCode::MisdirectedRequest,
            "This server does not answer for the request's host. Its operator can add it to `public_url` or \
             `allowed_hosts`.",
        ),
    };
    Problem::new(code, detail)
}

fn too_large(max_bytes: usize) -> Problem {
    let detail = format!("The body may have at most {max_bytes} bytes.");
    Problem::new(ErrorCode::PayloadTooLarge, detail)
}
