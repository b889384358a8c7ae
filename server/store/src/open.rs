//! From a URL to an open, migrated database.

use std::path::Path;
use std::str::FromStr;
use std::time::{Duration, Instant};

use sqlx::migrate::{Migrate, Migrator};
use sqlx::pool::PoolOptions;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection, Database, PgConnection, SqliteConnection};

use crate::db::{Db, Lite, WriteConnection};
use crate::error::{Result, StoreError};
use crate::multirow::STATEMENTS;

static SQLITE: Migrator = sqlx::migrate!("../../migrations/sqlite");
static POSTGRES: Migrator = sqlx::migrate!("../../migrations/postgres");

/// How long a statement waits for a lock, in either database, before the operation fails as unavailable.
const LOCK_WAIT: Duration = Duration::from_secs(5);
/// The code of `SQLITE_BUSY`.
const BUSY: &str = "5";
/// Between two attempts to connect to a file that is busy.
const BUSY_PAUSE: Duration = Duration::from_millis(20);
/// How long an operation waits for a connection.
pub(crate) const CONNECTION_WAIT: Duration = Duration::from_secs(5);
/// Connections to PostgreSQL per server.
const PG_CONNECTIONS: u32 = 16;
/// Reading connections to a SQLite file.
const SQLITE_READERS: u32 = 4;
/// Pages in the write-ahead log before they are moved to the database file, which the next commit waits for: 2 MB takes
/// about two milliseconds. What is moved in all is the same however often, so that a larger log only means longer waits.
const CHECKPOINT_PAGES: &str = "512";

/// What a connection keeps of the file, in KiB below zero; the system keeps the rest. A small cache stays in the
/// processor's own.
const CACHE: &str = "-512";

/// Opens the database a URL names.
pub(crate) async fn open(url: &str) -> Result<Db> {
    match url.split_once(':') {
        Some(("sqlite", _)) => open_sqlite(url).await,
        Some(("postgres" | "postgresql", _)) => open_postgres(url).await,
        Some((scheme, _)) => Err(invalid(format!("the scheme {scheme:?} is not known"))),
        None => Err(invalid("it has no scheme".to_owned())),
    }
}

fn invalid(reason: String) -> StoreError {
    StoreError::InvalidUrl { reason }
}

async fn open_sqlite(url: &str) -> Result<Db> {
    let options = SqliteConnectOptions::from_str(url)
        .map_err(|error| invalid(format!("SQLite does not take it ({error})")))?
        .busy_timeout(LOCK_WAIT)
        .foreign_keys(true)
        .synchronous(SqliteSynchronous::Full)
        .statement_cache_capacity(STATEMENTS)
        .disable_statement_logging();
    let in_memory = url.contains(":memory:") || url.contains("mode=memory");
    if in_memory {
        // The database exists as long as its connection, so there is one, and it is never closed.
        let one_connection = SqlitePoolOptions::new().max_connections(1);
        let read = lasting(one_connection).connect_with(options).await?;
        migrate_sqlite(&mut *read.acquire().await?).await?;
        return Ok(Db::Lite(Lite {
            write: WriteConnection::shared(read.clone()),
            read,
            path: None,
        }));
    }
    let path = options.get_filename().to_owned();
    if path.as_os_str().is_empty() {
        return Err(invalid("it names no file".to_owned()));
    }
    create_file(&path).map_err(|error| {
        StoreError::io(std::io::Error::new(
            error.kind(),
            format!("creating {}: {error}", path.display()),
        ))
    })?;
    let options = options
        .journal_mode(SqliteJournalMode::Wal)
        .pragma("wal_autocheckpoint", CHECKPOINT_PAGES)
        .pragma("cache_size", CACHE);
    let mut write = connect_to_file(&options).await?;
    migrate_sqlite(&mut write).await?;
    let read = lasting(SqlitePoolOptions::new().max_connections(SQLITE_READERS))
        .connect_with(options.pragma("query_only", "ON"))
        .await?;
    Ok(Db::Lite(Lite {
        write: WriteConnection::own(write),
        read,
        path: Some(path),
    }))
}

