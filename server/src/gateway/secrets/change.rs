//! Setting and removing secrets.

use std::sync::Arc;

use serde_json::json;
use toolgate_api::audit::AuditAction;
use toolgate_api::secrets::SecretUses;
use toolgate_api::{Diagnostic, ErrorCode};
use toolgate_core::definition::source;
use toolgate_core::ids::ProjectId;
use toolgate_store::StoreError;
use toolgate_store::rows::{NewSecret, Opening, SecretUse};

use super::uses::Uses;
use crate::gateway::change_record::opening;
use crate::gateway::record::Requester;
use crate::gateway::recorded::recorded;
use crate::gateway::server_snapshot::ProjectState;
use crate::gateway::{Gateway, Problem};
use crate::secrets::{SealError, place};

/// Bytes of a value. Shorter ones could not be distinguished from ordinary text in what an upstream answers.
const VALUE_BYTES: std::ops::RangeInclusive<usize> = 8..=64 * 1024;
/// Secrets of one project.
const MOST: usize = 1000;

/// Sets a secret; its new revision. `expected` is the revision that is replaced, 0 for none, if it matters.
pub async fn put(
    gateway: &Arc<Gateway>,
    project: &ProjectState,
    name: &str,
    value: &str,
    expected: Option<i64>,
    requester: &Requester<'_>,
) -> Result<i64, Problem> {
    check(project, name, value)?;
    let sealed = gateway
        .keyring
        .seal(&place::secret(project.row.uid, name), value.as_bytes())
        .map_err(|error| match error {
            SealError::NoKey => Problem::new(
                ErrorCode::SecretsNotConfigured,
                "This server has no key to encrypt secrets with. The operator sets TOOLGATE_SECRETS_KEY to one from \
                 `toolgate secrets new-key`.",
            ),
            other => Problem::internal(&other),
        })?;
    let opening = opened(gateway, project, requester, "secret_set", name);
    let (task, uid, id) = (Arc::clone(gateway), project.row.uid, project.row.id.clone());
    let (name, author) = (name.to_owned(), requester.principal.name.clone());
    recorded(gateway, vec![opening], async move {
        let secret = NewSecret {
            project: uid,
            name: &name,
            key_id: &sealed.key_id,
            sealed: &sealed.bytes,
            expected,
            author: &author,
        };
        let outcome = task.store.put_secret(&secret, task.clock.now()).await;
        task.snapshots.refresh().await?;
        outcome.map_err(|error| failure(error, &id))
    })
    .await
}

/// The record of a change: the name of the secret, and its revision before.
fn opened(
    gateway: &Gateway,
    project: &ProjectState,
    requester: &Requester<'_>,
    change: &str,
    name: &str,
) -> Opening {
    let before = project.secrets.get(name).map(|secret| secret.revision);
    let what = json!({"change": change, "name": name, "before_revision": before});
    let place = (project.row.uid, project.snapshot.version());
    opening(gateway, place, requester, AuditAction::Secret, what)
}

/// Removes a secret. What still refers to it stops working, so that is refused unless `force` says so.
pub async fn delete(
    gateway: &Arc<Gateway>,
    project: &ProjectState,
    name: &str,
    expected: Option<i64>,
    force: bool,
    requester: &Requester<'_>,
) -> Result<(), Problem> {
    let used_by = Uses::of(project).take(name);
    if !force && !used_by.is_empty() {
        return Err(in_use(name, &used_by));
    }
    let opening = opened(gateway, project, requester, "secret_removed", name);
    let (task, uid, id) = (Arc::clone(gateway), project.row.uid, project.row.id.clone());
    let name = name.to_owned();
    recorded(gateway, vec![opening], async move {
        let outcome = task.store.delete_secret(uid, &name, expected).await;
        task.snapshots.refresh().await?;
        match outcome {
            Ok(true) => Ok(()),
            Ok(false) => Err(not_found(&name)),
            Err(error) => Err(failure(error, &id)),
        }
    })
    .await
}

/// There is no such secret.
#[must_use]
pub fn not_found(name: &str) -> Problem {
    let shown: String = name.chars().take(128).collect();
    Problem::not_found(format!("secret \"{shown}\""))
}

/// Writes down when secrets were used since the last time.
pub async fn keep_uses(gateway: &Gateway) -> Result<(), StoreError> {
    let server_snapshot = gateway.snapshots.now();
    let mut uses = Vec::new();
    for project in server_snapshot.projects() {
        for (name, secret) in project.secrets.iter() {
            if let Some(at) = secret.take_unkept_use() {
                uses.push(SecretUse {
                    project: project.row.uid,
                    name: name.to_owned(),
                    at,
                });
            }
        }
    }
    if uses.is_empty() {
        return Ok(());
    }
    gateway.store.note_secret_uses(&uses).await
}

fn check(project: &ProjectState, name: &str, value: &str) -> Result<(), Problem> {
    let mut errors = Vec::new();
    if !source::is_name(name) {
        errors.push(Diagnostic::error(
            "the name of a secret has 1-128 letters, digits and _, and begins with no digit",
        ));
    }
    let (least, most) = VALUE_BYTES.into_inner();
    if value.chars().count() < least || value.len() > most {
        let fault = format!("must have {least} characters to {most} bytes");
        errors.push(Diagnostic::error(fault).at_pointer("/value"));
    }
    if value.contains('\0') {
        errors.push(Diagnostic::error("must not have the character U+0000").at_pointer("/value"));
    }
    if project.secrets.get(name).is_none() && project.secrets.len() >= MOST {
        errors.push(Diagnostic::error(format!("a project has at most {MOST} secrets")));
    }
    if errors.is_empty() {
        return Ok(());
    }
    Err(Problem::new(
        ErrorCode::InvalidRequest,
        "The secret cannot be set like this; nothing was stored.",
    )
    .errors(errors))
}

fn in_use(name: &str, used_by: &SecretUses) -> Problem {
    let mut errors: Vec<Diagnostic> = used_by
        .tools
        .iter()
        .map(|tool| Diagnostic::error(format!("the tool \"{tool}\" uses it")))
        .collect();
    errors.extend(
        used_by
            .services
            .iter()
            .map(|service| Diagnostic::error(format!("the tool service \"{service}\" uses it"))),
    );
    errors.extend(
        used_by
            .mcp_servers
            .iter()
            .map(|server| Diagnostic::error(format!("the MCP server \"{server}\" uses it"))),
    );
    errors.extend(
        used_by
            .account_providers
            .iter()
            .map(|provider| Diagnostic::error(format!("the account provider \"{provider}\" uses it"))),
    );
    if used_by.webhook {
        errors.push(Diagnostic::error(
            "it signs the messages of the project's webhook",
        ));
    }
    Problem::new(
        ErrorCode::InUse,
        format!(
            "The secret \"{name}\" is in use; nothing was removed. Change what uses it first, or send `force=true`: what \
             uses it will fail."
        ),
    )
    .errors(errors)
}

fn failure(error: StoreError, project: &ProjectId) -> Problem {
    match error {
        StoreError::VersionConflict => Problem::new(
            ErrorCode::PreconditionFailed,
            "The secret has been set since you read it. Read it again.",
        ),
        StoreError::NotFound { .. } => Problem::not_found(format!("project \"{project}\"")),
        other => other.into(),
    }
}
