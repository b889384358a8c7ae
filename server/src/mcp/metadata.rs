//! Where a client without a credential finds the issuers of tokens (RFC 9728).

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use toolgate_api::ErrorCode;

use crate::config::Config;
use crate::gateway::connections::{SCOPE, issuer, resource_of};
use crate::gateway::{Gateway, Problem};

/// The metadata of a project's endpoint, at the address that the specification derives from the endpoint's own.
pub(super) async fn of_project(
    State(gateway): State<Arc<Gateway>>,
    Path(project): Path<String>,
) -> Result<Json<Value>, Problem> {
    let config = &gateway.config;
    document(&resource_of(config, &project), &issuers(config, Some(&project)))
}

/// The metadata of the server as a whole.
pub(super) async fn of_server(State(gateway): State<Arc<Gateway>>) -> Result<Json<Value>, Problem> {
    let config = &gateway.config;
    document(&config.base_url(), &issuers(config, None))
}

/// The issuers whose tokens are accepted, of one project or of any: this server, unless that is switched off, and the
/// configured ones. Whether the project exists is not said.
fn issuers(config: &Config, project: Option<&str>) -> Vec<String> {
    let serves = |projects: &[toolgate_core::ids::ProjectId]| {
        project.is_none_or(|id| projects.iter().any(|project| project.as_str() == id))
    };
    let own = config.auth.authorization_server.then(|| issuer(config));
    let others = config.auth.issuers.iter();
    let others = others.filter(|issuer| serves(&issuer.projects));
    own.into_iter()
        .chain(others.map(|issuer| issuer.issuer.clone()))
        .collect()
}

/// There is no document where keys alone are taken: it would send clients looking for a sign-in that is not there.
fn document(resource: &str, issuers: &[String]) -> Result<Json<Value>, Problem> {
    if issuers.is_empty() {
        return Err(Problem::not_found(
            "protected-resource metadata: no issuer is configured; send a key or token as bearer",
        ));
    }
    Ok(Json(json!({
        "resource": resource,
        "resource_name": "Toolgate",
        "authorization_servers": issuers,
        "scopes_supported": [SCOPE],
        "bearer_methods_supported": ["header"],
    })))
}

/// The answer to a problem; one about the credential says where to find the issuers.
pub(super) fn refusal(config: &Config, project: &str, problem: Problem) -> Response {
    let is_credential = problem.code() == ErrorCode::Unauthenticated;
    let mut response = problem.into_response();
    if is_credential && !issuers(config, Some(project)).is_empty() {
        let metadata = format!(
            "{}/.well-known/oauth-protected-resource/projects/{project}/mcp",
            config.base_url()
        );
        let challenge = format!("Bearer realm=\"toolgate\", resource_metadata=\"{metadata}\"");
        if let Ok(challenge) = HeaderValue::from_str(&challenge) {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
        }
    }
    response
}
