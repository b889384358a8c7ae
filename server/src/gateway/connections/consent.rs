//! What a user is asked before a client is let in, and what the user decides.

use std::collections::BTreeSet;
use std::sync::Arc;

use chrono::TimeDelta;
use secrecy::ExposeSecret;
use serde_json::json;
use toolgate_api::ErrorCode;
use toolgate_api::connections::{Consent, ConsentDecision, ConsentOffer};
use toolgate_core::ids::ConnectionId;
use toolgate_core::policy::groups::GroupSet;
use toolgate_core::principal::Permission;
use toolgate_store::rows::{CodeRow, ConnectionRow, UserRow};
use url::Url;

use super::fault::{Fault, OauthError};
use super::request::{AuthorizationRequest, Checked, Valid, check, refusal};
use super::{issuer, redirect, resource_of};
use crate::auth::oauth_secret;
use crate::gateway::access::{self, Actor, Place};
use crate::gateway::server_snapshot::{ProjectState, ServerSnapshot};
use crate::gateway::{Gateway, Problem};

/// How long a code may be exchanged.
const CODE_LIFETIME: TimeDelta = TimeDelta::seconds(60);
/// Connections that one user may have in one project.
const MOST_CONNECTIONS: usize = 100;

/// What a client asks a user for.
///
/// # Errors
/// A request whose sender is not to be trusted, or for a project that the user does not belong to.
pub async fn offer(gateway: &Gateway, actor: Actor<'_>, query: &str) -> Result<Consent, Problem> {
    let valid = match checked(gateway, actor, query).await? {
        Checked::Redirect(to) => {
            return Ok(Consent {
                offer: None,
                redirect_to: Some(to),
            });
        }
        Checked::Valid(valid) => valid,
    };
    let project = project(&gateway.snapshots.now(), &valid)?;
    let place = Place::fresh(gateway, actor, &project, Permission::Use).await?;
    let held = &place.grant.groups;
    let of_project = place.project.snapshot.group_names();
    let covered = of_project
        .into_iter()
        .filter(|name| held.covers(name))
        .map(str::to_owned);
    let mut groups: BTreeSet<String> = covered.collect();
    groups.extend(held.to_vec());
    let is_local = Url::parse(&valid.redirect_uri).is_ok_and(|url| redirect::is_local(&url));
    Ok(Consent {
        offer: Some(ConsentOffer {
            redirect_host: redirect::shown_host(&valid.redirect_uri),
            redirect_is_local: is_local,
            client_id: valid.client.id,
            client_name: valid.client.name,
            client_host: valid.client.host,
            project_id: place.project.row.id.to_string(),
            project_name: place.project.row.name.clone(),
            groups: groups.into_iter().collect(),
        }),
        redirect_to: None,
    })
}

/// Lets a client in or not; where the user goes then.
///
/// # Errors
/// As [`offer`]; 403 for groups that the user does not hold.
pub async fn decide(
    gateway: &Arc<Gateway>,
    actor: Actor<'_>,
    user: &UserRow,
    decision: ConsentDecision,
) -> Result<String, Problem> {
    let valid = match checked(gateway, actor, &decision.request).await? {
        Checked::Redirect(to) => return Ok(to),
        Checked::Valid(valid) => valid,
    };
    let (config, state) = (&gateway.config, valid.state.as_deref());
    if !decision.allow {
        let fault = Fault::new(OauthError::AccessDenied, "The user refused.");
        return Ok(refusal(config, &valid.redirect_uri, state, &fault));
    }
    let project = project(&gateway.snapshots.now(), &valid)?;
    let place = Place::fresh(gateway, actor, &project, Permission::Use).await?;
    let groups = decision
        .groups
        .map(|groups| groups.into_iter().collect::<GroupSet>());
    let code = oauth_secret::code().map_err(|error| Problem::internal(&error))?;
    let lifetime = decision
        .expires_in_s
        .map(|seconds| TimeDelta::seconds(i64::from(seconds)));
    let row = ConnectionRow {
        id: ConnectionId(gateway.clock.new_id()),
        project: place.project.row.uid,
        user: user.id,
        client_id: valid.client.id.clone(),
        client_name: valid.client.name.clone(),
        redirect_uri: valid.redirect_uri.clone(),
        resource: resource_of(config, place.project.row.id.as_str()),
        groups: groups.as_ref().map(GroupSet::to_vec),
        token_generation: user.token_generation,
        created_at: place.now,
        expires_at: lifetime.map(|lifetime| place.now + lifetime),
        connected_at: None,
        refreshed_at: None,
        revision: 0,
    };
    let what = json!({
        "change": "connection_created",
        "connection": row.id.0,
        "client_id": row.client_id,
        "client_name": row.client_name,
        "redirect_uri": row.redirect_uri,
        "expires_at": row.expires_at,
        "after": row.groups.as_ref().map(|groups| json!({"groups": groups})),
    });
    if let Some(groups) = &groups
        && let Err(refused) = within(&place.grant.groups, groups)
    {
        return Err(access::refused(gateway, access::opening(gateway, &place, actor, &what), refused).await?);
    }
    let own = gateway.store.connections(row.project).await?;
    if own.iter().filter(|other| other.user == user.id).count() >= MOST_CONNECTIONS {
        return Err(Problem::new(
            ErrorCode::Conflict,
            format!(
                "You have let in {MOST_CONNECTIONS} clients in this project. Revoke those that you do not use."
            ),
        ));
    }
    let stored = CodeRow {
        digest: code.digest,
        connection: row.id,
        challenge: valid.challenge.clone(),
        expires_at: place.now + CODE_LIFETIME,
        used_at: None,
    };
    let openings = vec![access::opening(gateway, &place, actor, &what)];
    let store = gateway.store.clone();
    access::carry_out(gateway, openings, async move {
        Ok(store.create_connection(&row, &stored).await?)
    })
    .await?;
    let issuer = issuer(config);
    let mut parameters = vec![("code", code.text.expose_secret())];
    parameters.extend(state.map(|state| ("state", state)));
    parameters.push(("iss", &issuer));
    Ok(redirect::with_parameters(&valid.redirect_uri, &parameters))
}

/// Fails with the groups that are too much.
pub(super) fn within(held: &GroupSet, asked: &GroupSet) -> Result<(), Problem> {
    let missing = held.missing(asked);
    if missing.is_empty() {
        return Ok(());
    }
    let names = missing.join(", ");
    let problem = Problem::new(
        ErrorCode::Forbidden,
        format!(
            "The connection can only be given groups that its limit and your own grant cover, not: {names}."
        ),
    );
    Err(problem.missing_groups(missing))
}

async fn checked(gateway: &Gateway, actor: Actor<'_>, query: &str) -> Result<Checked, Problem> {
    let user = actor.identity.principal.id.as_str();
    let checked = async {
        let request = AuthorizationRequest::read(query)?;
        check(gateway, &request, user, gateway.clock.now()).await
    };
    checked.await.map_err(|fault: Fault| match fault.retry_after_s {
        Some(seconds) => Problem::new(ErrorCode::RateLimited, fault.description).retry_after(seconds),
        None if fault.error == OauthError::ServerError => {
            Problem::new(ErrorCode::Unavailable, fault.description)
        }
        None => Problem::new(ErrorCode::InvalidRequest, fault.description),
    })
}

fn project(server_snapshot: &ServerSnapshot, valid: &Valid) -> Result<Arc<ProjectState>, Problem> {
    let project = server_snapshot.project(&valid.project);
    project
        .cloned()
        .ok_or_else(|| Problem::not_found(format!("project \"{}\"", valid.project)))
}
