//! Moves what is committed from SQLite's write-ahead log to the database file, beside the commits instead of within one.
//!
//! SQLite by itself has a commit do it once the log is long, and everybody waits for that commit.

use tokio::task::JoinHandle;

use crate::Store;
use crate::db::Db;
use crate::error::Result;

/// Commits of records between two checkpoints: some 4 to 16 MB of the log.
const EVERY: u32 = 400;
/// Moves as much as can be moved without waiting for anybody ("PRAGMA wal_checkpoint" in SQLite's documentation).
const CHECKPOINT: &str = "PRAGMA wal_checkpoint(PASSIVE)";

/// Counts commits, and makes a checkpoint from time to time.
pub(crate) struct Checkpoints {
    store: Store,
    commits: u32,
    running: Option<JoinHandle<()>>,
}

impl Checkpoints {
    pub(crate) const fn new(store: Store) -> Self {
        Self {
            store,
            commits: 0,
            running: None,
        }
    }

    /// Something was committed. Must be called within a Tokio runtime.
    pub(crate) fn committed(&mut self) {
        self.commits += 1;
        let running = self.running.as_ref().is_some_and(|task| !task.is_finished());
        if self.commits < EVERY || running || !self.store.has_log() {
            return;
        }
        self.commits = 0;
        let store = self.store.clone();
        self.running = Some(tokio::spawn(async move {
            // Nothing is lost: a commit does it when the log has become long.
            if let Err(error) = store.checkpoint().await {
                tracing::debug!(%error, "the write-ahead log was not moved");
            }
        }));
    }
}

impl Store {
    /// Whether there is a write-ahead log of SQLite's.
    fn has_log(&self) -> bool {
        matches!(self.db(), Db::Lite(lite) if lite.path.is_some())
    }

    /// Moves all of the log to the database file, so that the next commit begins it anew.
    async fn checkpoint(&self) -> Result<()> {
        let Db::Lite(lite) = self.db() else { return Ok(()) };
        // Most of it while others commit.
        sqlx::query(CHECKPOINT).execute(&lite.read).await?;
        // And what they have committed meanwhile, which is little, while nobody does.
        let mut turn = lite.write.acquire().await?;
        sqlx::query(CHECKPOINT).execute(&mut *turn).await?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::db::{execute, writing};

    /// How often the log was begun ("WAL header" in SQLite's file format: the checkpoint sequence number).
    fn begun(log: &Path) -> u32 {
        let bytes = std::fs::read(log).expect("the log");
        u32::from_be_bytes(bytes[12..16].try_into().expect("four bytes"))
    }

    async fn write(store: &Store) -> Result<()> {
        writing!(store, |tx| {
            execute!(
                tx,
                "UPDATE versions SET version = version + 1 WHERE scope = 'directory'"
            );
        })
        .await
    }

    #[tokio::test]
    async fn a_checkpoint_lets_the_log_begin_anew() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("toolgate.db");
        let store = Store::open(&format!("sqlite:{}", file.display()))
            .await
            .expect("a store");
        let log = folder.path().join("toolgate.db-wal");
        write(&store).await.expect("a change");
        let before = begun(&log);
        write(&store).await.expect("a change");
        assert_eq!(begun(&log), before);
        store.checkpoint().await.expect("a checkpoint");
        write(&store).await.expect("a change");
        assert_eq!(begun(&log), before + 1);
        store.close().await;
    }
}
