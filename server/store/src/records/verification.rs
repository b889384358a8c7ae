//! Verifying the chains a part at a time, beside everything else that goes on: a part costs as much as it has entries,
//! however many there are.
//!
//! An entry of the table of completions is found by its record, which came before it. What was completed later than the part
//! reaches waits for its turn; what is still open is looked for again with every part.

use std::collections::{BTreeMap, BTreeSet};

use toolgate_core::ids::ProjectUid;
use uuid::Uuid;

use crate::Store;
use crate::codec::digest;
use crate::db::reading;
use crate::error::Result;
use crate::multirow::{MultiRow, chunks};
use crate::records::entry::seq;
use crate::records::verify::{
    ChainFault, ChainRow, EntryRow, Walk, begin, of_completions, of_records, removed,
};

const CHAINS: &str = "
    SELECT number, instance, started_at, ended_at, head_position, head_hash, first_position, first_hash
    FROM chains WHERE number >= $1 ORDER BY number";

/// The entries of a part, and the completions of its records, whenever they were made; those that another server made
/// are in its own chain.
const PART: &str = concat!(
    of_records!(),
    "WHERE seq > $1 AND seq <= $2 UNION ALL ",
    of_completions!(),
    "WHERE record_seq > $1 AND record_seq <= $2 AND closed_at IS NULL UNION ALL ",
    of_completions!(),
    "WHERE closed_at IS NOT NULL AND seq > $1 AND seq <= $2"
);

/// Completions whose records are not kept any more.
const OF_EARLIER: &str = concat!(
    of_records!(),
    "WHERE seq = 0 UNION ALL ",
    of_completions!(),
    "WHERE record_seq >= $1 AND record_seq <= $2 AND closed_at IS NULL"
);

/// The completions of records that were open.
static OF_OPEN: MultiRow = MultiRow::new(
    concat!(
        of_records!(),
        "WHERE seq = 0 UNION ALL ",
        of_completions!(),
        "WHERE record_seq IN (SELECT * FROM ("
    ),
    1,
    ") AS wanted)",
);

/// An entry that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FaultyEntry {
    /// Its chain.
    pub chain: i64,
    /// What is wrong with it.
    pub fault: ChainFault,
    /// The project of its record, where that is known.
    pub project: Option<ProjectUid>,
}

/// How far a verification has come. It ends with the first fault.
pub struct Verification {
    /// Chains that were begun and may still grow.
    growing: BTreeMap<i64, Growing>,
    /// The number of the first chain that was not begun.
    next: i64,
    entries: u64,
    fault: Option<FaultyEntry>,
}

impl Default for Verification {
    fn default() -> Self {
        Self {
            growing: BTreeMap::new(),
            next: 1,
            entries: 0,
            fault: None,
        }
    }
}

impl Verification {
    /// How many entries were verified.
    #[must_use]
    pub fn entries(&self) -> u64 {
        self.entries
    }

    /// The first entry that is wrong.
    #[must_use]
    pub fn fault(&self) -> Option<&FaultyEntry> {
        self.fault.as_ref()
    }

    /// Takes note of how the chains are now: the new ones, how far their servers have come, and what has gone.
    fn meet(&mut self, rows: &[ChainRow]) -> Result<()> {
        let known: BTreeSet<i64> = rows.iter().map(|row| row.number).collect();
        if let Some(&gone) = self.growing.keys().find(|number| !known.contains(number)) {
            self.found(&mut removed(gone));
            return Ok(());
        }
        for row in rows {
            if let Some(growing) = self.growing.get_mut(&row.number) {
                growing.meet(row)?;
            } else if row.number == self.next {
                self.growing.insert(row.number, Growing::new(begin(row)?));
                self.next += 1;
            } else if row.number > self.next {
                // Numbers are given without gaps.
                self.found(&mut removed(self.next));
                return Ok(());
            }
        }
        Ok(())
    }

    fn found(&mut self, walk: &mut Walk) {
        if let Some(fault) = walk.report.fault.take() {
            self.fault = Some(FaultyEntry {
                chain: walk.report.chain,
                fault,
                project: None,
            });
        }
    }
}

/// A chain on the way.
struct Growing {
    walk: Walk,
    /// Whether what is left of calls whose records are gone was looked for.
    begun: bool,
    /// Records that had no completion yet.
    open: BTreeSet<i64>,
    /// Completions whose turn has not come.
    waiting: Vec<EntryRow>,
}

impl Growing {
    fn new(walk: Walk) -> Self {
        Self {
            walk,
            begun: false,
            open: BTreeSet::new(),
            waiting: Vec::new(),
        }
    }

    fn meet(&mut self, row: &ChainRow) -> Result<()> {
        self.walk.head = Some(row.head()?);
        self.walk.ended = row.ended_at.is_some();
        // What has gone meanwhile need not be verified, and the chain has the hash before the rest.
        if row.first_position - 1 > self.walk.report.last_position {
            self.walk.hash = digest(&row.first_hash)?;
            self.walk.report.last_position = row.first_position - 1;
            let first = seq(row.number, row.first_position);
            self.open.retain(|record| *record >= first);
            // What is left of calls whose records have gone is looked up again.
            self.waiting
                .retain(|entry| entry.record_seq.is_some_and(|record| record >= first));
            self.begun = false;
        }
        Ok(())
    }

