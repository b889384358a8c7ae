//! The limits of a project, and the headers that report their remaining budget to callers.

use std::sync::Arc;

use std::fmt::Write as _;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use toolgate_api::limits::{LimitUsage, ProjectLimits};

use super::precondition::{IfMatch, etag, unchanged};
use crate::extract::{InProject, Json, ManagePolicy, ReadAudit, ReadDefinitions};
use crate::gateway::limits::{self, LimitStatus};
use crate::gateway::{Gateway, Problem};

/// What the limits are (draft-ietf-httpapi-ratelimit-headers-11, section 3).
const POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");
/// How much of them is left (section 4).
const LEFT: HeaderName = HeaderName::from_static("ratelimit");

/// Get the limits
///
/// A project without limits has an empty list.
#[utoipa::path(get, path = "/projects/{project_id}/limits", tag = "limits", params(super::ProjectPath),
    responses((status = 200, description = "The limits", body = ProjectLimits, headers(("ETag" = String, description = "For `If-Match`"))),
        (status = 304, description = "Not modified")))]
pub async fn get_limits(headers: HeaderMap, place: InProject<ReadDefinitions>) -> Response {
    let tag = tag(place.project.limits.revision);
    if unchanged(&headers, &tag) {
        return (StatusCode::NOT_MODIFIED, [(header::ETAG, etag(&tag))]).into_response();
    }
    (
        [(header::ETAG, etag(&tag))],
        axum::Json(&place.project.limits.document),
    )
        .into_response()
}

/// Replace the limits
///
/// All of them. What is used already stays used where a limit keeps its name. A call is admitted when every limit that
/// applies to it has room; otherwise it is answered 429 with `Retry-After` and counts nowhere. Effective within a second
/// everywhere; several servers share each limit in equal parts.
#[utoipa::path(put, path = "/projects/{project_id}/limits", tag = "limits", params(super::ProjectPath, super::IfMatchHeader),
    request_body = ProjectLimits,
    responses((status = 200, description = "Replaced", body = ProjectLimits, headers(("ETag" = String, description = "For `If-Match`")))))]
pub async fn replace_limits(
    State(gateway): State<Arc<Gateway>>,
    headers: HeaderMap,
    place: InProject<ManagePolicy>,
    Json(request): Json<ProjectLimits>,
) -> Result<Response, Problem> {
    let precondition = IfMatch::required(&headers)?;
    let current = place.project.limits.revision;
    precondition.check(&tag(current))?;
    let expected = (precondition != IfMatch::Any).then_some(current);
    let revision = limits::replace(&gateway, &place.project, &request, expected, &place.requester()).await?;
    Ok(([(header::ETAG, etag(&tag(revision)))], axum::Json(request)).into_response())
}

/// See how full the limits are
///
/// As counted by the server that answers, the fullest first, at most 1000 entries.
#[utoipa::path(get, path = "/projects/{project_id}/limits/usage", tag = "limits", params(super::ProjectPath),
    responses((status = 200, description = "What is in use", body = LimitUsage)))]
pub async fn get_limit_usage(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<ReadAudit>,
) -> axum::Json<LimitUsage> {
    axum::Json(limits::usage(&gateway, &place.project, gateway.clock.now()))
}

/// Adds the status of every limit that applies to the answer of a call.
pub(super) fn with_standing(
    limit_status: &[LimitStatus],
    answer: Result<Response, Problem>,
) -> Result<Response, Problem> {
    if limit_status.is_empty() {
        return answer;
    }
    let (policy, left) = texts(limit_status);
    let mut response = answer.unwrap_or_else(IntoResponse::into_response);
    let headers = response.headers_mut();
    headers.insert(POLICY, super::header_value(&policy));
    headers.insert(LEFT, super::header_value(&left));
    Ok(response)
}

/// The two headers. A limit on calls at the same time is an item of its own, with `:concurrency` after the name.
fn texts(limit_status: &[LimitStatus]) -> (String, String) {
    let (mut policy, mut left) = (String::new(), String::new());
    let mut next = |name: &str, suffix: &str, quota: String, rest: String| {
        for (text, parameters) in [(&mut policy, quota), (&mut left, rest)] {
            let comma = if text.is_empty() { "" } else { ", " };
            // Writing to a String cannot fail.
            let _ = write!(text, "{comma}\"{name}{suffix}\";{parameters}");
        }
    };
    for one in limit_status {
        if let Some((count, per_s, remaining, resets_in_s)) = one.requests {
            let rest = format!("r={remaining};t={resets_in_s}");
            next(&one.limit, "", format!("q={count};w={per_s}"), rest);
        }
        if let Some((most, free)) = one.concurrency {
            let quota = format!("q={most};qu=\"concurrent-requests\"");
            next(&one.limit, ":concurrency", quota, format!("r={free}"));
        }
    }
    (policy, left)
}

fn tag(revision: i64) -> String {
    format!("r{revision}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_headers_are_structured_lists() {
        let limit_status = [
            LimitStatus {
                limit: "per-key".to_owned(),
                requests: Some((100, 60, 50, 30)),
                concurrency: Some((4, 3)),
            },
            LimitStatus {
                limit: "all".to_owned(),
                requests: None,
                concurrency: Some((10, 0)),
            },
        ];
        let (policy, left) = texts(&limit_status);
        assert_eq!(
            policy,
            "\"per-key\";q=100;w=60, \"per-key:concurrency\";q=4;qu=\"concurrent-requests\", \
             \"all:concurrency\";q=10;qu=\"concurrent-requests\""
        );
        assert_eq!(
            left,
            "\"per-key\";r=50;t=30, \"per-key:concurrency\";r=3, \"all:concurrency\";r=0"
        );
    }
}
