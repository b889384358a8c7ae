//! Connecting an account by OAuth 2.1: the person goes to the service and comes back with a code.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::TimeDelta;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use toolgate_api::ErrorCode;
use toolgate_api::accounts::{AccountCompleted, AccountConnection, AccountMethod, CompleteAccount};
use toolgate_core::principal::Permission;
use toolgate_executors::Failure;
use toolgate_store::rows::AccountFlowRow;

use super::grant::{ClientIdentity, Grant, open, seal};
use super::manage::{self, person};
use super::{CALLBACK, CLIENT_DOCUMENT, discovery, provider_not_found, token};
use crate::auth::random;
use crate::gateway::entry::{Caller, Entry};
use crate::gateway::server_snapshot::ProjectState;
use crate::gateway::{Gateway, Problem};
use crate::secrets::place;

/// How long a person may take, in minutes.
const MINUTES: i64 = 10;
/// Ways that one person has begun at the same time.
const MOST: i64 = 20;
/// Characters of a `state` and of a PKCE verifier: 43 letters and digits have 256 bits.
const RANDOM: usize = 43;

/// What the server needs to know when the person comes back.
#[derive(Serialize, Deserialize)]
struct Way {
    verifier: String,
    /// The token of the browser session that began.
    session: String,
    issuer: Option<String>,
    names_issuer: bool,
    token_url: String,
    redirect_uri: String,
    client: Option<ClientIdentity>,
}

/// Why something could not be done at the service.
fn failed(what: &str, failure: &Failure) -> Problem {
    let mut detail = format!("{what}: {}.", failure.message);
    if let Some(said) = &failure.upstream_message {
        detail.push_str(&format!(" It said: {said}."));
    }
    let problem = Problem::new(failure.code, detail);
    if failure.retryable {
        problem
    } else {
        problem.final_()
    }
}

/// Begins to connect the caller's account; the address that its browser goes to.
///
/// # Errors
/// 403 for callers that are no persons; why the service cannot be asked.
pub async fn connect(
    gateway: &Arc<Gateway>,
    entry: &Entry,
    name: &str,
) -> Result<AccountConnection, Problem> {
    let (user, session) = person(&entry.caller)?;
    let project = &entry.project;
    let provider = project
        .account_providers
        .get(name)
        .ok_or_else(|| provider_not_found(name))?;
    let definition = &provider.definition;
    if definition.method != AccountMethod::Oauth {
        return Err(Problem::new(
            ErrorCode::InvalidRequest,
            "Accounts of this provider are not connected by signing in.",
        ));
    }
    let root = gateway.config.base_url();
    let egress = project.egress.origins();
    let unknown = |failure: Failure| failed("The account cannot be connected", &failure);
    let service = discovery::service(gateway, egress.clone(), definition)
        .await
        .map_err(unknown)?;
    let configured = token::configured_client(gateway, project, definition).map_err(unknown)?;
    let registered = match &configured {
        Some(_) => None,
        None => Some(
            discovery::client(gateway, egress, &service, &root)
                .await
                .map_err(unknown)?,
        ),
    };
    let client_id = configured
        .or_else(|| registered.clone())
        .map(|client| client.id)
        .unwrap_or_default();
    let fresh = || random::text(RANDOM).map_err(|error| Problem::internal(&error));
    let (state, verifier) = (fresh()?, fresh()?);
    let redirect_uri = format!("{root}{CALLBACK}");
    let mut url = service.authorization_url.clone();
    {
        let mut query = url.query_pairs_mut();
        query
            .append_pair("response_type", "code")
            .append_pair("client_id", &client_id)
            .append_pair("redirect_uri", &redirect_uri)
            .append_pair("state", &state)
            .append_pair(
                "code_challenge",
                &URL_SAFE_NO_PAD.encode(Sha256::digest(&verifier)),
            )
            .append_pair("code_challenge_method", "S256");
        if !definition.scopes.is_empty() {
            query.append_pair("scope", &definition.scopes.join(" "));
        }
        if let Some(resource) = &definition.resource {
            query.append_pair("resource", resource);
        }
    }
    let way = Way {
        verifier,
        session: session.to_owned(),
        issuer: service.issuer,
        names_issuer: service.names_issuer,
        token_url: service.token_url,
        redirect_uri,
        client: registered,
    };
    let digest: [u8; 32] = Sha256::digest(&state).into();
    let row = AccountFlowRow {
        digest,
        project: project.row.uid,
        provider: name.to_owned(),
        user,
        sealed: seal(gateway, &place::account_flow(&digest), &way)?,
        expires_at: gateway.clock.now() + TimeDelta::minutes(MINUTES),
    };
    gateway.store.begin_account_flow(&row, MOST).await?;
    Ok(AccountConnection {
        authorization_url: url.into(),
    })
}

