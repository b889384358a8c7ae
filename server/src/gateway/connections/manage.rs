//! Listing, limiting and revoking connections: users their own, administrators those of the project.

use std::cmp::Reverse;
use std::sync::Arc;

use serde_json::{Value, json};
use toolgate_api::audit::AuditAction;
use toolgate_api::connections::LimitConnection;
use toolgate_core::ids::ConnectionId;
use toolgate_core::policy::groups::GroupSet;
use toolgate_core::principal::{Permission, PrincipalRef};
use toolgate_store::rows::{ConnectionRow, Opening, UserRow};

use super::consent::within;
use crate::auth::identity::{Credential, Identity};
use crate::gateway::access;
use crate::gateway::change_record;
use crate::gateway::entry::{Entry, Origin};
use crate::gateway::record::Requester;
use crate::gateway::server_snapshot::ServerSnapshot;
use crate::gateway::{Gateway, Problem};

/// A connection with what it is worth now.
pub struct Managed {
    /// The connection.
    pub row: ConnectionRow,
    /// Who let the client in.
    pub user: Arc<UserRow>,
    /// The groups that it may ask for now.
    pub granted: Vec<String>,
}

/// The connections that the caller may see and that have not ended, newest first.
///
/// # Errors
/// When the database does not answer.
pub async fn list(gateway: &Gateway, entry: &Entry) -> Result<Vec<Managed>, Problem> {
    let mut rows = gateway.store.connections(entry.project.row.uid).await?;
    rows.sort_by_key(|row| Reverse(row.id));
    Ok(rows.into_iter().filter_map(|row| managed(entry, row)).collect())
}

/// One of them.
///
/// # Errors
/// 404 for one that the caller may not see.
pub async fn find(gateway: &Gateway, entry: &Entry, id: ConnectionId) -> Result<Managed, Problem> {
    let all = list(gateway, entry).await?;
    all.into_iter()
        .find(|managed| managed.row.id == id)
        .ok_or_else(|| Problem::not_found(format!("connection {id}")))
}

/// Whether the caller is the user who let a client in; the client itself is not.
fn is_own(entry: &Entry, row: &ConnectionRow) -> bool {
    matches!(&entry.caller.identity.credential, Credential::User { user, .. } if user.id == row.user)
}

fn managed(entry: &Entry, row: ConnectionRow) -> Option<Managed> {
    let (directory, now) = (&entry.caller.server_snapshot.directory, entry.caller.now);
    let user = directory.user(row.user)?;
    let lives = row.connected_at.is_some()
        && row.expires_at.is_none_or(|end| now < end)
        && row.token_generation >= user.token_generation;
    if !lives || !(is_own(entry, &row) || entry.may(Permission::ManageKeys)) {
        return None;
    }
    let row = Arc::new(row);
    let identity = Identity {
        principal: entry.caller.identity.principal.clone(),
        credential: Credential::Connection {
            user: Arc::clone(user),
            connection: Arc::clone(&row),
        },
        system_admin: false,
    };
    let grant = identity.grant(directory, &entry.project.row, now);
    drop(identity);
    Some(Managed {
        user: Arc::clone(user),
        granted: grant.map(|grant| grant.groups.to_vec()).unwrap_or_default(),
        row: Arc::unwrap_or_clone(row),
    })
}

