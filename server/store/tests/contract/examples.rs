//! Rows that tests start from, and ids and times that are the same in every run.

use std::sync::atomic::{AtomicU64, Ordering};

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::json;
use toolgate_api::audit::{
    ArgumentCoercion, AuditAction, AuditOutcome, AuditRecord, CoercionKind, Entrance, StateSource,
};
use toolgate_api::auth::{PrincipalKind, Role};
use toolgate_api::keys::KeyOnBus;
use toolgate_api::permissions::{GrantTerms, GrantedGroup};
use toolgate_core::definition::{ServiceDefinition, ToolDefinition};
use toolgate_core::ids::{CallId, KeyId, ProjectId, ProjectUid, ToolName, UserId};
use toolgate_core::principal::PrincipalRef;
use toolgate_store::Store;
use toolgate_store::rows::{
    Claim, Completion, GrantRow, IdempotencyKey, KeyRow, Opening, ProjectRow, Publication, RecordSeq, UserRow,
};
use uuid::Uuid;

/// A new id, greater than all before it, as ids of version 7 are.
pub(crate) fn new_uuid() -> Uuid {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    Uuid::from_u128(
        0x0199_f7c2_5a8e_7000_8000_0000_0000_0000 + u128::from(NEXT.fetch_add(1, Ordering::Relaxed)),
    )
}

/// A moment: so many seconds into the tests' day, and 123 456 microseconds.
pub(crate) fn at(seconds: i64) -> DateTime<Utc> {
    let day = DateTime::from_timestamp(1_760_000_000, 123_456_000).expect("a moment");
    day + TimeDelta::seconds(seconds)
}

pub(crate) fn name(text: &str) -> ToolName {
    ToolName::parse(text).expect("a tool name")
}

pub(crate) fn project_row(id: &str) -> ProjectRow {
    ProjectRow {
        uid: ProjectUid(new_uuid()),
        id: ProjectId::parse(id).expect("a project id"),
        name: format!("The project {id}"),
        created_at: at(0),
    }
}

/// A project.
pub(crate) async fn project(store: &Store, id: &str) -> ProjectUid {
    let row = project_row(id);
    store.create_project(&row, None).await.expect("a project");
    row.uid
}

pub(crate) fn user_row(username: &str) -> UserRow {
    UserRow {
        id: UserId(new_uuid()),
        username: username.to_owned(),
        display_name: Some("Größe".to_owned()),
        password_hash: "$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA".to_owned(),
        token_generation: 0,
        system_admin: false,
        disabled_at: None,
        second_factor_at: None,
        second_factor_required: false,
        identity: None,
        created_at: at(1),
        revision: 0,
    }
}

/// A grant of a role and no groups.
pub(crate) fn grant_row(project: ProjectUid, principal: PrincipalRef, role: Role) -> GrantRow {
    GrantRow {
        project,
        principal,
        terms: terms(role, &[]),
        granted_by: "admin".to_owned(),
        granted_at: at(3),
        revision: 0,
    }
}

/// What is granted for good: `a` until `at(100)` for `("a", Some(100))`.
pub(crate) fn terms(role: Role, groups: &[(&str, Option<i64>)]) -> GrantTerms {
    GrantTerms {
        role,
        groups: groups
            .iter()
            .map(|&(group, end)| GrantedGroup {
                group: group.to_owned(),
                expires_at: end.map(at),
            })
            .collect(),
        expires_at: None,
    }
}

pub(crate) fn key_row(project: ProjectUid, prefix: &str) -> KeyRow {
    KeyRow {
        id: KeyId(new_uuid()),
        project,
        name: "research agent".to_owned(),
        prefix: prefix.to_owned(),
        digest: [7; 32],
        previous: None,
        created_at: at(2),
        created_by: "admin".to_owned(),
        rotated_at: None,
        expires_at: Some(at(3600)),
        revoked_at: None,
        bus: Some(KeyOnBus {
            services: true,
            workers: vec!["search".to_owned()],
            ..KeyOnBus::default()
        }),
        revision: 0,
    }
}

