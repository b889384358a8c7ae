//! What groups and states have in common as resources: both are names that tools use and that may be declared.

use std::sync::Arc;

use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use toolgate_api::groups::NameEffects;
use toolgate_core::rename::NameChange;
use toolgate_store::LabelContent;

use super::precondition::{IfMatch, PutCondition, etag};
use crate::extract::{InProject, ManagePolicy, check_lengths};
use crate::gateway::entry::Entry;
use crate::gateway::labels::{self, Actor, Kind, Label, not_found};
use crate::gateway::{Gateway, Problem, cursor};

/// Which groups or states to list.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct LabelQuery {
    /// Part of the name or the description, in any case.
    #[param(max_length = 200)]
    pub q: Option<String>,
    /// `next_cursor` of the page before.
    #[param(max_length = 1024)]
    pub cursor: Option<String>,
    /// Items per page.
    #[param(minimum = 1, maximum = 200, default = 50)]
    pub limit: Option<u32>,
}

/// Whether to look at the project's expectations.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct DeclareQuery {
    /// Changes it even if policy tests of the project would fail; the record then names them.
    #[param(default = false)]
    #[serde(default)]
    pub ignore_policy_tests: bool,
}

/// How to change a name.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct NameQuery {
    /// Only say what would change; the verdict is the same, and `If-Match` is not needed.
    #[param(default = false)]
    #[serde(default)]
    pub dry_run: bool,
    /// Changes it even if policy tests of the project would fail; the record then names them.
    #[param(default = false)]
    #[serde(default)]
    pub ignore_policy_tests: bool,
}

/// A page of those that the caller may see, and the cursor of the next one.
pub(super) fn list<L: Label>(
    gateway: &Gateway,
    place: &Entry,
    query: &LabelQuery,
) -> Result<(Vec<L>, Option<String>), Problem> {
    check_lengths(&[("q", &query.q, 200)])?;
    let after = cursor::parse(query.cursor.as_deref())?;
    let limit = cursor::limit(query.limit)?;
    let needle = query.q.as_deref().map(str::to_lowercase);
    let page = L::list(gateway, place, after.as_deref(), needle.as_deref(), limit + 1);
    Ok(cursor::page(page, limit, |label: &L| label.name().to_owned()))
}

/// One that the caller may see.
pub(super) fn get<L: Label>(gateway: &Gateway, place: &Entry, name: &str) -> Result<Response, Problem> {
    let label = L::get(gateway, place, name).ok_or_else(|| not_found(L::KIND, name))?;
    let tag = etag(&current_tag(place, L::KIND, name));
    Ok(([(header::ETAG, tag)], axum::Json(label)).into_response())
}

/// Declares one under the preconditions of the request.
pub(super) async fn put<L: Label>(
    gateway: &Arc<Gateway>,
    headers: &HeaderMap,
    place: InProject<ManagePolicy>,
    name: &str,
    content: &LabelContent,
    query: &DeclareQuery,
) -> Result<Response, Problem> {
    let condition = PutCondition::required(headers)?;
    let actor = actor(&place, query.ignore_policy_tests);
    let matches = |declared: bool, revision: Option<i64>| match condition {
        // What is only used may be declared for the first time.
        PutCondition::New if !declared => Ok(()),
        _ => condition.check(revision.map(tag).as_deref()),
    };
    let created = Box::pin(labels::declare(gateway, &actor, L::KIND, name, content, matches)).await?;
    let place = place.into_entry().again(gateway)?;
    let answer = get::<L>(gateway, &place, name)?;
    let status = if created {
        StatusCode::CREATED
    } else {
        StatusCode::OK
    };
    Ok((status, answer).into_response())
}

/// Changes a name under the precondition of the request.
pub(super) async fn change(
    gateway: &Arc<Gateway>,
    headers: &HeaderMap,
    place: &InProject<ManagePolicy>,
    kind: Kind,
    names: &NameChange,
    query: &NameQuery,
) -> Result<axum::Json<NameEffects>, Problem> {
    let condition = if query.dry_run {
        IfMatch::optional(headers)?.unwrap_or(IfMatch::Any)
    } else {
        IfMatch::required(headers)?
    };
    let actor = actor(place, query.ignore_policy_tests);
    let matches = |revision| condition.check(&tag(revision));
    let change = labels::change_name(gateway, &actor, kind, names, query.dry_run, matches);
    Box::pin(change).await.map(axum::Json)
}

fn actor<'a>(place: &'a InProject<ManagePolicy>, ignore_policy_tests: bool) -> Actor<'a> {
    Actor {
        requester: place.requester(),
        project: &place.project,
        ignore_policy_tests,
    }
}

/// The entity tag of a declaration; `v0` while there is none.
fn tag(revision: i64) -> String {
    format!("v{revision}")
}

fn current_tag(place: &Entry, kind: Kind, name: &str) -> String {
    tag(labels::revision(&place.project, kind, name).unwrap_or(0))
}