/// Limits a connection to groups, after `precondition` has agreed with it. The user may widen it up to the own grant; an
/// administrator only narrows it.
///
/// # Errors
/// 403 for groups that are too much; 412 when it has changed.
pub async fn limit(
    gateway: &Arc<Gateway>,
    entry: &Entry,
    id: ConnectionId,
    limit: LimitConnection,
    precondition: impl Fn(&ConnectionRow) -> Result<(), Problem>,
) -> Result<(), Problem> {
    let managed = find(gateway, entry, id).await?;
    precondition(&managed.row)?;
    let row = managed.row;
    let groups = limit
        .groups
        .map(|groups| groups.into_iter().collect::<GroupSet>());
    let after = groups.as_ref().map(GroupSet::to_vec);
    let mut what = what("connection_limited", &row);
    what["after"] = json!({"groups": after});
    let opening = opening(gateway, entry, &what);
    let current = row
        .groups
        .as_ref()
        .map(|groups| groups.iter().cloned().collect::<GroupSet>());
    let allowed = match (&groups, &current) {
        (Some(asked), _) if is_own(entry, &row) => within(&entry.grant.groups, asked),
        (Some(asked), Some(current)) => within(current, asked),
        (None, Some(_)) if !is_own(entry, &row) => within(&GroupSet::default(), &["*"].into_iter().collect()),
        _ => Ok(()),
    };
    if let Err(refused) = allowed {
        return Err(access::refused(gateway, opening, refused).await?);
    }
    let store = gateway.store.clone();
    access::carry_out(gateway, vec![opening], async move {
        let limited = store.limit_connection(id, row.revision, after.as_deref()).await?;
        limited.map(drop).ok_or_else(|| {
            Problem::new(
                toolgate_api::ErrorCode::PreconditionFailed,
                "The connection has changed since it was read. Read it again.",
            )
        })
    })
    .await
}

/// Ends a connection, after `precondition` has agreed with it.
///
/// # Errors
/// 404 for one that the caller may not see.
pub async fn revoke(
    gateway: &Arc<Gateway>,
    entry: &Entry,
    id: ConnectionId,
    precondition: impl Fn(&ConnectionRow) -> Result<(), Problem>,
) -> Result<(), Problem> {
    let managed = find(gateway, entry, id).await?;
    precondition(&managed.row)?;
    let actor = entry.caller.actor();
    let ending = Ending {
        identity: actor.identity,
        origin: actor.origin,
        reason: "revoked",
    };
    end(gateway, &entry.caller.server_snapshot, &managed.row, ending).await
}

/// Who ends a connection, and why.
pub(super) struct Ending<'a> {
    pub(super) identity: &'a Identity,
    pub(super) origin: &'a Origin,
    pub(super) reason: &'static str,
}

/// Ends a connection, on the record of its project. Ending it twice is fine.
pub(super) async fn end(
    gateway: &Arc<Gateway>,
    server_snapshot: &ServerSnapshot,
    row: &ConnectionRow,
    ending: Ending<'_>,
) -> Result<(), Problem> {
    let project = server_snapshot
        .projects()
        .find(|project| project.row.uid == row.project);
    let Some(project) = project else { return Ok(()) };
    let grant = ending
        .identity
        .grant(&server_snapshot.directory, &project.row, gateway.clock.now());
    let granted = grant.map(|grant| grant.groups).unwrap_or_default();
    let requester = Requester {
        principal: &ending.identity.principal,
        granted: &granted,
        reads_definitions: false,
        origin: ending.origin,
    };
    let mut what = what("connection_revoked", row);
    what["reason"] = json!(ending.reason);
    let place = (row.project, project.snapshot.version());
    let opening = change_record::opening(gateway, place, &requester, AuditAction::Access, what);
    let (store, id) = (gateway.store.clone(), row.id);
    access::carry_out(gateway, vec![opening], async move {
        store.delete_connection(id).await?;
        Ok(())
    })
    .await
}

fn opening(gateway: &Gateway, entry: &Entry, what: &Value) -> Opening {
    let place = (entry.project.row.uid, entry.project.snapshot.version());
    change_record::opening(
        gateway,
        place,
        &entry.requester(),
        AuditAction::Access,
        what.clone(),
    )
}

fn what(change: &str, row: &ConnectionRow) -> Value {
    json!({
        "change": change,
        "connection": row.id.0,
        "principal": PrincipalRef::user(row.user).to_string(),
        "client_id": row.client_id,
        "client_name": row.client_name,
        "before": row.groups.as_ref().map(|groups| json!({"groups": groups})),
    })
}
