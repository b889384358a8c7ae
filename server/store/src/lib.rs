//! Everything Toolgate keeps: SQLite and PostgreSQL behind one API. The only crate that knows SQL.
//!
//! [`Store`] has one method per use; it is in the module of their subject. [`RecordWriter`] writes the record of
//! decisions and calls, many of them in one commit. Nothing here reads a clock or makes an id: both come in as
//! arguments.
//!
//! Every change that a running server must notice adds one to the version of its [`Scope`] in the same transaction, so
//! that comparing [`Store::versions`] is enough to know what to load again.
//!
//! To keep something new: add a migration with the same number for both databases (`migrations/README.md`), a row type in
//! [`rows`], a method in the module of its subject, written with the macros of `db`, and a test of it to the contract suite,
//! which runs on both databases.

mod access_requests;
mod accounts;
mod alerts;
mod announcements;
mod artifacts;
mod bus_claims;
mod calls;
mod claims;
mod codec;
mod connections;
mod db;
mod deferred;
mod definitions;
mod directory;
mod documents;
mod egress;
mod ended_sessions;
mod error;
mod grants;
mod guides;
mod imports;
mod instances;
mod keys;
mod labels;
mod limits;
mod loading;
mod mcp_clients;
mod mcp_servers;
mod multirow;
mod notices;
mod oauth_clients;
mod open;
mod policy_tests;
mod preferences;
mod projects;
mod read_notifications;
mod records;
pub mod rows;
mod saved_views;
mod second_factors;
mod secrets;
mod sessions;
mod settings;
mod sign_ins;
mod usage;
mod usage_series;
mod users;
mod versions;

use std::fs::File;
use std::sync::{Arc, Mutex, OnceLock};

use uuid::Uuid;

pub use crate::access_requests::{AccessRequestBounds, AccessRequestMade};
pub use crate::bus_claims::{BusClaim, BusClaimKind};
use crate::db::{Db, both, execute, reading, writing};
pub use crate::definitions::Published;
pub use crate::error::{Result, StoreError};
pub use crate::guides::GuideChange;
pub use crate::labels::{LabelChange, LabelContent};
pub use crate::policy_tests::PolicyTestChange;
pub use crate::records::tail::{ChainEntry, ChainReader, ChainState, ChainStep};
pub use crate::records::verification::{FaultyEntry, Verification};
pub use crate::records::verify::{ChainFault, ChainFaultKind, ChainReport};
pub use crate::records::writer::RecordWriter;
pub use crate::versions::{Basis, Scope};

/// What a look at the database has found.
#[derive(Debug)]
pub struct Probe {
    /// Its size.
    pub bytes: u64,
    /// Whether it takes changes, or why it does not.
    pub writable: Result<()>,
}

/// An open database. Clones share its connections.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

struct Inner {
    db: Db,
    /// The server this process is, once it has registered.
    instance: OnceLock<Uuid>,
    /// Held while this process serves from a SQLite file.
    serving: Mutex<Option<File>>,
}

impl Store {
    /// Opens a database and runs the migrations it is missing.
    ///
    /// `sqlite:PATH` (created with its folder when missing), `sqlite::memory:` or `postgres://...`. Several processes may
    /// open the same new database at once; one of them migrates it.
    ///
    /// # Errors
    /// [`StoreError::InvalidUrl`]; [`StoreError::Unavailable`] when nothing answers there; [`StoreError::Schema`] when the
    /// database belongs to another release.
    pub async fn open(url: &str) -> Result<Self> {
        let db = open::open(url).await?;
        Ok(Self {
            inner: Arc::new(Inner {
                db,
                instance: OnceLock::new(),
                serving: Mutex::new(None),
            }),
        })
    }

    /// `sqlite` or `postgres`, for logs.
    #[must_use]
    pub fn backend_name(&self) -> &'static str {
        match self.db() {
            Db::Lite(_) => "sqlite",
            Db::Pg(_) => "postgres",
        }
    }

    /// Whether the database answers.
    pub async fn ping(&self) -> Result<()> {
        let _one: i64 = both!(self, |pool| {
            sqlx::query_scalar("SELECT COUNT(*) FROM versions WHERE scope = 'directory'")
                .fetch_one(pool)
                .await?
        })
        .await?;
        Ok(())
    }

    /// How large the database is, and whether it takes changes: the way a change goes is gone, without changing anything.
    ///
    /// # Errors
    /// When it does not answer, or refuses changes.
    pub async fn probe(&self) -> Result<Probe> {
        let bytes: i64 = match self.db() {
            Db::Lite(_) => {
                reading!(self, |tx| {
                    let pages: i64 = sqlx::query_scalar("PRAGMA page_count")
                        .fetch_one(&mut *tx)
                        .await?;
                    let size: i64 = sqlx::query_scalar("PRAGMA page_size").fetch_one(&mut *tx).await?;
                    pages * size
                })
                .await?
            }
            Db::Pg(_) => {
                both!(self, |pool| {
                    sqlx::query_scalar("SELECT pg_database_size(current_database())")
                        .fetch_one(pool)
                        .await?
                })
                .await?
            }
        };
        let writable = writing!(self, |tx| {
            execute!(tx, "UPDATE versions SET version = version WHERE scope = 'none'");
        })
        .await;
        Ok(Probe {
            bytes: bytes.unsigned_abs(),
            writable,
        })
    }

    /// Closes all connections; every later call fails as unavailable. Shut writers down first.
    pub async fn close(&self) {
        match self.db() {
            Db::Lite(lite) => {
                lite.read.close().await;
                lite.write.close().await;
            }
            Db::Pg(pool) => pool.close().await,
        }
    }

    pub(crate) fn db(&self) -> &Db {
        &self.inner.db
    }
}
