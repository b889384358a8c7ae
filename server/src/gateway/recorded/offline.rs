//! Changes that a command of the command line makes in the database, on the record of the server.

use anyhow::Context;
use serde_json::Value;
use toolgate_api::ErrorCode;
use toolgate_api::audit::{AuditAction, AuditOutcome};
use toolgate_api::auth::PrincipalKind;
use toolgate_core::ids::CallId;
use toolgate_core::policy::groups::GroupSet;
use toolgate_core::principal::Principal;
use toolgate_store::Store;
use toolgate_store::rows::{Completion, NO_PROJECT, Opening};

use crate::clock::Clock;
use crate::gateway::entry::Origin;
use crate::gateway::record::{self, Requester};

/// Opens a record, does the work and completes the record with how it ended. The process has a chain of its own for it, which
/// ends with it.
///
/// # Errors
/// Those of the work, and when the record cannot be written; nothing is done if it cannot be opened.
pub async fn offline<T>(
    store: &Store,
    clock: &dyn Clock,
    action: AuditAction,
    what: Value,
    work: impl Future<Output = anyhow::Result<T>>,
) -> anyhow::Result<T> {
    let (instance, at) = (clock.new_id(), clock.now());
    store
        .register_instance(instance, at)
        .await
        .context("registering this process in the database")?;
    let records = store.records_writer(instance);
    let version = store.load_directory().await?.version;
    let command = Principal {
        kind: PrincipalKind::External,
        id: "toolgate|command-line".to_owned(),
        name: "command line".to_owned(),
    };
    let requester = Requester {
        principal: &command,
        granted: &GroupSet::default(),
        reads_definitions: false,
        origin: &Origin::internal("command-line"),
    };
    let id = CallId(clock.new_id());
    let mut record = record::decided(id, at, action, &requester, version);
    record.arguments = Some(what);
    let opening = Opening {
        project: NO_PROJECT,
        record,
    };
    let seq = records.open(opening).await.context("writing the record")?;
    let done = work.await;
    let completion = Completion {
        project: NO_PROJECT,
        id,
        record: seq,
        outcome: match done {
            Ok(_) => AuditOutcome::Succeeded,
            Err(_) => AuditOutcome::Failed,
        },
        code: done.is_err().then_some(ErrorCode::Internal),
        state_before: String::new(),
        state_after: String::new(),
        duration_ms: (clock.now() - at).num_milliseconds().max(0),
        usage: None,
        noted: None,
        session: None,
        settlement: None,
        late: None,
    };
    let completed = records
        .complete(completion)
        .await
        .context("completing the record");
    records.shutdown(clock.now()).await;
    let done = done?;
    completed?;
    Ok(done)
}
