//! Reading records by what they say.
//!
//! The database narrows down by columns; what a filter means is decided by [`RecordFilter::matches`] alone, so that both
//! databases find the same. Ids are UUIDs of version 7 and the order of reading is the order of ids: a page is a range of the
//! index, and a time bounds it too.

use chrono::{DateTime, TimeDelta, Utc};
use toolgate_api::audit::AuditRecord;
use toolgate_core::ids::{CallId, ProjectUid};
use uuid::Uuid;

use crate::Store;
use crate::codec::{Word, micros};
use crate::db::both;
use crate::error::Result;
use crate::records::columns::{RecordColumns, select_records};
use crate::rows::{RecordFilter, RecordOrder, RecordPage, RecordRange};

/// Rows read at once when not all of them will match.
const CHUNK: u32 = 256;
/// The time of an id and that of its decision differ by less: the first is taken when the request arrives.
const SLACK: TimeDelta = TimeDelta::hours(1);

/// One chunk of records within a range of ids, in the order of ids.
macro_rules! chunk {
    ($order:literal) => {
        select_records!(concat!(
            "FROM records r LEFT JOIN completions c ON c.record_seq = r.seq
                 WHERE r.project_uid = $1 AND r.id >= $2 AND r.id <= $3
                   AND ($4 IS NULL OR r.action = $4)
                   AND ($5 IS NULL OR COALESCE(c.outcome, r.outcome) = $5)
                   AND ($6 IS NULL OR COALESCE(c.code, r.code) = $6)
                   AND ($7 IS NULL OR r.principal_id = $7)
                   AND ($8 IS NULL OR r.tool = $8)
                   AND ($9 IS NULL OR r.state_before = $9)
                   AND ($10 IS NULL OR r.session_id = $10)
                   AND r.at >= $11 AND r.at < $12
                 ORDER BY r.id ",
            $order,
            " LIMIT $13"
        ))
    };
}

impl Store {
    /// The records of a project that match a filter, newest first; those before a call if one is given. It looks as far
    /// as it takes.
    pub async fn records(
        &self,
        project: ProjectUid,
        filter: &RecordFilter,
        before: Option<CallId>,
        limit: u32,
    ) -> Result<Vec<AuditRecord>> {
        let range = RecordRange {
            order: RecordOrder::NewestFirst,
            after: before,
            before: None,
            limit,
            scan: u32::MAX,
        };
        Ok(self.record_page(project, filter, &range).await?.records)
    }

    /// One record.
    pub async fn record(&self, project: ProjectUid, id: CallId) -> Result<Option<AuditRecord>> {
        let row: Option<RecordColumns> = both!(self, |pool| {
            sqlx::query_as(select_records!(
                "FROM records r LEFT JOIN completions c ON c.record_seq = r.seq
                 WHERE r.project_uid = $1 AND r.id = $2"
            ))
            .bind(project.0)
            .bind(id.0)
            .fetch_optional(pool)
            .await?
        })
        .await?;
        row.map(AuditRecord::try_from).transpose()
    }

    /// The records of a project that match a filter, a page of them.
    ///
    /// A page looks at no more than `range.scan` records, so it may have fewer than `range.limit` and yet a `next`.
    pub async fn record_page(
        &self,
        project: ProjectUid,
        filter: &RecordFilter,
        range: &RecordRange,
    ) -> Result<RecordPage> {
        let mut span = Span::of(filter, range);
        let mut page = RecordPage::default();
        if span.is_empty() {
            return Ok(page);
        }
        let selective = !filter.is_empty();
        let far = if selective {
            self.nth_id(project, span, range.order, range.scan).await?
        } else {
            None
        };
        if let Some(far) = far {
            span = span.up_to(range.order, far);
        }
        let chunk = if selective { CHUNK } else { range.limit + 1 };
        loop {
            let rows = self.chunk(project, filter, span, range.order, chunk).await?;
            let full = rows.len() == chunk as usize;
            for row in rows {
                let record = AuditRecord::try_from(row)?;
                span = span.beyond(range.order, record.id);
                if !filter.matches(&record) {
                    continue;
                }
                if page.records.len() == range.limit as usize {
                    page.next = page.records.last().map(|last| CallId(last.id));
                    return Ok(page);
                }
                page.records.push(record);
            }
            if !full || span.is_empty() {
                page.next = far.map(CallId);
                return Ok(page);
            }
        }
    }

