//! The servers that share a database, and what one that died has left behind.

use std::fs::{OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::Store;
use crate::codec::micros;
use crate::db::{Db, execute, writing};
use crate::error::{Result, StoreError};

impl Store {
    /// Enters this process as a server of the database.
    ///
    /// On SQLite it takes the advisory lock on the file `PATH.lock` until the store is dropped, so that there is one
    /// server; command line tools, which do not register, can still open the database.
    ///
    /// # Errors
    /// [`StoreError::InUse`] when another server has the SQLite file.
    pub async fn register_instance(&self, instance: Uuid, at: DateTime<Utc>) -> Result<()> {
        if let Db::Lite(lite) = self.db()
            && let Some(path) = &lite.path
        {
            self.take_serving_lock(path)?;
        }
        self.heartbeat(instance, at).await?;
        let _first = self.inner.instance.set(instance);
        Ok(())
    }

    /// Says that a server still runs.
    pub async fn heartbeat(&self, instance: Uuid, at: DateTime<Utc>) -> Result<()> {
        writing!(self, |tx| {
            execute!(
                tx,
                "INSERT INTO instances (id, started_at, heartbeat_at) VALUES ($1, $2, $2)
                 ON CONFLICT (id) DO UPDATE SET heartbeat_at = excluded.heartbeat_at",
                instance,
                micros(at),
            );
        })
        .await
    }

    /// Closes as interrupted the open records of servers other than `me` that were not heard of since `alive_after`; the
    /// number of records. On SQLite there is one server, so every other one is dead. What they had claimed without opening
    /// a record never ran and is free again.
    pub async fn close_abandoned(
        &self,
        me: Uuid,
        alive_after: DateTime<Utc>,
        at: DateTime<Utc>,
    ) -> Result<u64> {
        let alive_after = match self.db() {
            Db::Lite(_) => i64::MAX,
            Db::Pg(_) => micros(alive_after),
        };
        writing!(self, |tx| {
            let closed = execute!(
                tx,
                "UPDATE records
                 SET outcome = 'interrupted', code = 'interrupted', state_after = state_before, closed_at = $3
                 WHERE outcome = 'open' AND instance <> $1
                   AND instance NOT IN (SELECT id FROM instances WHERE heartbeat_at >= $2)",
                me,
                alive_after,
                micros(at),
            );
            execute!(
                tx,
                "DELETE FROM idempotency_claims
                 WHERE status IS NULL AND (instance IS NULL OR instance <> $1)
                   AND (instance IS NULL OR instance NOT IN (SELECT id FROM instances WHERE heartbeat_at >= $2))
                   AND NOT EXISTS (
                       SELECT 1 FROM records
                       WHERE records.project_uid = idempotency_claims.project_uid
                         AND records.id = idempotency_claims.call_id
                   )",
                me,
                alive_after,
            );
            execute!(tx, "DELETE FROM instances WHERE id <> $1 AND heartbeat_at < $2", me, alive_after);
            closed
        })
        .await
    }

    fn take_serving_lock(&self, database: &Path) -> Result<()> {
        let mut serving = self
            .inner
            .serving
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        if serving.is_some() {
            return Ok(());
        }
        // A file of its own: opening and closing the database file itself would release SQLite's locks on it.
        let mut path = database.as_os_str().to_owned();
        path.push(".lock");
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(PathBuf::from(path)).map_err(StoreError::io)?;
        match file.try_lock() {
            Ok(()) => {
                *serving = Some(file);
                Ok(())
            }
            Err(TryLockError::WouldBlock) => Err(StoreError::InUse {
                path: database.display().to_string(),
            }),
            Err(TryLockError::Error(error)) => Err(StoreError::io(error)),
        }
    }
}
