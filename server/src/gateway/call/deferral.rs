//! Calls that any server may complete: what is stored of them when they are sent.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolgate_api::ErrorCode;
use toolgate_api::audit::Entrance;
use toolgate_api::auth::PrincipalKind;
use toolgate_api::calls::CallResponse;
use toolgate_api::sessions::CallSession;
use toolgate_core::ids::{CallId, ProjectId, ProjectUid, ToolName};
use toolgate_core::principal::PrincipalRef;
use toolgate_executors::{Failure, LargeCards, Ledger};
use toolgate_store::rows::{Claim, DeferredCall, IdempotencyKey, RecordSeq};
use uuid::Uuid;

use super::once::KeyText;
use super::run::Run;
use crate::gateway::Gateway;
use crate::gateway::cards::{self, Kept};
use crate::gateway::idempotency::RETENTION;

/// What is stored of a deferred call, so that any server can complete it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Begun {
    /// The project's slug when it was admitted.
    pub(super) project: ProjectId,
    pub(super) principal_kind: PrincipalKind,
    pub(super) principal_id: String,
    /// Under which the answer is kept.
    pub(super) key: String,
    pub(super) tool: ToolName,
    pub(super) revision: i64,
    /// The state it was decided against.
    pub(super) state: String,
    /// The session as it was when the call was admitted.
    pub(super) session: Option<CallSession>,
    pub(super) started: DateTime<Utc>,
    pub(super) entrance: Entrance,
    /// By which its executor recognizes the answer.
    pub(super) awaited: Value,
}

impl Begun {
    /// Names the answer.
    pub(super) fn key(&self, project: ProjectUid) -> IdempotencyKey {
        IdempotencyKey {
            project,
            principal_id: self.principal_id.clone(),
            key: self.key.clone(),
        }
    }
}

/// Stores a call when its executor says that its answer may come later.
pub(super) struct Deferral {
    gateway: Arc<Gateway>,
    project: ProjectUid,
    call: CallId,
    record: RecordSeq,
    begun: Begun,
    /// Whether the caller has a key, under which there is room for the answer already.
    has_key: bool,
    deferred: Arc<AtomicBool>,
}

impl Deferral {
    /// Of a call whose record is open.
    pub(super) fn new(gateway: &Arc<Gateway>, run: &Run, record: RecordSeq) -> Arc<Self> {
        let caller = run.invocation.caller.as_ref();
        let own_key = || KeyText::of(run.id).into_text();
        Arc::new(Self {
            gateway: Arc::clone(gateway),
            project: run.project,
            call: run.id,
            record,
            begun: Begun {
                project: run.invocation.project.clone(),
                principal_kind: caller.map_or(PrincipalKind::External, |caller| caller.kind),
                principal_id: caller.map_or_else(String::new, |caller| caller.id.clone()),
                key: run
                    .idempotency
                    .as_ref()
                    .map_or_else(own_key, |key| key.key.clone()),
                tool: run.tool.definition.name.clone(),
                revision: run.tool.revision,
                state: run.state.clone(),
                session: run.session.clone(),
                started: run.started,
                entrance: run.entrance,
                awaited: Value::Null,
            },
            has_key: run.idempotency.is_some(),
            deferred: Arc::default(),
        })
    }

    /// Whether the call was stored: its record must not be completed because this process ends.
    pub(super) fn is_deferred(&self) -> &Arc<AtomicBool> {
        &self.deferred
    }

    /// Under which the answer is kept.
    pub(super) fn key(&self) -> IdempotencyKey {
        self.begun.key(self.project)
    }

    /// The answer, if another completion than that of this process was the first.
    pub(super) async fn kept_answer(&self) -> Option<Box<CallResponse>> {
        let now = self.gateway.clock.now();
        let store = &self.gateway.store;
        let kept = store.kept_answer(self.project, &self.begun.principal_id, self.call, now);
        let kept = kept.await.ok()??;
        serde_json::from_str(kept.body.get()).ok()
    }

    async fn store(&self, within: Duration, awaited: Value) -> anyhow::Result<()> {
        let now = self.gateway.clock.now();
        let begun = Begun {
            awaited,
            ..self.begun.clone()
        };
        let deferred = DeferredCall {
            project: self.project,
            call: self.call,
            record: self.record,
            until: now + TimeDelta::from_std(within)?,
            begun: serde_json::to_string(&begun)?,
        };
        let claim = (!self.has_key).then(|| Claim {
            key: self.key(),
            fingerprint: [0; 32],
            call: self.call,
            expires_at: now + RETENTION,
        });
        Ok(self.gateway.store.defer(&deferred, claim.as_ref()).await?)
    }
}

impl fmt::Debug for Deferral {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Deferral")
            .field("call", &self.call)
            .field("deferred", &self.deferred)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl LargeCards for Deferral {
    async fn card(&self, artifact: Uuid) -> Result<Option<Bytes>, Failure> {
        let kept = Kept {
            gateway: &self.gateway,
            project: self.project,
        };
        kept.card(artifact).await
    }
}

#[async_trait]
impl Ledger for Deferral {
    fn project(&self) -> Uuid {
        self.project.0
    }

    async fn defer(&self, within: Duration, awaited: Value) -> Result<(), Failure> {
        self.store(within, awaited).await.map_err(|error| {
            tracing::error!(call = %self.call, cause = format!("{error:#}"), "a call could not be stored as deferred");
            Failure::new(
                ErrorCode::AuditUnavailable,
                "the call could not be stored, so nothing was sent; try again shortly",
            )
        })?;
        self.deferred.store(true, Ordering::Relaxed);
        self.gateway.running.defer(self.call);
        Ok(())
    }

    async fn keep_card(&self, card: Bytes) -> Result<Uuid, Failure> {
        let owner = PrincipalRef {
            kind: self.begun.principal_kind,
            id: self.begun.principal_id.clone(),
        };
        let kept = cards::keep(&self.gateway, (self.project, owner), card).await;
        kept.map_err(|error| {
            tracing::warn!(call = %self.call, cause = %error, "the card of a call could not be kept");
            Failure::busy("the card of the call could not be stored, so nothing was sent", 1)
        })
    }
}
