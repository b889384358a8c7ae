//! Refreshing tokens: by one server at a time.

use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;
use tokio::time::{Instant, sleep};
use toolgate_api::ErrorCode;
use toolgate_executors::Failure;
use toolgate_store::StoreError;
use toolgate_store::rows::AccountRow;
use uuid::Uuid;

use super::grant::{self, Grant, seal};
use super::token;
use crate::gateway::Gateway;
use crate::gateway::server_snapshot::ProjectState;
use crate::secrets::place;

/// How long a server has for a refresh before another may try. Longer than a request to a token endpoint takes at most.
const HELD_S: i64 = 30;
/// The pause between two looks at a refresh that another call or server makes.
const LOOK: Duration = Duration::from_millis(25);
/// A credential that is refused so soon after its refresh is not refreshed again: the account itself is not taken any more.
const FRESH_S: i64 = 60;

/// The account as it is stored now.
///
/// # Errors
/// `account_required` when there is none, or it needs to be connected again.
pub(super) async fn current(gateway: &Gateway, id: Uuid) -> Result<AccountRow, Failure> {
    match gateway.store.account_by_id(id).await {
        Ok(Some(row)) if row.expired => Err(again()),
        Ok(Some(row)) => Ok(row),
        Ok(None) => Err(Failure::new(
            ErrorCode::AccountRequired,
            "the account was disconnected meanwhile",
        )),
        Err(error) => Err(unreadable(&error)),
    }
}

fn again() -> Failure {
    Failure::new(
        ErrorCode::AccountRequired,
        "the service does not take the account's credential any more: connect the account again",
    )
}

fn unreadable(error: &StoreError) -> Failure {
    tracing::warn!(cause = %error, "a connected account could not be read");
    Failure::busy("the database does not answer", 1)
}

/// Waits until the credential of this version is replaced: refreshes it, or lets the call or server do so that is first.
///
/// # Errors
/// `account_required` when the service takes the account no more; why it could not be refreshed now.
pub(super) async fn refreshed(
    gateway: &Arc<Gateway>,
    project: &Arc<ProjectState>,
    row: AccountRow,
    deadline: Instant,
) -> Result<AccountRow, Failure> {
    let (id, version) = (row.id, row.version);
    loop {
        let now = gateway.clock.now();
        let until = now + TimeDelta::seconds(HELD_S);
        let begun = gateway.store.begin_account_refresh(id, version, now, until).await;
        if begun.map_err(|error| unreadable(&error))? {
            // In a task of its own: a refresh token that was used up must not be lost with its call.
            let (task, place) = (Arc::clone(gateway), Arc::clone(project));
            let refresh = tokio::spawn(async move { refresh(&task, &place, &row).await });
            refresh
                .await
                .map_err(|_| Failure::busy("the refresh of the account's token was ended", 1))??;
            return current(gateway, id).await;
        }
        let now_stored = current(gateway, id).await?;
        if now_stored.version != version {
            return Ok(now_stored);
        }
        if Instant::now() + LOOK >= deadline {
            return Err(Failure::busy("the account's token is being refreshed", 1));
        }
        sleep(LOOK).await;
    }
}

async fn refresh(gateway: &Arc<Gateway>, project: &ProjectState, row: &AccountRow) -> Result<(), Failure> {
    // As of now: a connection may be older than the client's secret.
    let snapshot = gateway.snapshots.now();
    let now_defined = snapshot
        .project(project.row.id.as_str())
        .filter(|found| found.row.uid == row.project);
    let outcome = match now_defined {
        Some(project) => new_grant(gateway, project, row).await,
        None => Err(again()),
    };
    let place = place::account(row.project, row.id);
    let (new, failure) = match outcome {
        Ok(grant) => match seal(gateway, &place, &grant) {
            Ok(sealed) => (Some(sealed), None),
            Err(problem) => (None, Some(Failure::misconfigured(problem.detail()))),
        },
        Err(failure) => (None, Some(failure)),
    };
    let is_over = failure
        .as_ref()
        .is_some_and(|failure| failure.code == ErrorCode::AccountRequired);
    let ended = gateway
        .store
        .end_account_refresh(row.id, row.version, new.as_ref(), is_over, gateway.clock.now())
        .await;
    ended.map_err(|error| unreadable(&error))?;
    failure.map_or(Ok(()), Err)
}

async fn new_grant(gateway: &Gateway, project: &ProjectState, row: &AccountRow) -> Result<Grant, Failure> {
    let old = grant::of_row(gateway, row)?;
    let provider = project.account_providers.get(&row.provider).ok_or_else(again)?;
    let (Some(refresh_token), Some(token_url)) = (&old.refresh_token, &old.token_url) else {
        return Err(again());
    };
    let client = match &old.client {
        Some(client) => client.clone(),
        None => token::configured_client(gateway, project, &provider.definition)?.ok_or_else(again)?,
    };
    let mut parameters = vec![
        ("grant_type", "refresh_token"),
        ("refresh_token", refresh_token.as_str()),
    ];
    if let Some(resource) = &provider.definition.resource {
        parameters.push(("resource", resource));
    }
    let egress = project.egress.origins();
    let answer = token::request(gateway, egress, token_url, &client, &parameters).await;
    let tokens = answer.map_err(|failure| match &failure.upstream_message {
        Some(said) if said == "invalid_grant" => again(),
        _ => failure,
    })?;
    Ok(Grant {
        credential: tokens.access,
        refresh_token: tokens.refresh.or_else(|| old.refresh_token.clone()),
        expires_at: tokens.expires_at,
        ..old
    })
}

/// What becomes of an account whose credential the service does not take; whether there is another credential now.
pub(super) async fn refused(
    gateway: &Arc<Gateway>,
    project: &Arc<ProjectState>,
    id: Uuid,
    credential: &str,
    deadline: Instant,
) -> bool {
    let Ok(row) = current(gateway, id).await else {
        return false;
    };
    let Ok(grant) = grant::of_row(gateway, &row) else {
        return false;
    };
    if grant.credential != credential {
        return true;
    }
    let now = gateway.clock.now();
    let is_fresh = row
        .refreshed_at
        .is_some_and(|at| (now - at).num_seconds() < FRESH_S);
    if is_fresh || grant.refresh_token.is_none() {
        let ended = gateway
            .store
            .end_account_refresh(id, row.version, None, true, now)
            .await;
        if let Err(error) = ended {
            tracing::warn!(cause = %error, "an account that is refused could not be marked");
        }
        return false;
    }
    refreshed(gateway, project, row, deadline).await.is_ok()
}
