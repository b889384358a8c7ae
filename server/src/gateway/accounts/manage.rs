//! Accounts as persons and administrators see them: listing, pasting a key, disconnecting.

use std::sync::Arc;

use serde_json::{Value, json};
use toolgate_api::accounts::{
    AccountMethod, AccountStatus, ConnectedAccount, OwnAccount, OwnAccountList, SetPersonalKey,
};
use toolgate_api::audit::AuditAction;
use toolgate_api::{Diagnostic, ErrorCode};
use toolgate_core::ids::UserId;
use toolgate_core::principal::PrincipalRef;
use toolgate_store::rows::{AccountRow, Opening};
use uuid::Uuid;

use super::grant::{Grant, seal};
use super::{provider_not_found, token};
use crate::auth::directory::Directory;
use crate::auth::identity::Credential;
use crate::gateway::change_record::opening;
use crate::gateway::entry::{Caller, Entry};
use crate::gateway::recorded::recorded;
use crate::gateway::{Gateway, Problem};
use crate::secrets::place;

/// Bytes of a personal key. Shorter ones could not be distinguished from ordinary text in what a service answers.
const KEY_BYTES: std::ops::RangeInclusive<usize> = 8..=8192;

/// The person who calls, and the token of the browser session.
///
/// # Errors
/// 403 for keys, clients and subjects of external issuers.
pub(super) fn person(caller: &Caller) -> Result<(UserId, &str), Problem> {
    match &caller.identity.credential {
        Credential::User { user, jti, .. } => Ok((user.id, jti)),
        _ => Err(Problem::new(
            ErrorCode::Forbidden,
            "Accounts belong to persons: sign in to the dashboard. Keys, clients and subjects of external issuers connect none.",
        )),
    }
}

/// The providers of a project, each with the caller's account.
///
/// # Errors
/// 403 for callers that are no persons.
pub async fn own(gateway: &Gateway, entry: &Entry) -> Result<OwnAccountList, Problem> {
    let (user, _) = person(&entry.caller)?;
    let project = &entry.project;
    let rows = gateway.store.accounts_of(project.row.uid, user).await?;
    let directory = &entry.caller.server_snapshot.directory;
    let items = project.account_providers.iter().map(|provider| {
        let row = rows.iter().find(|row| row.provider == provider.name);
        let definition = &provider.definition;
        OwnAccount {
            provider: provider.name.clone(),
            title: definition.title.clone().unwrap_or_else(|| provider.name.clone()),
            description: definition.description.clone(),
            method: definition.method,
            hosts: definition.hosts.clone(),
            account: row.map(|row| wire(directory, row)),
        }
    });
    Ok(OwnAccountList {
        items: items.collect(),
    })
}

/// An account without its credential.
#[must_use]
pub fn wire(directory: &Directory, row: &AccountRow) -> ConnectedAccount {
    ConnectedAccount {
        id: row.id,
        provider: row.provider.clone(),
        principal: PrincipalRef::user(row.user).to_string(),
        username: directory
            .user(row.user)
            .map(|user| user.username.clone())
            .unwrap_or_default(),
        label: row.label.clone(),
        status: match row.expired {
            true => AccountStatus::Expired,
            false => AccountStatus::Connected,
        },
        connected_at: row.connected_at,
        refreshed_at: row.refreshed_at,
    }
}

/// Stores a key that the caller has pasted.
///
/// # Errors
/// 403 for callers that are no persons; 422 for a key that cannot be sent.
pub async fn set_key(
    gateway: &Arc<Gateway>,
    entry: &Entry,
    name: &str,
    given: SetPersonalKey,
) -> Result<ConnectedAccount, Problem> {
    let (user, _) = person(&entry.caller)?;
    let provider = entry
        .project
        .account_providers
        .get(name)
        .ok_or_else(|| provider_not_found(name))?;
    let mut errors = Vec::new();
    if provider.definition.method != AccountMethod::PersonalKey {
        errors.push(
            Diagnostic::error("this provider takes no personal keys")
                .hint("connect the account by signing in"),
        );
    }
    // Never repeated.
    if !KEY_BYTES.contains(&given.key.len()) || !given.key.bytes().all(|byte| byte.is_ascii_graphic()) {
        errors.push(
            Diagnostic::error("a key has 8 to 8192 visible ASCII characters and no spaces")
                .at_pointer("/key"),
        );
    }
    let is_long = |label: &String| label.chars().count() > 100 || label.chars().any(char::is_control);
    if given.label.as_ref().is_some_and(is_long) {
        errors.push(Diagnostic::error("a label has at most 100 characters").at_pointer("/label"));
    }
    if !errors.is_empty() {
        return Err(Problem::new(
            ErrorCode::InvalidRequest,
            "The key cannot be stored; nothing was changed. `errors` names each fault.",
        )
        .errors(errors));
    }
    let label = given.label.as_deref().and_then(token::readable);
    keep(gateway, entry, user, name, Grant::of_key(given.key), label).await
}

