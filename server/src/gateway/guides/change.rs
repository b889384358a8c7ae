//! Writing, replacing and removing guides.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};
use toolgate_api::audit::AuditAction;
use toolgate_api::guides::{GuideDefinition, GuideItem};
use toolgate_api::tools::UploadOutcome;
use toolgate_api::{Diagnostic, ErrorCode};
use toolgate_core::guides::{MAX_GUIDES, check};
use toolgate_core::ids::ProjectId;
use toolgate_store::{GuideChange, StoreError};

use super::{find, not_found};
use crate::gateway::change_record::recorded;
use crate::gateway::problem::faults_in;
use crate::gateway::publish::{current, too_busy, turn};
use crate::gateway::record::Requester;
use crate::gateway::server_snapshot::ProjectState;
use crate::gateway::{Gateway, Problem};

/// How often a change is computed again because another one was faster.
const ATTEMPTS: usize = 16;

/// Stores the guides of an upload, replacing those of the same ids.
///
/// # Errors
/// [`ErrorCode::InvalidRequest`] when the project would have too many.
pub async fn upload(
    gateway: &Arc<Gateway>,
    project: &ProjectId,
    requester: &Requester<'_>,
    guides: BTreeMap<String, GuideDefinition>,
) -> Result<Vec<GuideItem>, Problem> {
    let _turn = turn(gateway, project).await?;
    for _ in 0..ATTEMPTS {
        let state = current(gateway, project)?;
        let outcome = |(id, guide): (&String, &GuideDefinition)| GuideItem {
            id: id.clone(),
            outcome: match find(&state, id) {
                None => UploadOutcome::Created,
                Some(stored) if stored.definition == *guide => UploadOutcome::Unchanged,
                Some(_) => UploadOutcome::Replaced,
            },
        };
        let items: Vec<GuideItem> = guides.iter().map(outcome).collect();
        let created = items.iter().filter(|item| item.outcome == UploadOutcome::Created);
        bounded(state.guides.len() + created.count())?;
        let changed = |item: &&GuideItem| item.outcome != UploadOutcome::Unchanged;
        let put: Vec<(String, GuideDefinition)> = items
            .iter()
            .filter(changed)
            .filter_map(|item| Some((item.id.clone(), guides.get(&item.id)?.clone())))
            .collect();
        if put.is_empty() || commit(gateway, &state, requester, put, Vec::new()).await? {
            return Ok(items);
        }
    }
    Err(too_busy())
}

/// Makes one guide, or replaces it; whether it is new. `matches` gets the revision of what is there.
///
/// # Errors
/// What `matches` answers; [`ErrorCode::InvalidRequest`] with every fault of the guide.
pub async fn put(
    gateway: &Arc<Gateway>,
    project: &ProjectId,
    requester: &Requester<'_>,
    id: &str,
    guide: GuideDefinition,
    matches: impl Fn(Option<i64>) -> Result<(), Problem>,
) -> Result<bool, Problem> {
    let faults = check(id, &guide);
    if !faults.is_empty() {
        return Err(invalid(faults));
    }
    let _turn = turn(gateway, project).await?;
    for _ in 0..ATTEMPTS {
        let state = current(gateway, project)?;
        let stored = find(&state, id);
        matches(stored.map(|stored| stored.revision))?;
        if stored.is_some_and(|stored| stored.definition == guide) {
            return Ok(false);
        }
        let is_new = stored.is_none();
        bounded(state.guides.len() + usize::from(is_new))?;
        let put = vec![(id.to_owned(), guide.clone())];
        if commit(gateway, &state, requester, put, Vec::new()).await? {
            return Ok(is_new);
        }
    }
    Err(too_busy())
}

/// Removes one guide. `matches` gets its revision.
///
/// # Errors
/// What `matches` answers; 404 when there is none.
pub async fn remove(
    gateway: &Arc<Gateway>,
    project: &ProjectId,
    requester: &Requester<'_>,
    id: &str,
    matches: impl Fn(i64) -> Result<(), Problem>,
) -> Result<(), Problem> {
    let _turn = turn(gateway, project).await?;
    for _ in 0..ATTEMPTS {
        let state = current(gateway, project)?;
        let stored = find(&state, id).ok_or_else(|| not_found(id))?;
        matches(stored.revision)?;
        if commit(gateway, &state, requester, Vec::new(), vec![id.to_owned()]).await? {
            return Ok(());
        }
    }
    Err(too_busy())
}

/// Every fault of refused guides.
#[must_use]
pub fn invalid(errors: Vec<Diagnostic>) -> Problem {
    let detail = faults_in("guides", errors.len());
    Problem::new(ErrorCode::InvalidRequest, detail).errors(errors)
}

fn bounded(guides: usize) -> Result<(), Problem> {
    if guides <= MAX_GUIDES {
        return Ok(());
    }
    Err(Problem::new(
        ErrorCode::InvalidRequest,
        format!("A project keeps at most {MAX_GUIDES} guides; nothing was stored. Remove some first."),
    ))
}

/// Commits against the version of `state`; `false` when the database has a newer one, which is then loaded.
async fn commit(
    gateway: &Arc<Gateway>,
    state: &ProjectState,
    requester: &Requester<'_>,
    put: Vec<(String, GuideDefinition)>,
    remove: Vec<String>,
) -> Result<bool, Problem> {
    let what = what(state, &put, &remove);
    let change = GuideChange {
        project: state.row.uid,
        expected_version: state.snapshot.version(),
        put,
        remove,
        author: requester.principal.name.clone(),
        at: gateway.clock.now(),
    };
    let task = Arc::clone(gateway);
    let committed = recorded(
        gateway,
        state,
        requester,
        AuditAction::Definition,
        what,
        async move {
            let committed = match task.store.change_guides(&change).await {
                Ok(_version) => Some(()),
                Err(StoreError::VersionConflict) => None,
                Err(error) => return Err(error.into()),
            };
            task.snapshots.refresh().await?;
            Ok(committed)
        },
    );
    Ok(committed.await?.is_some())
}

/// What is recorded: each guide with its revision and what it is about, before and after; not the texts.
fn what(state: &ProjectState, put: &[(String, GuideDefinition)], remove: &[String]) -> Value {
    let short = |guide: &GuideDefinition| json!({"summary": guide.summary, "group": guide.group, "source": guide.source, "bytes": guide.text.len()});
    let before = |id: &str| {
        let stored = find(state, id)?;
        let mut before = short(&stored.definition);
        before["revision"] = json!(stored.revision);
        Some(before)
    };
    let put = put
        .iter()
        .map(|(id, guide)| json!({"id": id, "before": before(id), "after": short(guide)}));
    let removed = remove
        .iter()
        .map(|id| json!({"id": id, "before": before(id), "after": null}));
    let guides: Vec<Value> = put.chain(removed).collect();
    json!({"change": "guides", "count": guides.len(), "guides": guides})
}