pub(crate) fn tool(tool_name: &str, description: &str) -> ToolDefinition {
    serde_json::from_value(json!({
        "name": tool_name,
        "type": "openapi",
        "description": description,
        "group": [],
        "available_in_states": ["draft", "*"],
        "parameters": {"type": "object", "properties": {"q": {"type": "string", "default": "a\u{0}b"}}},
        "options": {"args": {"defaults": {"num": 10}}, "envs": {"key": "TOOLGATE_TOOL_ENV_KEY"}, "timeout_ms": 5000},
    }))
    .expect("a tool")
}

pub(crate) fn service(id: &str, queue: &str) -> ServiceDefinition {
    serde_json::from_value(
        json!({"id": id, "request-queue": queue, "envs": {"key": "TOOLGATE_TOOL_ENV_KEY"}}),
    )
    .expect("a service")
}

/// A change of tools, from a version.
pub(crate) fn publication(
    project: ProjectUid,
    expected_version: i64,
    tools: &[(&str, Option<&str>)],
) -> Publication {
    Publication {
        project,
        expected_version,
        expected_directory: None,
        tools: tools
            .iter()
            .map(|(tool_name, description)| (name(tool_name), description.map(|text| tool(tool_name, text))))
            .collect(),
        services: Vec::new(),
        deleted_services: Vec::new(),
        labels: toolgate_store::LabelChange::default(),
        author: "admin".to_owned(),
        at: at(10),
        note: Some("because".to_owned()),
    }
}

/// A record of an admitted call.
pub(crate) fn record(id: CallId) -> AuditRecord {
    AuditRecord {
        account: None,
        id: id.0,
        at: at(20),
        action: AuditAction::Call,
        outcome: AuditOutcome::Open,
        code: None,
        principal_kind: PrincipalKind::ServiceKey,
        principal_id: "agent-1".to_owned(),
        principal_name: "Agent".to_owned(),
        tool: Some("web-search".to_owned()),
        revision: Some(2),
        requested_groups: vec!["knowledge".to_owned()],
        granted_groups: vec!["*".to_owned()],
        missing_groups: Vec::new(),
        session_id: None,
        state_before: "draft".to_owned(),
        state_from: Some(StateSource::Request),
        state_after: None,
        state_conflict: false,
        arguments: Some(json!({"q": "größer \u{0} \"als\"", "depth": null, "n": 1.5})),
        provenance: Some(json!({"q": "caller"})),
        coercions: vec![ArgumentCoercion {
            pointer: "/q".to_owned(),
            kind: CoercionKind::ReadFromText,
        }],
        context: Some(json!({"trace_id": "t-1"})),
        request_id: "request-1".to_owned(),
        address: Some("192.0.2.7".to_owned()),
        entrance: Some(Entrance::Rest),
        connection: None,
        client_name: Some("claude-code".to_owned()),
        client_version: Some("2.1.0".to_owned()),
        snapshot_version: 4,
        duration_ms: None,
        payloads_hidden: false,
        failure: None,
        usage: None,
        warnings: Vec::new(),
        artifact_id: None,
        after_execution: None,
        questions: Vec::new(),
        deferred_until: None,
    }
}

pub(crate) fn opening(project: ProjectUid) -> Opening {
    Opening {
        project,
        record: Box::new(record(CallId(new_uuid()))),
    }
}

pub(crate) fn call_of(opening: &Opening) -> CallId {
    CallId(opening.record.id)
}

/// A success that moves the state to `done`.
pub(crate) fn completion(opening: &Opening, record: RecordSeq) -> Completion {
    Completion {
        project: opening.project,
        id: call_of(opening),
        record,
        outcome: AuditOutcome::Succeeded,
        code: None,
        state_before: opening.record.state_before.clone(),
        state_after: "done".to_owned(),
        duration_ms: 42,
        usage: Some(json!({"tokens": 120})),
        noted: None,
        session: None,
        settlement: None,
        late: None,
    }
}

pub(crate) fn claim(project: ProjectUid, key: &str) -> Claim {
    Claim {
        key: IdempotencyKey {
            project,
            principal_id: "agent-1".to_owned(),
            key: key.to_owned(),
        },
        fingerprint: [1; 32],
        call: CallId(new_uuid()),
        expires_at: at(86_400),
    }
}
