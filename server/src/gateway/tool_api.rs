//! The use case "the tools as an API": what a request may call now, as a document that generators read.

use serde_json::{Map, Value};
use toolgate_api::Problem;
use toolgate_api::audit::AuditAction;
use toolgate_api::calls::ResolveRequest;
use toolgate_core::tool_api::{self, About};
use utoipa::{PartialSchema, ToSchema};

use super::available::{self, Question};
use super::record::Asker;
use super::world::ProjectState;
use crate::error::{ApiError, ApiResult};
use crate::state::App;

/// The document as text. The question is recorded as the one of `resolve` is.
///
/// # Errors
/// As [`available::ask`].
pub async fn describe(
    app: &App,
    project: &ProjectState,
    asker: &Asker<'_>,
    asked: &ResolveRequest,
) -> ApiResult<String> {
    let question = Question {
        action: AuditAction::Resolve,
        group: asked.group.clone(),
        state: asked.state.as_deref(),
        session_id: asked.session_id,
        context: asked.context.as_ref(),
        arguments: None,
    };
    let (available, opening) = available::ask(app, project, asker, question).await?;
    available::answered(app, opening).await?;
    let problems = problems();
    let public = app.config.public_url.as_ref();
    let server = public.map_or("/", |url| url.as_str().trim_end_matches('/'));
    let about = About {
        project: project.row.id.as_str(),
        title: &project.row.name,
        version: project.snapshot.version(),
        server,
        asked: tool_api::Asked {
            group: asked.group.as_deref(),
            state: asked.state.as_deref(),
            session: asked.session_id,
        },
        problems: &problems,
    };
    let tools = available.availability.tools().map(AsRef::as_ref);
    let document = tool_api::document(&about, tools);
    serde_json::to_string(&document).map_err(|error| ApiError::internal(&error))
}

/// The schema of problems and those that it refers to.
fn problems() -> Map<String, Value> {
    let mut schemas = vec![("Problem".to_owned(), Problem::schema())];
    Problem::schemas(&mut schemas);
    schemas
        .into_iter()
        .filter_map(|(name, schema)| Some((name, serde_json::to_value(schema).ok()?)))
        .collect()
}
