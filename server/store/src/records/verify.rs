//! Verifying the chains: every entry from the first that is kept to the last that is known.

use std::fmt;

use chrono::{DateTime, Utc};
use futures_util::TryStreamExt;
use serde::Serialize;
use uuid::Uuid;

use crate::Store;
use crate::codec::{digest, time};
use crate::db::Db;
use crate::error::Result;
use crate::records::entry::{CompletionEntry, Hash, RecordEntry, genesis, place};

/// What a chain looks like.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChainReport {
    /// Counts the runs of servers from 1.
    pub chain: i64,
    /// The server; absent when the chain itself is missing.
    pub instance: Option<Uuid>,
    /// When it started.
    pub started_at: Option<DateTime<Utc>>,
    /// The position of the first entry that is kept.
    pub first_position: i64,
    /// The position of the last entry that was verified.
    pub last_position: i64,
    /// How many entries were verified.
    pub entries: u64,
    /// The first entry that is wrong; absent when all are as they were written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<ChainFault>,
}

impl fmt::Display for ChainReport {
    /// `chain 3: 120 entries, 1 to 120, whole`, or what is wrong.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            chain,
            entries,
            first_position,
            last_position,
            ..
        } = self;
        write!(f, "chain {chain}: {entries} entries")?;
        if *entries > 0 {
            write!(f, ", {first_position} to {last_position}")?;
        }
        let Some(fault) = &self.fault else {
            return f.write_str(", whole");
        };
        let what = match fault.why {
            ChainFaultKind::Changed => "is not what was written",
            ChainFaultKind::Missing => "is missing",
            ChainFaultKind::Head => "is not the end that the server stored",
        };
        write!(f, "; WRONG: entry {} {what}", fault.position)?;
        match fault.call_id {
            Some(call) => write!(f, " (call {call})"),
            None => Ok(()),
        }
    }
}

/// The first wrong entry of a chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChainFault {
    /// Its position; entries before it are as they were written.
    pub position: i64,
    /// What is wrong.
    pub why: ChainFaultKind,
    /// The call, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_id: Option<Uuid>,
}

/// What is wrong with an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChainFaultKind {
    /// It is not what was written at this position.
    Changed,
    /// It is not there.
    Missing,
    /// The end of the chain is not the one that its server stored.
    Head,
}

/// A row of either table.
#[derive(sqlx::FromRow)]
pub(super) struct EntryRow {
    pub(super) seq: i64,
    pub(super) record_seq: Option<i64>,
    pub(super) project_uid: Option<Uuid>,
    pub(super) id: Option<Uuid>,
    at: Option<i64>,
    action: Option<String>,
    pub(super) outcome: String,
    code: Option<String>,
    principal_kind: Option<String>,
    principal_id: Option<String>,
    tool: Option<String>,
    revision: Option<i64>,
    snapshot_version: Option<i64>,
    state_before: Option<String>,
    session_id: Option<Uuid>,
    duration_ms: Option<i64>,
    detail: Option<String>,
    state_after: Option<String>,
    state_conflict: Option<bool>,
    pub(super) closed_at: Option<i64>,
    usage: Option<String>,
    notes: Option<String>,
    hash: Vec<u8>,
}

impl EntryRow {
    fn hash(&self, previous: &Hash) -> Hash {
        match self.record_seq {
            Some(record_seq) => CompletionEntry {
                record_seq,
                seq: self.seq,
                outcome: &self.outcome,
                code: self.code.as_deref(),
                state_after: self.state_after.as_deref().unwrap_or_default(),
                state_conflict: self.state_conflict.unwrap_or_default(),
                duration_ms: self.duration_ms,
                closed_at: self.closed_at,
                usage: self.usage.as_deref(),
                notes: self.notes.as_deref(),
            }
            .hash(previous),
            None => RecordEntry {
                seq: self.seq,
                project: self.project_uid.unwrap_or_default(),
                id: self.id.unwrap_or_default(),
                at: self.at.unwrap_or_default(),
                action: self.action.as_deref().unwrap_or_default(),
                outcome: &self.outcome,
                code: self.code.as_deref(),
                principal_kind: self.principal_kind.as_deref().unwrap_or_default(),
                principal_id: self.principal_id.as_deref().unwrap_or_default(),
                tool: self.tool.as_deref(),
                revision: self.revision,
                snapshot_version: self.snapshot_version.unwrap_or_default(),
                state_before: self.state_before.as_deref().unwrap_or_default(),
                session: self.session_id,
                duration_ms: self.duration_ms,
                detail: self.detail.as_deref().unwrap_or_default(),
            }
            .hash(previous),
        }
    }
}

