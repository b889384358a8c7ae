//! Beginning a tool: from what was pasted to a definition, and a test of it.

use std::sync::Arc;

use axum::extract::State;
use toolgate_api::drafts::{DefinitionTested, DraftText, DraftedDefinition, TestDefinition};

use crate::extract::{EditDefinitions, InProject, Json};
use crate::gateway::{Gateway, Problem, drafts};

/// Draft a definition
///
/// Makes a definition of a URL or a `curl` command: its method, path parameters, query, headers and body, with arguments whose
/// types are those of the pasted values. Nothing is executed, expanded or fetched, and no definition is stored. Credentials
/// are stored as new secrets of the project at once, if the caller manages secrets; the definition names them, and their
/// values are in no answer and no record. Options that are not known are named in `diagnostics`.
#[utoipa::path(post, path = "/projects/{project_id}/definitions/draft", tag = "tools", params(super::ProjectPath),
    request_body = DraftText,
    responses((status = 200, description = "The draft", body = DraftedDefinition)))]
pub async fn draft_definition(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<EditDefinitions>,
    Json(request): Json<DraftText>,
) -> Result<axum::Json<DraftedDefinition>, Problem> {
    Box::pin(drafts::draft(&gateway, &place, request.text))
        .await
        .map(axum::Json)
}

/// Test a definition
///
/// Calls a definition that need not be stored, with a real request: by the same decision, limits, executor, guards and egress
/// list as a call, and on the record with the action `test`. The caller must edit definitions and hold every group of the
/// draft. The answer has the request that was sent and what was answered to it, with credentials masked. A failure of the
/// tool is an answer too: `call.status` says how the test ended. The circuit breaker of a stored tool of the same name is
/// neither asked nor changed.
#[utoipa::path(post, path = "/projects/{project_id}/definitions/test", tag = "tools", params(super::ProjectPath),
    request_body = TestDefinition,
    responses((status = 200, description = "The test was admitted and has ended", body = DefinitionTested)))]
pub async fn test_definition(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<EditDefinitions>,
    Json(request): Json<TestDefinition>,
) -> Result<axum::Json<DefinitionTested>, Problem> {
    Box::pin(drafts::test(&gateway, place.into_entry(), request))
        .await
        .map(axum::Json)
}
