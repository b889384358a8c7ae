//! Keys: those that sign tokens, those that encrypt secrets, and the secrets themselves.

use chrono::TimeDelta;
use toolgate_api::status::{StatusCheck, StatusLevel};
use toolgate_core::counted::counted;

use super::{WithFix, ok};
use crate::gateway::Gateway;
use crate::gateway::secrets::Uses;
use crate::gateway::server_snapshot::{ProjectState, ServerSnapshot};

/// After so long a signing key should be replaced.
const OLD: TimeDelta = TimeDelta::days(365);
/// Names that a summary lists.
const LISTED: usize = 10;

/// Whether tokens can be signed, and for how long by the same key.
pub(super) fn signing(gateway: &Gateway, server_snapshot: &ServerSnapshot) -> Option<StatusCheck> {
    let (id, title) = ("signing_key", "Signing in");
    let now = gateway.clock.now();
    let Some(key) = server_snapshot.directory.signing_key(now) else {
        let check = ok(id, title, "There is no key to sign tokens with: sign-ins fail.");
        return Some(check.with_fix(
            StatusLevel::Failing,
            "Run `toolgate keys rotate`; it needs no restart.",
        ));
    };
    let age = now - key.created_at();
    let check = ok(
        id,
        title,
        format!("The key that signs tokens is {} days old.", age.num_days()),
    );
    Some(if age > OLD {
        check.with_fix(
            StatusLevel::Warning,
            "Run `toolgate keys rotate`; tokens that are out stay valid until they expire.",
        )
    } else {
        check
    })
}

/// Whether there is a key for secrets.
pub(super) fn secrets(gateway: &Gateway) -> StatusCheck {
    let (id, title) = ("secrets_key", "Encrypting secrets");
    if gateway.keyring.first_id().is_some() {
        ok(
            id,
            title,
            "Secrets and signing keys are encrypted with the configured key.",
        )
    } else {
        ok(
            id,
            title,
            "There is no key, so projects can keep no secrets, and signing keys are stored as they are.",
        )
        .with_fix(
            StatusLevel::Warning,
            "Set TOOLGATE_SECRETS_KEY to a key made with `toolgate secrets new-key`, and keep a copy of it.",
        )
    }
}

/// Whether what the definitions of a project name is there and can be read; nothing for a project without secrets.
pub(super) fn secrets_of(project: &ProjectState) -> Option<StatusCheck> {
    let project_id = &project.row.id;
    let (id, title) = (format!("secrets:{project_id}"), "Secrets");
    let mut unreadable: Vec<&str> = project
        .secrets
        .iter()
        .filter(|(_, secret)| !secret.is_readable())
        .map(|(name, _)| name)
        .collect();
    unreadable.sort_unstable();
    let uses = Uses::of(project);
    let mut unset: Vec<&str> = uses
        .names()
        .filter(|name| project.secrets.get(name).is_none())
        .collect();
    unset.sort_unstable();
    let listed = |names: &[&str]| names.iter().copied().take(LISTED).collect::<Vec<_>>().join(", ");
    if !unreadable.is_empty() {
        let summary = format!(
            "{} of \"{project_id}\" cannot be decrypted: {}.",
            counted(unreadable.len(), "secret"),
            listed(&unreadable)
        );
        Some(ok(id, title, summary).with_fix(
            StatusLevel::Failing,
            "Configure the key they were encrypted with (TOOLGATE_SECRETS_KEYS), or set them again.",
        ))
    } else if !unset.is_empty() {
        let summary = format!(
            "Definitions of \"{project_id}\" name {} without a value: {}.",
            counted(unset.len(), "secret"),
            listed(&unset)
        );
        Some(ok(id, title, summary).with_fix(
            StatusLevel::Warning,
            "Set them among the secrets of the project, or remove them from the definitions.",
        ))
    } else if project.secrets.is_empty() {
        None
    } else {
        let summary = format!(
            "{} of \"{project_id}\" can be read.",
            counted(project.secrets.len(), "secret")
        );
        Some(ok(id, title, summary))
    }
}