    /// Goes on with the entries of a part, which ends at `until`.
    fn walk(&mut self, found: Vec<EntryRow>, until: i64) {
        let mut part = Vec::with_capacity(found.len());
        for entry in found {
            match entry.record_seq {
                None => {
                    if entry.outcome == "open" {
                        self.open.insert(entry.seq);
                    }
                    part.push(entry);
                }
                // It is in the chain of the server that made it, which may be this one.
                Some(_) if entry.closed_at.is_some() => part.push(entry),
                Some(_) => self.waiting.push(entry),
            }
        }
        for entry in &self.waiting {
            self.open.remove(&entry.record_seq.unwrap_or_default());
        }
        let (now, later) = std::mem::take(&mut self.waiting)
            .into_iter()
            .partition(|entry| entry.seq <= until);
        self.waiting = later;
        part.extend::<Vec<_>>(now);
        part.sort_by_key(|entry| entry.seq);
        for entry in &part {
            self.walk.see(entry);
        }
    }
}

impl Store {
    /// Verifies up to so many further entries, in one state of the database; whether that was all there is. What is added
    /// later can be verified by going on.
    ///
    /// It finds what [`Self::verify_chains`] finds, but for an entry that is changed after its turn: start again from
    /// time to time.
    pub async fn verify_some(&self, so_far: &mut Verification, most: u32) -> Result<bool> {
        if so_far.fault.is_some() {
            return Ok(true);
        }
        let first = so_far.growing.keys().next().copied().unwrap_or(so_far.next);
        reading!(self, |tx| {
            let rows: Vec<ChainRow> = sqlx::query_as(CHAINS).bind(first).fetch_all(&mut *tx).await?;
            so_far.meet(&rows)?;
            let mut left = i64::from(most);
            let mut complete = true;
            let numbers: Vec<i64> = so_far.growing.keys().copied().collect();
            for number in numbers {
                let Some(growing) = so_far.growing.get_mut(&number) else {
                    continue;
                };
                if left <= 0 || so_far.fault.is_some() {
                    complete = false;
                    break;
                }
                let start = growing.walk.report.last_position;
                let until = start + left;
                let range = (seq(number, start), seq(number, until));
                let mut found: Vec<EntryRow> = sqlx::query_as(PART)
                    .bind(range.0)
                    .bind(range.1)
                    .fetch_all(&mut *tx)
                    .await?;
                if !growing.begun {
                    let earlier: Vec<EntryRow> = sqlx::query_as(OF_EARLIER)
                        .bind(seq(number, 0))
                        .bind(range.0)
                        .fetch_all(&mut *tx)
                        .await?;
                    found.extend(earlier);
                }
                let open: Vec<i64> = growing.open.iter().copied().collect();
                for chunk in chunks(&open) {
                    let mut query = sqlx::query_as::<_, EntryRow>(OF_OPEN.sql(self, chunk.len()));
                    for record in chunk {
                        query = query.bind(*record);
                    }
                    let completed = query.fetch_all(&mut *tx).await?;
                    for entry in &completed {
                        growing.open.remove(&entry.record_seq.unwrap_or_default());
                    }
                    found.extend(completed.into_iter().filter(|entry| entry.closed_at.is_none()));
                }
                growing.begun = true;
                growing.walk(found, range.1);
                let reached = growing.walk.report.last_position;
                if growing.walk.report.fault.is_none() && reached < until {
                    growing.walk.end();
                } else {
                    complete = false;
                }
                so_far.entries += (reached - start).unsigned_abs();
                left -= reached - start;
                if growing.walk.report.fault.is_some() {
                    let record = growing.walk.of_record.map_or_else(
                        || {
                            growing
                                .walk
                                .report
                                .fault
                                .as_ref()
                                .map(|fault| seq(number, fault.position))
                        },
                        Some,
                    );
                    let of_call: Option<(Uuid, Uuid)> =
                        sqlx::query_as("SELECT id, project_uid FROM records WHERE seq = $1")
                            .bind(record.unwrap_or_default())
                            .fetch_optional(&mut *tx)
                            .await?;
                    if let Some(mut fault) = growing.walk.report.fault.take() {
                        fault.call_id = of_call.map(|(id, _)| id);
                        so_far.fault = Some(FaultyEntry {
                            chain: number,
                            fault,
                            project: of_call.map(|(_, project)| ProjectUid(project)),
                        });
                    }
                } else if growing.walk.ended && growing.walk.head.is_some_and(|(head, _)| head == reached) {
                    so_far.growing.remove(&number);
                }
            }
            if so_far.fault.is_none() {
                let beyond: Option<i64> = sqlx::query_scalar("SELECT MIN(seq) FROM records WHERE seq >= $1")
                    .bind(seq(so_far.next, 0))
                    .fetch_one(&mut *tx)
                    .await?;
                if beyond.is_some() {
                    so_far.found(&mut removed(so_far.next));
                }
            }
            complete || so_far.fault.is_some()
        })
        .await
    }
}
