//! The use case "the tools as an API": what a request may call now, as a document that generators read.

use serde_json::{Map, Value};
use toolgate_api::Problem as ProblemBody;
use toolgate_api::audit::AuditAction;
use toolgate_api::calls::ResolveRequest;
use toolgate_core::tool_api::{self, About};
use utoipa::{PartialSchema, ToSchema};

use super::available::{self, Question};
use super::record::Requester;
use super::server_snapshot::ProjectState;
use crate::gateway::{Gateway, Problem};

/// The document as text. The question is recorded as the one of `resolve` is.
///
/// # Errors
/// As [`available::ask`].
pub async fn describe(
    gateway: &Gateway,
    project: &ProjectState,
    requester: &Requester<'_>,
    asked: &ResolveRequest,
) -> Result<String, Problem> {
    let question = Question {
        action: AuditAction::Resolve,
        group: asked.group.clone(),
        state: asked.state.as_deref(),
        session_id: asked.session_id,
        context: asked.context.as_ref(),
        arguments: None,
        offers: None,
    };
    let (available, opening) = available::ask(gateway, project, requester, question).await?;
    available::answered(gateway, opening).await?;
    let problems = problems();
    let public = gateway.config.public_url.as_ref();
    let server = public.map_or("/", |url| url.as_str().trim_end_matches('/'));
    let about = About {
        project: project.row.id.as_str(),
        title: &project.row.name,
        version: project.snapshot.version(),
        server,
        asked: tool_api::DocumentRequest {
            group: asked.group.as_deref(),
            state: asked.state.as_deref(),
            session: asked.session_id,
        },
        problems: &problems,
    };
    let tools = available.availability.tools().map(AsRef::as_ref);
    let document = tool_api::document(&about, tools);
    serde_json::to_string(&document).map_err(|error| Problem::internal(&error))
}

/// The schema of problems and those that it refers to.
fn problems() -> Map<String, Value> {
    let mut schemas = vec![("Problem".to_owned(), ProblemBody::schema())];
    ProblemBody::schemas(&mut schemas);
    schemas
        .into_iter()
        .filter_map(|(name, schema)| Some((name, serde_json::to_value(schema).ok()?)))
        .collect()
}