/// Stores a person's account in the place of the former one, on the record.
pub(super) async fn keep(
    gateway: &Arc<Gateway>,
    entry: &Entry,
    user: UserId,
    provider: &str,
    grant: Grant,
    label: Option<String>,
) -> Result<ConnectedAccount, Problem> {
    let (id, project) = (gateway.clock.new_id(), entry.project.row.uid);
    let row = AccountRow {
        id,
        project,
        provider: provider.to_owned(),
        user,
        label,
        expired: false,
        sealed: seal(gateway, &place::account(project, id), &grant)?,
        version: 1,
        connected_at: gateway.clock.now(),
        refreshed_at: None,
    };
    drop(grant);
    let opening = opened(gateway, entry, "account_connected", &row);
    let answer = wire(&entry.caller.server_snapshot.directory, &row);
    let store = gateway.store.clone();
    recorded(gateway, vec![opening], async move {
        Ok(store.put_account(&row).await?)
    })
    .await?;
    Ok(answer)
}

/// Forgets the caller's account at a provider.
///
/// # Errors
/// 404 when none is connected.
pub async fn disconnect(gateway: &Arc<Gateway>, entry: &Entry, provider: &str) -> Result<(), Problem> {
    let (user, _) = person(&entry.caller)?;
    let row = gateway
        .store
        .account(entry.project.row.uid, user, provider)
        .await?;
    let row = row.ok_or_else(|| Problem::not_found("account that is connected there"))?;
    forget(gateway, entry, row).await
}

/// The accounts of a project, newest first.
///
/// # Errors
/// When the database does not answer.
pub async fn list(
    gateway: &Gateway,
    entry: &Entry,
    before: Option<Uuid>,
    limit: usize,
) -> Result<Vec<ConnectedAccount>, Problem> {
    let limit = u32::try_from(limit).unwrap_or(u32::MAX);
    let rows = gateway
        .store
        .accounts(entry.project.row.uid, before, limit)
        .await?;
    let directory = &entry.caller.server_snapshot.directory;
    Ok(rows.iter().map(|row| wire(directory, row)).collect())
}

/// Forgets an account of the project, whosever it is.
///
/// # Errors
/// 404 without one.
pub async fn revoke(gateway: &Arc<Gateway>, entry: &Entry, id: Uuid) -> Result<(), Problem> {
    let row = gateway.store.account_by_id(id).await?;
    let row = row.filter(|row| row.project == entry.project.row.uid);
    let row = row.ok_or_else(|| Problem::not_found(format!("connected account {id}")))?;
    forget(gateway, entry, row).await
}

async fn forget(gateway: &Arc<Gateway>, entry: &Entry, row: AccountRow) -> Result<(), Problem> {
    let opening = opened(gateway, entry, "account_disconnected", &row);
    let store = gateway.store.clone();
    recorded(gateway, vec![opening], async move {
        store.delete_account(row.id).await?;
        Ok(())
    })
    .await
}

fn opened(gateway: &Gateway, entry: &Entry, change: &str, row: &AccountRow) -> Opening {
    let place = (entry.project.row.uid, entry.project.snapshot.version());
    let what: Value = json!({
        "change": change,
        "account": row.id,
        "provider": row.provider,
        "principal": PrincipalRef::user(row.user).to_string(),
        "label": row.label,
    });
    opening(gateway, place, &entry.requester(), AuditAction::Access, what)
}
