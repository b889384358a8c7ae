//! A start of the server, on its record: with which configuration it runs.

use serde_json::{Value, json};
use toolgate_api::audit::{AuditAction, AuditOutcome};
use toolgate_api::auth::PrincipalKind;
use toolgate_core::policy::groups::GroupSet;
use toolgate_core::principal::Principal;
use toolgate_store::rows::NO_PROJECT;

use super::change_record::opening;
use super::record::{self, Asker};
use super::recorded;
use crate::error::ApiResult;
use crate::state::App;

/// Records the configuration: every setting with its source; secrets are hidden.
///
/// # Errors
/// When the record cannot be written.
pub async fn record(app: &App) -> ApiResult<()> {
    let server = Principal {
        kind: PrincipalKind::External,
        id: "toolgate|server".to_owned(),
        name: "server".to_owned(),
    };
    let asker = Asker {
        principal: &server,
        granted: &GroupSet::default(),
        reads_definitions: false,
        request_id: "start",
        address: None,
        trace: None,
    };
    let rows = app.config.shown.iter();
    let settings: Vec<Value> = rows
        .map(|row| json!({"setting": row.path, "value": row.value, "source": row.source}))
        .collect();
    let what =
        json!({"change": "server_started", "version": env!("CARGO_PKG_VERSION"), "configuration": settings});
    let version = app.world.now().directory.version();
    let mut opening = opening(app, (NO_PROJECT, version), &asker, AuditAction::Settings, what);
    opening.record = record::ended(opening.record, AuditOutcome::Succeeded, None);
    recorded::write(app, opening).await
}
