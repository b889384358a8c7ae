//! The two databases, and the macros that let a query be written once.
//!
//! A body in [`both!`], [`reading!`] or [`writing!`] is compiled twice, once for each driver, so its types are checked for
//! both. It must keep to SQL that both understand: `$1` for values, no arrays, no `NOW()`, no `ILIKE`.

use std::future::Future;
use std::ops::{Deref, DerefMut};
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sqlx::pool::PoolConnection;
use sqlx::{Connection, PgPool, Sqlite, SqliteConnection, SqlitePool};
use tokio::sync::{MappedMutexGuard, Mutex, MutexGuard};

use crate::error::{Result, StoreError};
use crate::open::CONNECTION_WAIT;

/// How long one operation may take, waiting for connections and locks included. Longer than the databases' own limits, so
/// that it only ends what hangs without any answer.
const PATIENCE: Duration = Duration::from_secs(20);

/// An open database.
pub(crate) enum Db {
    /// A file, or memory.
    Lite(Lite),
    /// A PostgreSQL server.
    Pg(PgPool),
}

/// SQLite allows one writer at a time: all writes queue for one connection here, fairly, instead of for the file lock.
pub(crate) struct Lite {
    /// One connection.
    pub(crate) write: WriteConnection,
    /// Connections that only read; the writing one itself for a database in memory.
    pub(crate) read: SqlitePool,
    /// The file; `None` in memory.
    pub(crate) path: Option<PathBuf>,
}

/// The connection that writes; a caller waits for its turn.
pub(crate) struct WriteConnection {
    connection: Kept,
    /// Whether statements that begin a transaction in their text did not get as far as to commit it.
    unfinished: AtomicBool,
}

enum Kept {
    /// Of a file. It is not in a pool, because a pool asks a connection after each use whether it still answers, which
    /// takes as long as writing a record.
    Own(Mutex<Option<SqliteConnection>>),
    /// In memory there is but one connection for everything.
    Shared(SqlitePool),
}

/// The turn of a caller that has waited for it.
pub(crate) struct Turn<'a> {
    connection: Lent<'a>,
    unfinished: &'a AtomicBool,
}

enum Lent<'a> {
    Own(MappedMutexGuard<'a, SqliteConnection>),
    Shared(PoolConnection<Sqlite>),
}

impl WriteConnection {
    pub(crate) fn own(connection: SqliteConnection) -> Self {
        Self::new(Kept::Own(Mutex::new(Some(connection))))
    }

    pub(crate) fn shared(pool: SqlitePool) -> Self {
        Self::new(Kept::Shared(pool))
    }

    const fn new(connection: Kept) -> Self {
        Self {
            connection,
            unfinished: AtomicBool::new(false),
        }
    }

    /// Waits for the connection.
    pub(crate) async fn acquire(&self) -> Result<Turn<'_>> {
        let connection = match &self.connection {
            Kept::Own(connection) => {
                let guard = match connection.try_lock() {
                    Ok(guard) => guard,
                    Err(_) => tokio::time::timeout(CONNECTION_WAIT, connection.lock())
                        .await
                        .map_err(|_| sqlx::Error::PoolTimedOut)?,
                };
                let open = MutexGuard::try_map(guard, Option::as_mut).map_err(|_| sqlx::Error::PoolClosed)?;
                Lent::Own(open)
            }
            Kept::Shared(pool) => Lent::Shared(pool.acquire().await?),
        };
        let mut turn = Turn {
            connection,
            unfinished: &self.unfinished,
        };
        if self.unfinished.load(Ordering::Relaxed) {
            // It fails when there is nothing to roll back, which is as well.
            let _nothing_left = sqlx::query("ROLLBACK").execute(&mut *turn).await;
            turn.finish();
        }
        Ok(turn)
    }

    /// Closes it, once its current user is done.
    pub(crate) async fn close(&self) {
        match &self.connection {
            Kept::Own(connection) => {
                if let Some(connection) = connection.lock().await.take()
                    && let Err(error) = connection.close().await
                {
                    tracing::warn!(%error, "the database was not closed in order");
                }
            }
            Kept::Shared(pool) => pool.close().await,
        }
    }
}

impl Turn<'_> {
    /// Runs statements that begin and commit for themselves. Unless they are reported as [finished](Self::finish),
    /// what they leave open is rolled back at the start of the next turn, also when this one was dropped half-way.
    pub(crate) fn start(&mut self) -> &mut SqliteConnection {
        self.unfinished.store(true, Ordering::Relaxed);
        self
    }

    pub(crate) fn finish(&self) {
        self.unfinished.store(false, Ordering::Relaxed);
    }
}

