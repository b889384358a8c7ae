//! Creating, renaming and deleting projects, on the record of the server: that of a project ends with it.

use std::sync::Arc;

use serde_json::{Value, json};
use toolgate_api::ErrorCode;
use toolgate_api::audit::AuditAction;
use toolgate_core::ids::UserId;
use toolgate_store::StoreError;
use toolgate_store::rows::ProjectRow;

use super::access::{self, Actor};
use super::change_record::server_opening;
use crate::gateway::{Gateway, Problem};

/// Creates a project; `creator` becomes its owner, with a grant of `*`.
///
/// # Errors
/// 409 when there is a project with this id.
pub async fn create(
    gateway: &Arc<Gateway>,
    actor: Actor<'_>,
    creator: UserId,
    row: ProjectRow,
) -> Result<(), Problem> {
    let opening = opening(gateway, actor, "project_created", &row);
    let store = gateway.store.clone();
    access::carry_out(gateway, vec![opening], async move {
        match store.create_project(&row, Some(creator)).await {
            Ok(()) => Ok(()),
            Err(StoreError::Conflict { .. }) => Err(Problem::new(
                ErrorCode::Conflict,
                format!("There is a project \"{}\" already. Choose another id.", row.id),
            )),
            Err(error) => Err(error.into()),
        }
    })
    .await
}

/// Gives a project another name for people. Its id stays.
///
/// # Errors
/// 404 when it was deleted meanwhile.
pub async fn rename(
    gateway: &Arc<Gateway>,
    actor: Actor<'_>,
    row: &ProjectRow,
    name: String,
) -> Result<(), Problem> {
    let mut what = what("project_renamed", row);
    what["renamed_to"] = json!(name);
    let opening = server_opening(gateway, actor, AuditAction::Project, what);
    let store = gateway.store.clone();
    let (uid, id) = (row.uid, row.id.clone());
    access::carry_out(gateway, vec![opening], async move {
        match store.rename_project(uid, &name).await? {
            true => Ok(()),
            false => Err(Problem::not_found(format!("project \"{id}\""))),
        }
    })
    .await
}

/// Deletes a project. Its records stay.
///
/// # Errors
/// 404 when it was deleted meanwhile.
pub async fn delete(gateway: &Arc<Gateway>, actor: Actor<'_>, row: &ProjectRow) -> Result<(), Problem> {
    let opening = opening(gateway, actor, "project_deleted", row);
    let (store, clock) = (gateway.store.clone(), Arc::clone(&gateway.clock));
    let (uid, id) = (row.uid, row.id.clone());
    access::carry_out(gateway, vec![opening], async move {
        match store.delete_project(uid, clock.now()).await? {
            true => Ok(()),
            false => Err(Problem::not_found(format!("project \"{id}\""))),
        }
    })
    .await
}

fn opening(
    gateway: &Gateway,
    actor: Actor<'_>,
    change: &str,
    row: &ProjectRow,
) -> toolgate_store::rows::Opening {
    server_opening(gateway, actor, AuditAction::Project, what(change, row))
}

/// What is recorded about a change of a project.
fn what(change: &str, row: &ProjectRow) -> Value {
    json!({"change": change, "project": row.id.as_str(), "uid": row.uid.to_string(), "name": row.name})
}
