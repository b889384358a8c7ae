//! Keeping views of the record under a name.

use std::sync::Arc;

use serde_json::{Value, json};
use toolgate_api::audit::AuditAction;
use toolgate_api::saved_views::{SaveView, SavedView};
use toolgate_api::{Diagnostic, ErrorCode};
use toolgate_core::principal::{Permission, PrincipalRef};
use toolgate_store::rows::Opening;
use uuid::Uuid;

use super::change_record::opening;
use super::entry::Entry;
use super::recorded::recorded;
use crate::gateway::{Gateway, Problem};

/// Views of one owner.
const MOST: i64 = 200;
/// Characters of a name and of a query.
const LONGEST_NAME: usize = 80;
const LONGEST_QUERY: usize = 2000;

/// The views that the caller sees.
///
/// # Errors
/// When the database does not answer.
pub async fn list(gateway: &Gateway, entry: &Entry) -> Result<Vec<SavedView>, Problem> {
    let principal = caller(entry);
    let found = gateway.store.saved_views(entry.project.row.uid, &principal);
    Ok(found.await?)
}

/// Keeps a view, in place of one of the same name.
///
/// # Errors
/// 422 for a name or a query that cannot be kept; 409 when there are too many.
pub async fn save(gateway: &Arc<Gateway>, entry: &Entry, view: SaveView) -> Result<SavedView, Problem> {
    let faults: Vec<Diagnostic> = [
        ("name", view.name.trim(), LONGEST_NAME),
        ("query", &view.query, LONGEST_QUERY),
    ]
    .into_iter()
    .filter_map(|(name, text, longest)| {
        let is_good = (1..=longest).contains(&text.chars().count()) && !text.chars().any(char::is_control);
        let fault = format!("must have 1 to {longest} characters and no control characters");
        (!is_good).then(|| Diagnostic::error(fault).at_pointer(format!("/{name}")))
    })
    .collect();
    if !faults.is_empty() {
        let text = "The view is invalid; nothing was stored. `errors` names each fault.";
        return Err(Problem::new(ErrorCode::InvalidRequest, text).errors(faults));
    }
    let kept = SavedView {
        id: gateway.clock.new_id(),
        name: view.name.trim().to_owned(),
        query: view.query,
        shared: view.shared,
        author: caller(entry),
        created_at: gateway.clock.now(),
    };
    let what = json!({"change": "view_saved", "view": kept.name, "shared": kept.shared});
    let (task, uid) = (Arc::clone(gateway), entry.project.row.uid);
    recorded(gateway, vec![change(gateway, entry, what)], async move {
        if task.store.save_view(uid, &kept, MOST).await? {
            return Ok(kept);
        }
        Err(Problem::new(
            ErrorCode::Conflict,
            format!("There are {MOST} views already. Delete one that is not used."),
        ))
    })
    .await
}

/// Removes a view. A shared one is removed by its author, or by those who manage the project's policy.
///
/// # Errors
/// 404 where the caller sees no such view; 403 for the shared view of another.
pub async fn delete(gateway: &Arc<Gateway>, entry: &Entry, id: Uuid) -> Result<(), Problem> {
    let seen = list(gateway, entry).await?;
    let not_found = move || Problem::not_found(format!("view \"{id}\""));
    let view = seen
        .into_iter()
        .find(|view| view.id == id)
        .ok_or_else(not_found)?;
    if view.author != caller(entry) && !entry.may(Permission::ManagePolicy) {
        return Err(Problem::new(
            ErrorCode::Forbidden,
            "The view is shared by another user. Its author or an owner of the project can delete it.",
        ));
    }
    let what = json!({"change": "view_deleted", "view": view.name, "shared": view.shared});
    let (task, uid) = (Arc::clone(gateway), entry.project.row.uid);
    recorded(gateway, vec![change(gateway, entry, what)], async move {
        let removed = task.store.delete_saved_view(uid, id).await?;
        removed.then_some(()).ok_or_else(not_found)
    })
    .await
}

fn caller(entry: &Entry) -> String {
    PrincipalRef::from(&entry.caller.identity.principal).to_string()
}

fn change(gateway: &Gateway, entry: &Entry, what: Value) -> Opening {
    let place = (entry.project.row.uid, entry.project.snapshot.version());
    opening(gateway, place, &entry.requester(), AuditAction::Settings, what)
}
