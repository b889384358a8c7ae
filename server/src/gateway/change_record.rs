//! Changes of a project on its record: what was changed by whom.

use std::sync::Arc;

use serde_json::Value;
use toolgate_api::ErrorCode;
use toolgate_api::audit::AuditAction;
use toolgate_core::ids::{CallId, ProjectUid};
use toolgate_core::policy::groups::GroupSet;
use toolgate_core::redact;
use toolgate_store::rows::{NO_PROJECT, Opening};

use super::access::Actor;
use super::publish::Author;
use super::record::{self, Requester};
use super::recorded::recorded_as;
use super::server_snapshot::ProjectState;
use crate::gateway::{Gateway, Problem};

/// Who changes definitions: for the record, and for their revisions.
pub struct Changer<'a> {
    /// For the record.
    pub requester: Requester<'a>,
    /// For the revisions.
    pub author: Author<'a>,
}

/// The record of a change that is about to be made; `what` is its arguments, nulls left out.
#[must_use]
pub fn opening(
    gateway: &Gateway,
    (project, version): (ProjectUid, i64),
    requester: &Requester<'_>,
    action: AuditAction,
    what: Value,
) -> Opening {
    let id = CallId(gateway.clock.new_id());
    let mut record = record::decided(id, gateway.clock.now(), action, requester, version);
    if let Value::Object(mut what) = what {
        what.retain(|_, value| !value.is_null());
        record.arguments = Some(redact::redact(&what));
    }
    Opening { project, record }
}

/// The record of a change of the server itself, of what belongs to no project.
#[must_use]
pub fn server_opening(gateway: &Gateway, actor: Actor<'_>, action: AuditAction, what: Value) -> Opening {
    let requester = Requester {
        principal: &actor.identity.principal,
        granted: &GroupSet::default(),
        reads_definitions: false,
        origin: actor.origin,
    };
    let version = gateway.snapshots.now().directory.version();
    opening(gateway, (NO_PROJECT, version), &requester, action, what)
}

/// The members of a document that a change makes others, `before` and `after`.
pub(super) fn differing(mut before: Value, mut after: Value) -> (Value, Value) {
    if let (Value::Object(old), Value::Object(new)) = (&mut before, &mut after) {
        let same: Vec<String> = old
            .keys()
            .filter(|key| new.get(*key) == old.get(*key))
            .cloned()
            .collect();
        for key in same {
            old.remove(&key);
            new.remove(&key);
        }
    }
    (before, after)
}

/// Makes a change of a project between the opening and the completion of its record. A change that has to be computed again
/// (`None`), because another one was faster, is on the record as failed.
pub(super) fn recorded<T: Send + 'static>(
    gateway: &Arc<Gateway>,
    state: &ProjectState,
    requester: &Requester<'_>,
    action: AuditAction,
    what: Value,
    change: impl Future<Output = Result<Option<T>, Problem>> + Send + 'static,
) -> impl Future<Output = Result<Option<T>, Problem>> + Send {
    let place = (state.row.uid, state.snapshot.version());
    let opening = opening(gateway, place, requester, action, what);
    let done = recorded_as(gateway, vec![opening], change, |done| match done {
        Ok(Some(_)) => None,
        Ok(None) => Some(ErrorCode::PreconditionFailed),
        Err(error) => Some(Problem::code(error)),
    });
    async move { done.await? }
}
