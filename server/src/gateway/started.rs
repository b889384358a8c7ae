//! A start of the server, on its record: with which configuration it runs.

use serde_json::{Value, json};
use toolgate_api::audit::{AuditAction, AuditOutcome};
use toolgate_api::auth::PrincipalKind;
use toolgate_core::policy::groups::GroupSet;
use toolgate_core::principal::Principal;
use toolgate_store::rows::NO_PROJECT;

use super::change_record::opening;
use super::entry::Origin;
use super::record::{self, Requester};
use super::recorded;
use crate::gateway::{Gateway, Problem};

/// Records the configuration: every setting with its source; secrets are hidden.
///
/// # Errors
/// When the record cannot be written.
pub async fn record(gateway: &Gateway) -> Result<(), Problem> {
    let server = Principal {
        kind: PrincipalKind::External,
        id: "toolgate|server".to_owned(),
        name: "server".to_owned(),
    };
    let requester = Requester {
        principal: &server,
        granted: &GroupSet::default(),
        reads_definitions: false,
        origin: &Origin::internal("start"),
    };
    let rows = gateway.config.shown.iter();
    let settings: Vec<Value> = rows
        .map(|row| json!({"setting": row.path, "value": row.value, "source": row.source}))
        .collect();
    let what =
        json!({"change": "server_started", "version": env!("CARGO_PKG_VERSION"), "configuration": settings});
    let version = gateway.snapshots.now().directory.version();
    let mut opening = opening(
        gateway,
        (NO_PROJECT, version),
        &requester,
        AuditAction::Settings,
        what,
    );
    opening.record = record::ended(opening.record, AuditOutcome::Succeeded, None);
    recorded::write(gateway, opening).await
}