    async fn chunk(
        &self,
        project: ProjectUid,
        filter: &RecordFilter,
        span: Span,
        order: RecordOrder,
        limit: u32,
    ) -> Result<Vec<RecordColumns>> {
        let statement = match order {
            RecordOrder::NewestFirst => chunk!("DESC"),
            RecordOrder::OldestFirst => chunk!("ASC"),
        };
        both!(self, |pool| {
            sqlx::query_as(statement)
                .bind(project.0)
                .bind(span.low)
                .bind(span.high)
                .bind(filter.action.map(Word::word))
                .bind(filter.outcome.map(Word::word))
                .bind(filter.code.map(Word::word))
                .bind(filter.principal_id.as_deref())
                .bind(filter.tool.as_deref())
                .bind(filter.state_before.as_deref())
                .bind(filter.session.map(|session| session.0))
                .bind(filter.since.map_or(i64::MIN, micros))
                .bind(filter.until.map_or(i64::MAX, micros))
                .bind(i64::from(limit))
                .fetch_all(pool)
                .await?
        })
        .await
    }

    /// The id of the `n`th record of a span; `None` when it has fewer.
    async fn nth_id(
        &self,
        project: ProjectUid,
        span: Span,
        order: RecordOrder,
        n: u32,
    ) -> Result<Option<Uuid>> {
        let statement = match order {
            RecordOrder::NewestFirst => {
                "SELECT id FROM records WHERE project_uid = $1 AND id >= $2 AND id <= $3
                 ORDER BY id DESC LIMIT 1 OFFSET $4"
            }
            RecordOrder::OldestFirst => {
                "SELECT id FROM records WHERE project_uid = $1 AND id >= $2 AND id <= $3
                 ORDER BY id ASC LIMIT 1 OFFSET $4"
            }
        };
        both!(self, |pool| {
            sqlx::query_scalar(statement)
                .bind(project.0)
                .bind(span.low)
                .bind(span.high)
                .bind(i64::from(n.max(1)) - 1)
                .fetch_optional(pool)
                .await?
        })
        .await
    }
}

/// A range of ids, both ends included.
#[derive(Clone, Copy)]
struct Span {
    low: Uuid,
    high: Uuid,
}

impl Span {
    fn of(filter: &RecordFilter, range: &RecordRange) -> Self {
        let mut span = Self {
            low: filter.since.map_or(Uuid::nil(), |since| first_id(since - SLACK)),
            high: filter.until.map_or(Uuid::max(), |until| first_id(until + SLACK)),
        };
        if let Some(CallId(id)) = filter.id {
            (span.low, span.high) = (span.low.max(id), span.high.min(id));
        }
        if let Some(CallId(bound)) = range.before {
            span.high = span.high.min(before(bound));
        }
        if let Some(CallId(last)) = range.after {
            span = span.beyond(range.order, last);
        }
        span
    }

    fn is_empty(self) -> bool {
        self.low > self.high
    }

    /// What follows an id.
    fn beyond(mut self, order: RecordOrder, id: Uuid) -> Self {
        match order {
            RecordOrder::NewestFirst => self.high = self.high.min(before(id)),
            RecordOrder::OldestFirst => self.low = self.low.max(after(id)),
        }
        self
    }

    /// What does not follow an id.
    fn up_to(mut self, order: RecordOrder, id: Uuid) -> Self {
        match order {
            RecordOrder::NewestFirst => self.low = self.low.max(id),
            RecordOrder::OldestFirst => self.high = self.high.min(id),
        }
        self
    }
}

fn before(id: Uuid) -> Uuid {
    Uuid::from_u128(id.as_u128().saturating_sub(1))
}

fn after(id: Uuid) -> Uuid {
    Uuid::from_u128(id.as_u128().saturating_add(1))
}

/// The lowest id that could be made at a time.
fn first_id(at: DateTime<Utc>) -> Uuid {
    let millis = u64::try_from(at.timestamp_millis())
        .unwrap_or(0)
        .min((1 << 48) - 1);
    Uuid::from_u128(u128::from(millis) << 80)
}