/// Connects the account of a person who has come back.
///
/// # Errors
/// 422 for a `state` that was not given to this browser session or is over, and for an `iss` of another service; why there is no
/// token.
pub async fn complete(
    gateway: &Arc<Gateway>,
    caller: Caller,
    answer: &CompleteAccount,
) -> Result<AccountCompleted, Problem> {
    let over = || {
        Problem::new(
            ErrorCode::InvalidRequest,
            "This browser session has not begun to connect an account, or took longer than ten minutes. Nothing was connected; \
             begin again.",
        )
    };
    let (user, session) = person(&caller)?;
    let digest: [u8; 32] = Sha256::digest(&answer.state).into();
    let row = gateway
        .store
        .take_account_flow(&digest, user)
        .await?
        .ok_or_else(over)?;
    let way: Way = open(gateway, &place::account_flow(&digest), &row.sealed).ok_or_else(over)?;
    if way.session != session || row.expires_at <= gateway.clock.now() {
        return Err(over());
    }
    let slug = {
        let mut projects = caller.server_snapshot.projects();
        let found = projects.find(|project| project.row.uid == row.project);
        found.map(|project| project.row.id.clone()).ok_or_else(over)?
    };
    let entry = caller.enter(slug.as_str(), Permission::Use)?;
    check_issuer(&way, answer.iss.as_deref())?;
    if let Some(error) = &answer.error {
        let word = token::error_word(error);
        return Err(Problem::new(
            ErrorCode::UpstreamRejected,
            format!("The service connected no account: {word}. Begin again if that was not meant."),
        ));
    }
    let code = answer
        .code
        .as_deref()
        .filter(|code| !code.is_empty())
        .ok_or_else(over)?;
    let (grant, label) = exchange(gateway, &entry.project, &row.provider, way, code).await?;
    let account = manage::keep(gateway, &entry, user, &row.provider, grant, label).await?;
    Ok(AccountCompleted {
        project_id: slug.to_string(),
        account,
    })
}

/// RFC 9207: the answer is one of the service that the person was sent to.
fn check_issuer(way: &Way, given: Option<&str>) -> Result<(), Problem> {
    let fits = match (&way.issuer, given) {
        (Some(expected), Some(given)) => expected == given,
        (Some(_), None) => !way.names_issuer,
        (None, _) => true,
    };
    if fits {
        return Ok(());
    }
    Err(Problem::new(
        ErrorCode::InvalidRequest,
        "The answer names another issuer than the service that you were sent to, or none. Nothing was connected.",
    ))
}

async fn exchange(
    gateway: &Gateway,
    project: &ProjectState,
    name: &str,
    way: Way,
    code: &str,
) -> Result<(Grant, Option<String>), Problem> {
    let unconnected = |failure: Failure| failed("No account was connected", &failure);
    let provider = project
        .account_providers
        .get(name)
        .ok_or_else(|| provider_not_found(name))?;
    let client = match &way.client {
        Some(client) => client.clone(),
        None => token::configured_client(gateway, project, &provider.definition)
            .map_err(unconnected)?
            .ok_or_else(|| provider_not_found(name))?,
    };
    let mut parameters = vec![
        ("grant_type", "authorization_code"),
        ("code", code),
        ("redirect_uri", way.redirect_uri.as_str()),
        ("code_verifier", way.verifier.as_str()),
    ];
    if let Some(resource) = &provider.definition.resource {
        parameters.push(("resource", resource));
    }
    let egress = project.egress.origins();
    let tokens = token::request(gateway, egress, &way.token_url, &client, &parameters)
        .await
        .map_err(unconnected)?;
    let grant = Grant {
        credential: tokens.access,
        refresh_token: tokens.refresh,
        expires_at: tokens.expires_at,
        token_url: Some(way.token_url),
        client: way.client,
    };
    Ok((grant, tokens.label))
}

/// The metadata of our client, by whose address services know it.
#[must_use]
pub fn client_document(gateway: &Gateway) -> Value {
    let root = gateway.config.base_url();
    let id = format!("{root}{CLIENT_DOCUMENT}");
    discovery::document(&root, Some(&id))
}
