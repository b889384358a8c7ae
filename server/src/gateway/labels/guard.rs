//! The project's expectations against a change of groups and states. A test that names what is renamed is held, after the
//! change, under the new name.

use chrono::{DateTime, Utc};
use toolgate_core::policy::groups::GroupSet;
use toolgate_core::policy_tests::{self as rules, GrantLookup, View};
use toolgate_core::principal::PrincipalRef;
use toolgate_core::rename::NameChange;
use toolgate_core::snapshot::ProjectSnapshot;

use super::effects;
use crate::gateway::policy_tests::{CurrentGrants, ignored, refusal};
use crate::gateway::server_snapshot::{ProjectState, ServerSnapshot};
use crate::gateway::{Gateway, Problem};

/// Grants with a change of names applied.
struct ChangedGrants<'a> {
    current: &'a CurrentGrants<'a>,
    names: &'a NameChange,
}

impl GrantLookup for ChangedGrants<'_> {
    fn grant_of(&self, principal: &PrincipalRef, at: DateTime<Utc>) -> Option<GroupSet> {
        let held = self.current.grant_of(principal, at)?;
        if !self.names.is_of_groups() {
            return Some(held);
        }
        Some(match self.names.of_list(&held.to_vec()) {
            Some(changed) => changed.into_iter().collect(),
            None => held,
        })
    }
}

/// Refuses a change that breaks an expectation which holds now; with `ignore`, says which it breaks.
pub(super) fn guard(
    gateway: &Gateway,
    server_snapshot: &ServerSnapshot,
    state: &ProjectState,
    names: Option<&NameChange>,
    ignore: bool,
    candidate: impl FnOnce() -> ProjectSnapshot,
) -> Result<Option<String>, Problem> {
    if state.policy_tests.is_empty() {
        return Ok(None);
    }
    let now = gateway.clock.now();
    let candidate = candidate();
    let current = CurrentGrants::new(&server_snapshot.directory, &state.row);
    let changed = names.map(|names| ChangedGrants {
        current: &current,
        names,
    });
    let before = View {
        snapshot: &state.snapshot,
        grants: &current,
    };
    let after = View {
        snapshot: &candidate,
        grants: match &changed {
            Some(changed) => changed,
            None => &current,
        },
    };
    let renames = names.filter(|names| {
        matches!(
            names,
            NameChange::RenameGroup { .. } | NameChange::RenameState { .. }
        )
    });
    let mut broken = Vec::new();
    for stored in state.policy_tests.iter() {
        let old = &stored.test;
        let held = rules::run(old, before, now);
        if !held.passed() {
            continue;
        }
        let renamed = renames.and_then(|names| effects::test(names, old));
        let holds = rules::run(renamed.as_ref().unwrap_or(old), after, now);
        if !holds.passed() {
            broken.push(rules::failed(old, &held, &holds));
        }
    }
    match (broken.is_empty(), ignore) {
        (true, _) => Ok(None),
        (false, true) => Ok(Some(ignored(&broken))),
        (false, false) => Err(refusal(broken)),
    }
}
