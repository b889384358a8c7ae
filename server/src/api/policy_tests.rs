//! Policy tests: a project's expectations of its own decisions.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use toolgate_api::ErrorCode;
use toolgate_api::policy_tests::{
    PolicyTest, PolicyTestPage, PolicyTestRun, PolicyTestUpload, StoredPolicyTest,
};
use toolgate_api::tools::UploadOutcome;
use toolgate_core::definition::parse_policy_tests;
use toolgate_core::policy_tests::check;
use toolgate_core::principal::Permission;

use super::precondition::{IfMatch, etag, unchanged};
use super::projects::PageQuery;
use super::tools_edit;
use crate::extract::{InProject, Json, ManagePolicy, Path, Query, ReadDefinitions};
use crate::gateway::Gateway;
use crate::gateway::policy_tests::{self, find, not_found};
use crate::gateway::{Problem, cursor};

/// The policy test in the path, after its project.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "describes the parameter; the extractor reads it")]
pub struct PolicyTestPath {
    /// The test's name.
    #[param(
        example = "agents-cannot-reset",
        min_length = 1,
        max_length = 128,
        pattern = "^[A-Za-z0-9._-]+$"
    )]
    test_name: String,
}

/// How to upload policy tests.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct PolicyTestQuery {
    /// Remove every test that the upload does not name.
    #[serde(default)]
    #[param(default = false)]
    replace_all: bool,
}

/// Policy tests as YAML, as the documentation shows them.
const EXAMPLE: &str = "- name: agents-cannot-reset\n  granted: [knowledge]\n  group: [knowledge]\n  state: results\n  tool: reset-workflow\n  expect: {effect: deny, code: tool_not_in_groups}\n";

/// Policy tests as JSON.
#[derive(Deserialize, utoipa::ToSchema)]
#[serde(untagged)]
pub enum PolicyTestsJson {
    /// A list of them.
    Tests(Vec<PolicyTest>),
    /// The same as YAML, for clients that send nothing but JSON.
    Yaml(PolicyTestsYaml),
}

/// Policy tests as YAML within JSON.
#[derive(Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "describes the body; the handler reads its text")]
pub struct PolicyTestsYaml {
    /// The YAML.
    yaml: String,
}

/// List policy tests
///
/// In the order of their names; each with its revision and who stored it when.
#[utoipa::path(get, path = "/projects/{project_id}/policy-tests", tag = "policy", params(super::ProjectPath, PageQuery),
    responses((status = 200, description = "A page", body = PolicyTestPage)))]
pub async fn list_policy_tests(
    place: InProject<ReadDefinitions>,
    Query(query): Query<PageQuery>,
) -> Result<axum::Json<PolicyTestPage>, Problem> {
    let (after, limit) = query.parse()?;
    let after = after.unwrap_or_default();
    let tests = &place.project.policy_tests;
    let start = tests.partition_point(|stored| stored.test.name <= after);
    let page = tests[start..].iter().take(limit + 1).cloned().collect();
    let (items, next_cursor) =
        cursor::page(page, limit, |stored: &StoredPolicyTest| stored.test.name.clone());
    Ok(axum::Json(PolicyTestPage { items, next_cursor }))
}

/// Upload policy tests
///
/// One, a list of them, or a map `policy_tests: [...]`, as YAML or JSON. What an upload names is created or replaced;
/// with `replace_all` everything else is removed, so that a file in a repository can be the only source. All or
/// nothing: with one fault nothing is stored, and every fault is named with its line and column. A test that fails may
/// be stored: `results` says how the uploaded ones come out.
#[utoipa::path(post, path = "/projects/{project_id}/policy-tests", tag = "policy", params(super::ProjectPath, PolicyTestQuery),
    request_body(description = "Policy tests", content(
        (String = "application/yaml", example = json!(EXAMPLE)),
        (PolicyTestsJson = "application/json", example = json!({"yaml": EXAMPLE})))),
    responses((status = 200, description = "Replaced, removed or unchanged", body = PolicyTestUpload),
        (status = 201, description = "At least one test is new", body = PolicyTestUpload)))]
pub async fn upload_policy_tests(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<ManagePolicy>,
    Query(query): Query<PolicyTestQuery>,
    request: Request,
) -> Result<Response, Problem> {
    let (text, format) = tools_edit::text(request, "application/yaml or application/json").await?;
    // Away from the threads that serve requests: a hostile text may take a while.
    let tests = tokio::task::spawn_blocking(move || parse_policy_tests(&text, format))
        .await
        .map_err(|error| Problem::internal(&error))?
        .map_err(policy_tests::invalid)?;
    let (project, requester) = (&place.project.row.id, place.requester());
    let mut uploaded = policy_tests::upload(&gateway, project, &requester, tests, query.replace_all).await?;
    withhold(&place, &mut uploaded.results);
    let created = uploaded
        .items
        .iter()
        .any(|item| item.outcome == UploadOutcome::Created);
    let status = if created {
        StatusCode::CREATED
    } else {
        StatusCode::OK
    };
    Ok((status, axum::Json(uploaded)).into_response())
}

