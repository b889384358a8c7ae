//! Asking why a tool is available or not.

use std::sync::Arc;

use axum::extract::State;
use toolgate_api::explain::{ExplainRequest, ExplainResponse};
use toolgate_api::{Diagnostic, ErrorCode};
use toolgate_core::principal::{Permission, PrincipalRef};

use crate::extract::{InProject, Json, Use};
use crate::gateway::explain::{self, Scope, Sight, Subject};
use crate::gateway::sessions;
use crate::gateway::{Gateway, Problem, bounds, cursor};

/// Explain decisions
///
/// Every test that a call would have to pass, in order, with what it compares, how it comes out and how to correct
/// it; for one tool, or page by page for every tool that the caller may see. The verdict is that of the
/// function that decides calls, and of the limits as they are used now; `execution` says whether an admitted call
/// would fail before anything is sent. Nothing runs, no state moves, no limit is used up; the question is recorded as
/// a simulation. Where the project requires sessions, a question without one is answered as the call would be
/// (`session_required`), and `assume_session` asks past that. Every principal may ask about itself, owners and
/// auditors about others. Of a tool that the caller could not list the answer says what a call would say, and
/// no more.
#[utoipa::path(post, path = "/projects/{project_id}/explain", tag = "policy", params(super::ProjectPath), request_body = ExplainRequest,
    responses((status = 200, description = "The decisions, test by test", body = ExplainResponse)))]
pub async fn explain_tools(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<Use>,
    Json(mut request): Json<ExplainRequest>,
) -> Result<axum::Json<ExplainResponse>, Problem> {
    let faults = bounds::faults(
        request.group.as_deref(),
        request.state.as_deref(),
        request.context.as_ref(),
    );
    if !faults.is_empty() {
        return Err(refused(faults));
    }
    let after = cursor::parse(request.cursor.as_deref())?.unwrap_or_default();
    let limit = cursor::limit(request.limit)?;
    let requester = place.requester();
    let mut session_groups = None;
    if let Some(id) = request.session_id {
        if request.state.is_some() {
            return Err(refused(vec![bounds::state_beside_session()]));
        }
        if request.assume_session {
            return Err(invalid("/assume_session", "a session is named; leave this out"));
        }
        let sees_all = place.may(Permission::ReadAudit);
        let session = sessions::find(&gateway, &place.project, &requester, id, sees_all).await?;
        let now = gateway.clock.now();
        session_groups = Some(explain::in_session(&place.project, &mut request, session, now)?);
    }
    if request.assume_session && !place.may(Permission::ReadDefinitions) {
        return Err(Problem::new(
            ErrorCode::Forbidden,
            "Your role explains calls in sessions of your own: create one, and name it as `session_id`.",
        ));
    }
    if let Some(tool) = &request.tool
        && !(1..=128).contains(&tool.chars().count())
    {
        return Err(invalid("/tool", "must have 1-128 characters"));
    }
    if request.tool.is_none() && request.arguments.is_some() {
        return Err(invalid("/arguments", "needs a tool to be checked against"));
    }
    let (server_snapshot, project) = (&place.caller.server_snapshot, &place.project);
    let oneself = || Subject::requester(server_snapshot, project, &requester, request.at);
    let subject = match request.principal.as_deref().map(PrincipalRef::parse) {
        None => oneself(),
        Some(None) => {
            return Err(invalid(
                "/principal",
                "is not user:<id>, service_key:<id> or external:<issuer>|<subject>",
            ));
        }
        Some(Some(principal)) if principal == PrincipalRef::from(requester.principal) => oneself(),
        Some(Some(_)) if !place.may(Permission::ReadAccess) => {
            return Err(Problem::new(
                ErrorCode::Forbidden,
                "Your role explains only what you yourself may do. Ask an owner or an auditor of the project.",
            ));
        }
        Some(Some(principal)) => {
            let at = request.at.unwrap_or_else(|| gateway.clock.now());
            Subject::other(server_snapshot, project, principal, at)?
        }
    };
    if let Some(groups) = session_groups {
        explain::whole_session(&mut request, groups, &subject);
    }
    let sight = if place.may(Permission::ReadDefinitions) {
        Sight::Definitions
    } else {
        Sight::Granted
    };
    let scope = match request.tool.as_deref() {
        Some(tool) => Scope::One(tool),
        None => Scope::Page { after: &after, limit },
    };
    explain::explain(&gateway, project, &requester, &subject, sight, &scope, &request)
        .await
        .map(axum::Json)
}

fn invalid(pointer: &str, message: &str) -> Problem {
    refused(vec![Diagnostic::error(message).at_pointer(pointer)])
}

fn refused(faults: Vec<Diagnostic>) -> Problem {
    Problem::new(ErrorCode::InvalidRequest, "This cannot be explained.").errors(faults)
}
