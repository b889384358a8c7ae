//! The egress list of a project: what its tools may connect to beside what every tool of the server may.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::json;
use toolgate_api::egress::ProjectEgress;
use toolgate_api::{Diagnostic, ErrorCode};
use toolgate_core::principal::Permission;
use toolgate_executors::{EgressError, EgressPolicy, Origins};
use toolgate_store::StoreError;
use toolgate_store::rows::{Replacement, Revised};
use url::Url;

use super::access::{self, Actor, Place};
use super::server_snapshot::ProjectState;
use crate::gateway::{Gateway, Problem};

/// Entries of one list.
const MAX_ENTRIES: usize = 1000;

/// The list of a project, made ready.
#[derive(Debug, Clone, Default)]
pub struct LoadedEgress {
    /// As it is written.
    pub list: ProjectEgress,
    /// Counts from 1; 0 while none was ever set.
    pub revision: i64,
    origins: Option<Arc<Origins>>,
}

impl LoadedEgress {
    /// Reads the entries once, so that no call has to.
    #[must_use]
    pub fn new(stored: Revised<ProjectEgress>) -> Self {
        let origins = Origins::of(stored.value.hosts.iter().map(String::as_str));
        Self {
            list: stored.value,
            revision: stored.revision,
            origins: (!origins.is_empty()).then(|| Arc::new(origins)),
        }
    }

    /// For a call; `None` when the list is empty.
    #[must_use]
    pub fn origins(&self) -> Option<Arc<Origins>> {
        self.origins.clone()
    }

    /// Whether calls of the project may go to a URL. The addresses behind its host are checked when they are dialled.
    ///
    /// # Errors
    /// Why they may not.
    pub fn permits(&self, server: &EgressPolicy, url: &Url) -> Result<(), EgressError> {
        server.permits_with(url, self.origins.as_deref())
    }
}

/// Replaces the list; its new revision, and how it is written. `expected` is the revision it was made from, if it matters.
/// The change is on the record of the project and of the server.
///
/// # Errors
/// 422 with every entry that cannot be on a list; 412 when the list has changed.
pub async fn replace(
    gateway: &Arc<Gateway>,
    actor: Actor<'_>,
    project: &ProjectState,
    list: &ProjectEgress,
    expected: Option<i64>,
) -> Result<(i64, ProjectEgress), Problem> {
    let list = checked(&gateway.egress, list)?;
    let place = Place::fresh(gateway, actor, project, Permission::ManagePolicy).await?;
    let what = json!({
        "change": "egress_replaced",
        "project": place.project.row.id.as_str(),
        "before": place.project.egress.list.hosts,
        "after": list.hosts,
    });
    let openings = vec![
        access::server_opening(gateway, actor, &what),
        access::opening(gateway, &place, actor, &what),
    ];
    let (store, clock) = (gateway.store.clone(), Arc::clone(&gateway.clock));
    let (uid, id) = (place.project.row.uid, place.project.row.id.clone());
    let author = actor.identity.principal.name.clone();
    access::carry_out(gateway, openings, async move {
        let replacement = Replacement {
            value: &list,
            expected,
            author: &author,
        };
        match store.put_egress(uid, &replacement, clock.now()).await {
            Ok(revision) => Ok((revision, list)),
            Err(StoreError::VersionConflict) => Err(Problem::new(
                ErrorCode::PreconditionFailed,
                "The egress list has changed since you read it. Read it again and merge.",
            )),
            Err(StoreError::NotFound { .. }) => Err(Problem::not_found(format!("project \"{id}\""))),
            Err(error) => Err(error.into()),
        }
    })
    .await
}

/// The list as it is stored: each origin once, sorted.
pub(super) fn checked(server: &EgressPolicy, list: &ProjectEgress) -> Result<ProjectEgress, Problem> {
    let mut hosts = BTreeSet::new();
    let mut faults = Vec::new();
    if list.hosts.len() > MAX_ENTRIES {
        faults.push(Diagnostic::error(format!("has more than {MAX_ENTRIES} entries")).at_pointer("/hosts"));
    }
    for (at, entry) in list.hosts.iter().enumerate().take(MAX_ENTRIES) {
        match server.check_entry(entry) {
            Ok(origin) => {
                hosts.insert(origin);
            }
            Err(reason) => faults.push(
                Diagnostic::error(reason)
                    .hint("an entry is an exact origin: https://api.example.com")
                    .at_pointer(format!("/hosts/{at}")),
            ),
        }
    }
    if faults.is_empty() {
        return Ok(ProjectEgress {
            hosts: hosts.into_iter().collect(),
        });
    }
    Err(Problem::new(
        ErrorCode::InvalidRequest,
        "The egress list is invalid; nothing was saved. `errors` names each fault.",
    )
    .errors(faults))
}