/// Get a policy test
///
/// With when it was last changed, and by whom.
#[utoipa::path(get, path = "/projects/{project_id}/policy-tests/{test_name}", tag = "policy", params(super::ProjectPath, PolicyTestPath),
    responses((status = 200, description = "The test", body = StoredPolicyTest, headers(("ETag" = String, description = "For `If-Match`"))),
        (status = 304, description = "Not modified")))]
pub async fn get_policy_test(
    headers: HeaderMap,
    place: InProject<ReadDefinitions>,
    Path((_, name)): Path<(String, String)>,
) -> Result<Response, Problem> {
    let stored = find(&place.project, &name).ok_or_else(|| not_found(&name))?;
    let tag = tag(stored.revision);
    if unchanged(&headers, &tag) {
        return Ok((StatusCode::NOT_MODIFIED, [(header::ETAG, etag(&tag))]).into_response());
    }
    Ok(([(header::ETAG, etag(&tag))], axum::Json(stored)).into_response())
}

/// Replace a policy test
///
/// Under the same name. `If-Match` must name the revision that was read.
#[utoipa::path(put, path = "/projects/{project_id}/policy-tests/{test_name}", tag = "policy",
    params(super::ProjectPath, PolicyTestPath, super::IfMatchHeader), request_body = PolicyTest,
    responses((status = 200, description = "Replaced", body = StoredPolicyTest, headers(("ETag" = String, description = "For `If-Match`")))))]
pub async fn replace_policy_test(
    State(gateway): State<Arc<Gateway>>,
    headers: HeaderMap,
    place: InProject<ManagePolicy>,
    Path((_, name)): Path<(String, String)>,
    Json(test): Json<PolicyTest>,
) -> Result<Response, Problem> {
    let precondition = IfMatch::required(&headers)?;
    if test.name != name {
        return Err(Problem::new(
            ErrorCode::InvalidRequest,
            format!("The test must be named \"{name}\" as in the path."),
        ));
    }
    let faults = check(&test);
    if !faults.is_empty() {
        return Err(policy_tests::invalid(faults));
    }
    let project = &place.project.row.id;
    policy_tests::change(
        &gateway,
        project,
        &place.requester(),
        &name,
        Some(test),
        |revision| precondition.check(&tag(revision)),
    )
    .await?;
    let server_snapshot = gateway.snapshots.now();
    let stored = server_snapshot
        .project(project.as_str())
        .and_then(|project| find(project, &name))
        .ok_or_else(|| not_found(&name))?;
    let headers = [(header::ETAG, etag(&tag(stored.revision)))];
    Ok((headers, axum::Json(stored)).into_response())
}

/// Delete a policy test
///
/// Nothing expects this any more.
#[utoipa::path(delete, path = "/projects/{project_id}/policy-tests/{test_name}", tag = "policy",
    params(super::ProjectPath, PolicyTestPath, super::IfMatchHeader),
    responses((status = 204, description = "Deleted")))]
pub async fn delete_policy_test(
    State(gateway): State<Arc<Gateway>>,
    headers: HeaderMap,
    place: InProject<ManagePolicy>,
    Path((_, name)): Path<(String, String)>,
) -> Result<StatusCode, Problem> {
    let precondition = IfMatch::required(&headers)?;
    policy_tests::change(
        &gateway,
        &place.project.row.id,
        &place.requester(),
        &name,
        None,
        |revision| precondition.check(&tag(revision)),
    )
    .await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Run policy tests
///
/// All of the project, against its definitions and grants as they are now. Nothing is called. A failed test comes with
/// the decision test by test; those about a principal only for roles that see who holds what.
#[utoipa::path(post, path = "/projects/{project_id}/policy-tests/run", tag = "policy", params(super::ProjectPath),
    responses((status = 200, description = "How they came out", body = PolicyTestRun)))]
pub async fn run_policy_tests(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<ReadDefinitions>,
) -> axum::Json<PolicyTestRun> {
    let mut run = policy_tests::run(&gateway, &place.caller.server_snapshot, &place.project, |_| true);
    withhold(&place, &mut run);
    axum::Json(run)
}

/// Removes what shows who holds what, unless the caller may see that.
fn withhold<P>(place: &InProject<P>, run: &mut PolicyTestRun) {
    if place.may(Permission::ReadAccess) {
        return;
    }
    for result in &mut run.results {
        let about_somebody =
            find(&place.project, &result.name).is_none_or(|stored| stored.test.principal.is_some());
        if about_somebody {
            result.explanation = None;
        }
    }
}

fn tag(revision: i64) -> String {
    format!("v{revision}")
}
