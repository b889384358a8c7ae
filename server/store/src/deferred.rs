//! Calls that any server may complete, until one has done so.

use uuid::Uuid;

use crate::Store;
use crate::codec::{micros, text, time};
use crate::db::{both, execute, writing};
use crate::error::Result;
use crate::rows::{Claim, DeferredCall, OpenDeferral, RecordSeq};
use toolgate_core::ids::{CallId, ProjectUid};

/// A deferred call with the number of its cancellations.
type Columns = (i64, Uuid, Uuid, i64, String, i64);

/// Those whose records are open, with a further condition.
macro_rules! open {
    ($condition:literal) => {
        concat!(
            "SELECT d.record_seq, d.project_uid, d.call_id, d.until, d.begun,
                    (SELECT COUNT(*) FROM call_cancellations x
                     WHERE x.project_uid = d.project_uid AND x.call_id = d.call_id)
             FROM deferred_calls d
             WHERE NOT EXISTS (SELECT 1 FROM completions c WHERE c.record_seq = d.record_seq)",
            $condition,
            " ORDER BY d.record_seq"
        )
    };
}
const OPEN: &str = open!("");
/// One of them, found by its index.
const ONE: &str = open!(" AND d.project_uid = $1 AND d.call_id = $2");

impl Store {
    /// Notes that any server may complete a call whose record is open. From now on the record is not closed as interrupted.
    /// `claim` makes room for the answer of a call that has no idempotency key of its caller's.
    pub async fn defer(&self, deferred: &DeferredCall, claim: Option<&Claim>) -> Result<()> {
        let instance = self.inner.instance.get().copied();
        writing!(self, |tx| {
            execute!(
                tx,
                "INSERT INTO deferred_calls (record_seq, project_uid, call_id, until, begun)
                 VALUES ($1, $2, $3, $4, $5)",
                deferred.record.0,
                deferred.project.0,
                deferred.call.0,
                micros(deferred.until),
                deferred.begun.as_str(),
            );
            if let Some(claim) = claim {
                execute!(
                    tx,
                    "INSERT INTO idempotency_claims
                         (project_uid, principal_id, request_key, fingerprint, call_id, instance, expires_at)
                     VALUES ($1, $2, $3, $4, $5, $6, $7)",
                    claim.key.project.0,
                    text(&claim.key.principal_id),
                    text(&claim.key.key),
                    claim.fingerprint.as_slice(),
                    claim.call.0,
                    instance,
                    micros(claim.expires_at),
                );
            }
        })
        .await
    }

    /// A deferred call, while its record is open.
    pub async fn deferred_call(&self, project: ProjectUid, call: CallId) -> Result<Option<DeferredCall>> {
        let found = self.open_deferred(Some((project, call))).await?;
        Ok(found.into_iter().next().map(|open| open.deferred))
    }

    /// All deferred calls whose records are open, the oldest record first.
    pub async fn open_deferrals(&self) -> Result<Vec<OpenDeferral>> {
        self.open_deferred(None).await
    }

    async fn open_deferred(&self, one: Option<(ProjectUid, CallId)>) -> Result<Vec<OpenDeferral>> {
        let rows: Vec<Columns> = both!(self, |pool| {
            match one {
                None => sqlx::query_as(OPEN).fetch_all(pool).await?,
                Some((project, call)) => {
                    sqlx::query_as(ONE)
                        .bind(project.0)
                        .bind(call.0)
                        .fetch_all(pool)
                        .await?
                }
            }
        })
        .await?;
        let open = |(record, project, call, until, begun, cancellations): Columns| {
            Ok(OpenDeferral {
                deferred: DeferredCall {
                    project: ProjectUid(project),
                    call: CallId(call),
                    record: RecordSeq(record),
                    until: time(until)?,
                    begun,
                },
                cancelled: cancellations > 0,
            })
        };
        rows.into_iter().map(open).collect()
    }

    /// Deletes the rows of deferred calls whose records were completed; their number.
    pub async fn prune_deferred(&self) -> Result<u64> {
        writing!(self, |tx| {
            execute!(
                tx,
                "DELETE FROM deferred_calls
                 WHERE EXISTS (SELECT 1 FROM completions c WHERE c.record_seq = deferred_calls.record_seq)"
            )
        })
        .await
    }
}
