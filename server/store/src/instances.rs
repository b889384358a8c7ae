//! The servers that share a database, and what one that died has left behind.

use std::fs::{OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::Store;
use crate::codec::micros;
use crate::db::{Db, execute, writing};
use crate::error::{Result, StoreError};
use crate::records::chain::Progress;

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
        self.heartbeat(instance, None, at, false).await?;
        let _first = self.inner.instance.set(instance);
        Ok(())
    }

    /// Says that a server still runs, how far its chain of records has come, and whether it ends here. A server that is
    /// not known gets a chain.
    pub(crate) async fn heartbeat(
        &self,
        instance: Uuid,
        progress: Option<Progress>,
        at: DateTime<Utc>,
        ending: bool,
    ) -> Result<()> {
        let Progress { head, settled } = match progress {
            Some(progress) => progress,
            None => self.chain_of(instance, at).await?.progress(),
        };
        let at = micros(at);
        writing!(self, |tx| {
            execute!(
                tx,
                "UPDATE chains
                 SET heartbeat_at = $2, ended_at = $3, head_position = $4, head_hash = $5, settled_position = $6
                 WHERE number = $1",
                head.chain,
                at,
                ending.then_some(at),
                head.position,
                head.hash.as_slice(),
                settled,
            );
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