/// The columns of an entry in the table of records.
macro_rules! of_records {
    () => {
        "SELECT seq, NULL AS record_seq, project_uid, id, at, action, outcome, code, principal_kind, principal_id, tool,
                revision, snapshot_version, state_before, session_id, duration_ms, detail, NULL AS state_after,
                NULL AS state_conflict, NULL AS closed_at, NULL AS usage, NULL AS notes, hash
         FROM records "
    };
}

/// The same columns of an entry in the table of completions. Put it after [`of_records`], so that each column has a type.
macro_rules! of_completions {
    () => {
        "SELECT seq, record_seq, NULL, NULL, NULL, NULL, outcome, code, NULL, NULL, NULL,
                NULL, NULL, NULL, NULL, duration_ms, NULL, state_after,
                state_conflict, closed_at, usage, notes, hash
         FROM completions "
    };
}
pub(super) use {of_completions, of_records};

/// Both tables as one, in the order of the chains.
const ENTRIES: &str = concat!(of_records!(), "UNION ALL ", of_completions!(), "ORDER BY seq");

const CHAINS: &str = "
    SELECT number, instance, started_at, ended_at, head_position, head_hash, first_position, first_hash
    FROM chains ORDER BY number";

#[derive(sqlx::FromRow)]
pub(super) struct ChainRow {
    pub(super) number: i64,
    instance: Uuid,
    started_at: i64,
    pub(super) ended_at: Option<i64>,
    head_position: i64,
    head_hash: Vec<u8>,
    pub(super) first_position: i64,
    pub(super) first_hash: Vec<u8>,
}

impl ChainRow {
    /// The last entry that its server stored.
    pub(super) fn head(&self) -> Result<(i64, Hash)> {
        Ok((self.head_position, digest(&self.head_hash)?))
    }
}

/// Reads everything once, in one state of the database. It may take minutes, so there is no limit of time.
macro_rules! walk {
    ($tx:expr) => {{
        let chains: Vec<ChainRow> = sqlx::query_as(CHAINS).fetch_all(&mut *$tx).await?;
        let mut walker = Walker::new(chains);
        {
            let mut rows = sqlx::query_as::<_, EntryRow>(ENTRIES).fetch(&mut *$tx);
            while let Some(row) = rows.try_next().await? {
                walker.see(&row)?;
            }
        }
        let (mut reports, unnamed) = walker.finish()?;
        for (index, record) in unnamed {
            let id: Option<Uuid> = sqlx::query_scalar("SELECT id FROM records WHERE seq = $1")
                .bind(record)
                .fetch_optional(&mut *$tx)
                .await?;
            if let Some(fault) = reports.get_mut(index).and_then(|report| report.fault.as_mut()) {
                fault.call_id = id;
            }
        }
        reports
    }};
}

impl Store {
    /// Verifies every chain of records, in one state of the database and with bounded memory: that each entry is what was
    /// written, in its place, and that none is missing up to the last that the server's heartbeat has stored (or its end).
    ///
    /// What cannot be noticed: entries of the last seconds before a crash that are removed before another server has
    /// noticed the crash; and changes by someone who computes all later hashes again and stores new heads, for which
    /// the reports of an earlier verification must be compared.
    pub async fn verify_chains(&self) -> Result<Vec<ChainReport>> {
        match self.db() {
            Db::Lite(lite) => {
                let mut tx = lite.read.begin().await?;
                Ok(walk!(tx))
            }
            Db::Pg(pool) => {
                let mut tx = pool
                    .begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
                    .await?;
                sqlx::query("SET LOCAL statement_timeout = 0")
                    .execute(&mut *tx)
                    .await?;
                Ok(walk!(tx))
            }
        }
    }
}

/// Goes along the chains.
struct Walker {
    chains: std::vec::IntoIter<ChainRow>,
    at: Option<Walk>,
    reports: Vec<ChainReport>,
    /// Faults in completions: the index of the report and the record, whose call is looked up.
    unnamed: Vec<(usize, i64)>,
}

/// What a walk found: a report for each chain, and for each fault without a name its chain's report and its record.
type Walked = (Vec<ChainReport>, Vec<(usize, i64)>);

/// A chain on the way.
pub(super) struct Walk {
    pub(super) report: ChainReport,
    /// The last entry that its server stored, unless the chain is unknown.
    pub(super) head: Option<(i64, Hash)>,
    pub(super) ended: bool,
    pub(super) hash: Hash,
    pub(super) of_record: Option<i64>,
}

