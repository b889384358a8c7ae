//! What is kept in memory about the principals of one project: their counters, their detectors, and which groups they
//! used.

use std::collections::HashMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use toolgate_core::alerts::{Event, Finding, PrincipalWatch};
use toolgate_core::ids::ProjectUid;
use toolgate_core::principal::{PrincipalKind, PrincipalRef};
use toolgate_store::rows::GroupUseRow;

use super::Observed;
use super::counts::{Counts, Outcome, Used};

/// Principals of each kind that are kept. When there are more, the least recently active are dropped at the next
/// flush; there are never more than twice as many.
const MAX_PRINCIPALS: usize = 10_000;
/// Groups of one principal whose use is kept.
const MAX_USES: usize = 1_000;

/// The principals of one project, by kind.
#[derive(Default)]
pub(super) struct Principals([HashMap<Box<str>, Watched>; 3]);

#[derive(Default)]
struct Watched {
    counts: Arc<Counts>,
    watch: PrincipalWatch,
    uses: HashMap<Box<str>, Use>,
}

struct Use {
    first_at: DateTime<Utc>,
    last_at: DateTime<Utc>,
    touched: bool,
}

impl Principals {
    /// Shows a request to the detectors of its principal. The principal's counters, and what was found; `None` when
    /// there are too many principals to remember this one.
    pub(super) fn observe(
        &mut self,
        seen: &Observed<'_>,
        outcome: Outcome,
        held_since: impl FnOnce() -> Option<DateTime<Utc>>,
    ) -> Option<(Arc<Counts>, Vec<Finding>)> {
        let principal = seen.requester.principal;
        let principals = &mut self.0[slot(principal.kind)];
        if !principals.contains_key(principal.id.as_str()) && principals.len() < 2 * MAX_PRINCIPALS {
            principals.insert(principal.id.as_str().into(), Watched::default());
        }
        let watched = principals.get_mut(principal.id.as_str())?;
        let event = Event {
            at: seen.at,
            is_key: principal.kind == PrincipalKind::ServiceKey,
            admitted: outcome == Outcome::Admitted,
            code: seen.code,
            missing: seen.missing,
            holds_any: seen.requester.granted.is_any(),
            address: seen.requester.origin.address,
        };
        let mut found = Vec::new();
        let rules = &seen.project.settings.alerts;
        watched.watch.observe(rules, &event, held_since, &mut found);
        if outcome != Outcome::Refused {
            for name in seen.requested {
                watched.used_group(name, seen);
            }
        }
        Some((Arc::clone(&watched.counts), found))
    }

    /// The counters of everyone, with their names.
    pub(super) fn counts(&self) -> impl Iterator<Item = (PrincipalKind, &str, &Counts)> {
        KINDS.into_iter().flat_map(|kind| {
            self.0[slot(kind)]
                .iter()
                .map(move |(id, watched)| (kind, &**id, &*watched.counts))
        })
    }

    /// Takes the uses of groups that are to be stored, and drops the least recently active principals when there are
    /// very many; the database keeps them.
    pub(super) fn take_uses(&mut self, project: ProjectUid, out: &mut Vec<GroupUseRow>) {
        for kind in KINDS {
            let principals = &mut self.0[slot(kind)];
            for (id, watched) in principals.iter_mut() {
                for (group, used) in watched.uses.iter_mut().filter(|(_, used)| used.touched) {
                    used.touched = false;
                    out.push(GroupUseRow {
                        project,
                        principal: name_of(kind, id),
                        group: group.to_string(),
                        first_at: used.first_at,
                        last_at: used.last_at,
                    });
                }
            }
            forget_silent(principals);
        }
    }

    /// The counters of one, made when it is new.
    pub(super) fn known(&mut self, principal: &PrincipalRef) -> &Counts {
        &self.entry(principal).counts
    }

    /// Takes over a use of a group that the database knows.
    pub(super) fn know_use(&mut self, principal: &PrincipalRef, row: &GroupUseRow) {
        let uses = &mut self.entry(principal).uses;
        uses.entry(row.group.as_str().into()).or_insert(Use {
            first_at: row.first_at,
            last_at: row.last_at,
            touched: false,
        });
    }

    /// What was counted of one.
    pub(super) fn used(&self, kind: PrincipalKind, id: &str) -> Option<Used> {
        Some(self.0[slot(kind)].get(id)?.counts.used())
    }

    fn entry(&mut self, principal: &PrincipalRef) -> &mut Watched {
        self.0[slot(principal.kind)]
            .entry(principal.id.as_str().into())
            .or_default()
    }
}

impl Watched {
    /// Remembers that a group was used. Whether it was the first time, the database knows.
    fn used_group(&mut self, name: &str, seen: &Observed<'_>) {
        if let Some(used) = self.uses.get_mut(name) {
            used.last_at = used.last_at.max(seen.at);
            used.touched = true;
        } else if self.uses.len() < MAX_USES && seen.project.snapshot.has_group(name) {
            let used = Use {
                first_at: seen.at,
                last_at: seen.at,
                touched: true,
            };
            self.uses.insert(name.into(), used);
        }
    }
}

const KINDS: [PrincipalKind; 3] = [
    PrincipalKind::User,
    PrincipalKind::ServiceKey,
    PrincipalKind::External,
];

const fn slot(kind: PrincipalKind) -> usize {
    match kind {
        PrincipalKind::User => 0,
        PrincipalKind::ServiceKey => 1,
        PrincipalKind::External => 2,
    }
}

/// A principal as it is stored.
pub(super) fn name_of(kind: PrincipalKind, id: &str) -> String {
    format!("{}:{id}", PrincipalRef::kind_word(kind))
}

/// Drops the least recently active principals when there are very many; the database keeps them.
fn forget_silent(principals: &mut HashMap<Box<str>, Watched>) {
    if principals.len() <= MAX_PRINCIPALS {
        return;
    }
    let mut times: Vec<_> = principals
        .values()
        .map(|watched| watched.counts.last_at())
        .collect();
    let kept = MAX_PRINCIPALS / 2;
    let (_, &mut newest_to_go, _) = times.select_nth_unstable_by(kept, |a, b| b.cmp(a));
    principals.retain(|_, watched| watched.counts.last_at() > newest_to_go || watched.counts.is_touched());
}