impl Deref for Turn<'_> {
    type Target = SqliteConnection;

    fn deref(&self) -> &SqliteConnection {
        match &self.connection {
            Lent::Own(connection) => connection,
            Lent::Shared(connection) => connection,
        }
    }
}

impl DerefMut for Turn<'_> {
    fn deref_mut(&mut self) -> &mut SqliteConnection {
        match &mut self.connection {
            Lent::Own(connection) => connection,
            Lent::Shared(connection) => connection,
        }
    }
}

/// Ends what takes too long. The work is behind a trait object: with all the statements that it may wait for it is large to
/// move, and the compiler would go through all that it consists of for every handler that waits for it.
pub(crate) fn bounded<'w, T: 'w>(
    work: impl Future<Output = Result<T>> + Send + 'w,
) -> impl Future<Output = Result<T>> + Send {
    let work: Pin<Box<dyn Future<Output = Result<T>> + Send + 'w>> = Box::pin(work);
    async move {
        match tokio::time::timeout(PATIENCE, work).await {
            Ok(done) => done,
            Err(_) => Err(StoreError::io(std::io::Error::new(
                std::io::ErrorKind::TimedOut,
                format!("no answer within {} seconds", PATIENCE.as_secs()),
            ))),
        }
    }
}

/// One reading statement, on whichever pool serves reads.
macro_rules! both {
    ($store:expr, |$pool:ident| $body:expr) => {
        $crate::db::bounded(async {
            match $store.db() {
                $crate::db::Db::Lite(lite) => {
                    let $pool = &lite.read;
                    Ok($body)
                }
                $crate::db::Db::Pg($pool) => Ok($body),
            }
        })
    };
}

/// Several reading statements that see one state of the database.
macro_rules! reading {
    ($store:expr, |$tx:ident| $body:block) => {
        $crate::db::bounded(async {
            match $store.db() {
                $crate::db::Db::Lite(lite) => {
                    let mut transaction = lite.read.begin().await?;
                    let $tx = &mut *transaction;
                    let value = $body;
                    transaction.commit().await?;
                    Ok(value)
                }
                $crate::db::Db::Pg(pool) => {
                    let mut transaction = pool
                        .begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
                        .await?;
                    let $tx = &mut *transaction;
                    let value = $body;
                    transaction.commit().await?;
                    Ok(value)
                }
            }
        })
    };
}

/// A writing transaction: committed when the body gives a value, rolled back when it returns an error. SQLite takes the
/// write lock at the start, because a reading transaction that turns into a writing one fails at once when it is late.
macro_rules! writing {
    ($store:expr, |$tx:ident| $body:block) => {
        $crate::db::bounded(async {
            match $store.db() {
                $crate::db::Db::Lite(lite) => {
                    let mut turn = lite.write.acquire().await?;
                    let mut transaction = sqlx::Connection::begin_with(&mut *turn, "BEGIN IMMEDIATE").await?;
                    let $tx = &mut *transaction;
                    let value = $body;
                    transaction.commit().await?;
                    Ok(value)
                }
                $crate::db::Db::Pg(pool) => {
                    let mut transaction = pool.begin().await?;
                    let $tx = &mut *transaction;
                    let value = $body;
                    transaction.commit().await?;
                    Ok(value)
                }
            }
        })
    };
}

/// One writing statement, which is a transaction by itself, or, on SQLite, several of which the first one's text begins it
/// and the last one's commits it: saves the round trips of doing so.
macro_rules! writing_once {
    ($store:expr, |$connection:ident| $body:block) => {
        $crate::db::bounded(async {
            match $store.db() {
                $crate::db::Db::Lite(lite) => {
                    let mut turn = lite.write.acquire().await?;
                    let $connection = turn.start();
                    let value = $body;
                    turn.finish();
                    Ok(value)
                }
                $crate::db::Db::Pg(pool) => {
                    let mut connection = pool.acquire().await?;
                    let $connection = &mut *connection;
                    Ok($body)
                }
            }
        })
    };
}

/// Runs a statement in a transaction and gives the number of rows it changed.
macro_rules! execute {
    ($tx:expr, $sql:expr $(, $value:expr)* $(,)?) => {
        sqlx::query($sql)$(.bind($value))*.execute(&mut *$tx).await?.rows_affected()
    };
}

pub(crate) use {both, execute, reading, writing, writing_once};