/// Connects to a file. Of several processes that switch a new file to its write-ahead log at once, SQLite refuses some without
/// waiting; they try again.
async fn connect_to_file(options: &SqliteConnectOptions) -> Result<SqliteConnection> {
    let until = Instant::now() + LOCK_WAIT;
    loop {
        match SqliteConnection::connect_with(options).await {
            Err(sqlx::Error::Database(error))
                if error.code().as_deref() == Some(BUSY) && Instant::now() < until =>
            {
                tokio::time::sleep(BUSY_PAUSE).await;
            }
            connected => return Ok(connected?),
        }
    }
}

/// Connections to a file do not age, and there is no server that could close them.
fn lasting<DB: Database>(options: PoolOptions<DB>) -> PoolOptions<DB> {
    options
        .min_connections(1)
        .acquire_timeout(CONNECTION_WAIT)
        .max_lifetime(None)
        .idle_timeout(None)
        .test_before_acquire(false)
}

/// Makes the file with its folder, readable by its owner only: it holds signing keys and password hashes. SQLite gives the
/// files beside it the same permissions. A file that exists is not touched: closing it here would release the locks that
/// SQLite holds on it elsewhere in this process.
fn create_file(path: &Path) -> std::io::Result<()> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder)?;
    }
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

async fn open_postgres(url: &str) -> Result<Db> {
    let options = PgConnectOptions::from_str(url)
        .map_err(|_| invalid("PostgreSQL does not take it".to_owned()))?
        .application_name("toolgate")
        .statement_cache_capacity(STATEMENTS)
        .disable_statement_logging();
    migrate_postgres(&options).await?;
    let pool = PgPoolOptions::new()
        .max_connections(PG_CONNECTIONS)
        .min_connections(1)
        .acquire_timeout(CONNECTION_WAIT)
        .after_connect(|connection, _| {
            Box::pin(async move {
                // Set here and not at connecting, because connection poolers refuse start-up options they do not know.
                let settings = format!(
                    "SET lock_timeout = '{}s'; SET statement_timeout = '15s'; \
                     SET idle_in_transaction_session_timeout = '30s'",
                    LOCK_WAIT.as_secs()
                );
                sqlx::raw_sql(sqlx::AssertSqlSafe(settings))
                    .execute(connection)
                    .await?;
                Ok(())
            })
        })
        .connect_with(options)
        .await?;
    Ok(Db::Pg(pool))
}

/// All missing migrations in one transaction that holds the write lock from its start: of several processes that open a
/// new file at once, one migrates and the others find it done.
async fn migrate_sqlite(connection: &mut SqliteConnection) -> Result<()> {
    if is_current(&SQLITE, connection).await {
        return Ok(());
    }
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    SQLITE.run_direct(None, &mut *transaction, false).await?;
    transaction.commit().await?;
    Ok(())
}

/// On a connection of its own: migrations may take longer than other statements, and closing it frees the advisory lock
/// that the migrator takes, however it ends.
async fn migrate_postgres(options: &PgConnectOptions) -> Result<()> {
    let connecting = tokio::time::timeout(CONNECTION_WAIT, PgConnection::connect_with(options));
    let mut connection = connecting
        .await
        .map_err(|_| StoreError::unavailable(sqlx::Error::PoolTimedOut))??;
    if !is_current(&POSTGRES, &mut connection).await {
        POSTGRES.run_direct(None, &mut connection, false).await?;
    }
    connection.close().await?;
    Ok(())
}

/// Whether there is nothing to do, found out without any lock, so that a command line tool can open a database that a busy
/// server is writing to.
async fn is_current<C: Migrate>(migrator: &Migrator, connection: &mut C) -> bool {
    let Ok(applied) = connection.list_applied_migrations("_sqlx_migrations").await else {
        return false;
    };
    let wanted: Vec<_> = migrator
        .iter()
        .map(|migration| (migration.version, &migration.checksum))
        .collect();
    applied
        .iter()
        .map(|migration| (migration.version, &migration.checksum))
        .eq(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_databases_have_the_same_migrations() {
        let names = |migrator: &Migrator| -> Vec<_> {
            migrator
                .iter()
                .map(|migration| (migration.version, migration.description.to_string()))
                .collect()
        };
        assert!(!names(&SQLITE).is_empty());
        assert_eq!(names(&SQLITE), names(&POSTGRES));
    }
}