impl Walk {
    /// The next entry.
    pub(super) fn see(&mut self, row: &EntryRow) {
        if self.report.fault.is_some() {
            return;
        }
        let (_, position) = place(row.seq);
        let expected = self.report.last_position + 1;
        let hash = row.hash(&self.hash);
        if position > expected {
            self.fault(expected, ChainFaultKind::Missing, None);
        } else if position < expected || hash[..] != row.hash[..] {
            self.fault(position, ChainFaultKind::Changed, row.id);
            self.of_record = row.record_seq;
        } else if self
            .head
            .is_some_and(|(head, stored)| head == position && stored != hash)
            || self.head.is_some_and(|(head, _)| self.ended && position > head)
        {
            self.fault(position, ChainFaultKind::Head, row.id);
            self.of_record = row.record_seq;
        } else {
            self.hash = hash;
            self.report.last_position = position;
            self.report.entries += 1;
        }
    }

    /// There are no further entries: the last one must be the head, or come after it.
    pub(super) fn end(&mut self) {
        let last = self.report.last_position;
        if self.report.fault.is_none()
            && let Some((head, hash)) = self.head
        {
            if last < head {
                self.fault(last + 1, ChainFaultKind::Missing, None);
            } else if last == head && self.hash != hash {
                self.fault(last, ChainFaultKind::Head, None);
            }
        }
    }

    fn fault(&mut self, position: i64, why: ChainFaultKind, call_id: Option<Uuid>) {
        self.report.fault = Some(ChainFault {
            position,
            why,
            call_id,
        });
    }
}

impl Walker {
    fn new(chains: Vec<ChainRow>) -> Self {
        Self {
            chains: chains.into_iter(),
            at: None,
            reports: Vec::new(),
            unnamed: Vec::new(),
        }
    }

    /// The next entry, in the order of `seq`.
    fn see(&mut self, row: &EntryRow) -> Result<()> {
        self.go_to(place(row.seq).0)?;
        if let Some(walk) = &mut self.at {
            walk.see(row);
        }
        Ok(())
    }

    /// Ends the chains before `chain`, and begins with it.
    fn go_to(&mut self, chain: i64) -> Result<()> {
        while self.at.as_ref().is_none_or(|walk| walk.report.chain < chain) {
            let reached = self.leave();
            // Numbers are given without gaps, so one that is not there was removed.
            let next = reached + 1;
            let known = self.chains.as_slice().first().map(|row| row.number);
            self.at = Some(match known {
                Some(number) if number == next => match self.chains.next() {
                    Some(row) => begin(&row)?,
                    None => return Ok(()),
                },
                Some(number) => removed(next.min(number)),
                None => removed(next.max(chain)),
            });
        }
        Ok(())
    }

    /// Ends the chain that it is at; its number, or 0 when there was none.
    fn leave(&mut self) -> i64 {
        let Some(mut walk) = self.at.take() else { return 0 };
        walk.end();
        let number = walk.report.chain;
        if let (Some(record), Some(_)) = (walk.of_record, &walk.report.fault) {
            self.unnamed.push((self.reports.len(), record));
        }
        self.reports.push(walk.report);
        number
    }

    fn finish(mut self) -> Result<Walked> {
        if let Some(last) = self.chains.as_slice().last().map(|row| row.number) {
            self.go_to(last)?;
        }
        self.leave();
        Ok((self.reports, self.unnamed))
    }
}

pub(super) fn begin(row: &ChainRow) -> Result<Walk> {
    let hash = digest(&row.first_hash)?;
    let mut walk = Walk {
        report: ChainReport {
            chain: row.number,
            instance: Some(row.instance),
            started_at: Some(time(row.started_at)?),
            first_position: row.first_position,
            last_position: row.first_position - 1,
            entries: 0,
            fault: None,
        },
        head: Some(row.head()?),
        ended: row.ended_at.is_some(),
        hash,
        of_record: None,
    };
    if row.first_position == 1 && hash != genesis(row.number, row.instance) {
        walk.fault(1, ChainFaultKind::Changed, None);
    }
    Ok(walk)
}

/// A chain whose own row is not there.
pub(super) fn removed(number: i64) -> Walk {
    let mut walk = Walk {
        report: ChainReport {
            chain: number,
            instance: None,
            started_at: None,
            first_position: 1,
            last_position: 0,
            entries: 0,
            fault: None,
        },
        head: None,
        ended: false,
        hash: [0; 32],
        of_record: None,
    };
    walk.fault(1, ChainFaultKind::Missing, None);
    walk
}
