//! Secrets of a project: listing, setting, removing, and what uses them.

pub mod change;
pub mod uses;

use chrono::{DateTime, Utc};
use toolgate_api::secrets::{Secret, SecretUses};

use super::server_snapshot::ProjectState;
use crate::gateway::{Gateway, Problem};
use crate::secrets::project::LoadedSecret;

pub use self::change::{delete, keep_uses, put};
pub use self::uses::{Uses, of_tool, warnings};

/// A page of secrets, by name.
pub async fn list(
    gateway: &Gateway,
    project: &ProjectState,
    after: Option<&str>,
    limit: usize,
) -> Result<Vec<Secret>, Problem> {
    let mut found: Vec<(&str, &LoadedSecret)> = project
        .secrets
        .iter()
        .filter(|(name, _)| after.is_none_or(|after| *name > after))
        .map(|(name, secret)| (name, secret.as_ref()))
        .collect();
    found.sort_unstable_by_key(|(name, _)| *name);
    found.truncate(limit);
    let kept = gateway.store.secret_uses(project.row.uid).await?;
    let mut uses = Uses::of(project);
    Ok(found
        .into_iter()
        .map(|(name, secret)| shown(name, secret, &kept, uses.take(name)))
        .collect())
}

/// One secret; `None` when there is no such one.
pub async fn get(gateway: &Gateway, project: &ProjectState, name: &str) -> Result<Option<Secret>, Problem> {
    let Some(secret) = project.secrets.get(name) else {
        return Ok(None);
    };
    let kept = gateway.store.secret_uses(project.row.uid).await?;
    Ok(Some(shown(name, secret, &kept, Uses::of(project).take(name))))
}

fn shown(name: &str, secret: &LoadedSecret, kept: &[(String, DateTime<Utc>)], used_by: SecretUses) -> Secret {
    let kept = kept.iter().find(|(used, _)| used == name).map(|(_, at)| *at);
    Secret {
        name: name.to_owned(),
        revision: secret.revision,
        set_at: secret.set_at,
        set_by: secret.set_by.clone(),
        last_used_at: kept.max(secret.last_used_at()),
        readable: secret.is_readable(),
        used_by,
    }
}
