//! What can go wrong in the store, by what the caller can do about it.

use std::sync::Arc;

use sqlx::error::{DatabaseError, ErrorKind};
use sqlx::migrate::MigrateError;

/// The result of a store operation.
pub type Result<T> = std::result::Result<T, StoreError>;

/// Why the store could not do it. Cloneable, because one failed commit answers many callers.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    /// What the operation needs is not there (any more).
    #[error("{what} does not exist")]
    NotFound {
        /// What was looked for.
        what: String,
    },
    /// Something unique exists already.
    #[error("{what} exists already")]
    Conflict {
        /// What exists.
        what: String,
    },
    /// What is to be changed has changed since the caller read it: read again and repeat.
    #[error("it was changed meanwhile")]
    VersionConflict,
    /// What a change was judged by has changed meanwhile, though not what it changes: judge again and repeat.
    #[error("what it was judged by was changed meanwhile")]
    Overtaken,
    /// No principal would be left to manage something.
    #[error("{what} would have no administrator left")]
    LastAdministrator {
        /// What would have none.
        what: String,
    },
    /// The database does not answer now: gone, locked, full or too slow. The same operation may succeed later.
    #[error("the database is not available")]
    Unavailable {
        /// What it said.
        #[source]
        source: Arc<sqlx::Error>,
    },
    /// The database refused the values: they break a rule of the schema.
    #[error("the database refused the values")]
    Refused {
        /// What it said.
        #[source]
        source: Arc<sqlx::Error>,
    },
    /// What is stored cannot be understood.
    #[error("the database holds something unexpected: {what}")]
    Corrupt {
        /// What, and where.
        what: String,
    },
    /// The URL does not name a database.
    #[error(
        "the database URL is not valid: {reason}; write sqlite:PATH, sqlite::memory: or postgres://USER@HOST/NAME"
    )]
    InvalidUrl {
        /// What is wrong with it; never the URL itself, which may hold a password.
        reason: String,
    },
    /// The schema is not the one this release works with.
    #[error("the database schema does not fit this release: {reason}")]
    Schema {
        /// Which migration, and what about it.
        reason: String,
    },
    /// Another server runs on the same SQLite file.
    #[error("another server is using {path}; stop it first, or give several servers one PostgreSQL database")]
    InUse {
        /// The database file.
        path: String,
    },
}

impl StoreError {
    pub(crate) fn not_found(what: impl Into<String>) -> Self {
        Self::NotFound { what: what.into() }
    }

    pub(crate) fn conflict(what: impl Into<String>) -> Self {
        Self::Conflict { what: what.into() }
    }

    pub(crate) fn corrupt(what: impl Into<String>) -> Self {
        Self::Corrupt { what: what.into() }
    }

    pub(crate) fn unavailable(source: sqlx::Error) -> Self {
        Self::Unavailable {
            source: Arc::new(source),
        }
    }

    pub(crate) fn io(source: std::io::Error) -> Self {
        Self::unavailable(sqlx::Error::Io(source))
    }

    /// Whether the database itself refused, so that it is certain that nothing was written; otherwise its answer may have
    /// been lost.
    pub(crate) fn is_from_database(&self) -> bool {
        match self {
            Self::Unavailable { source } | Self::Refused { source } => {
                matches!(**source, sqlx::Error::Database(_))
            }
            _ => true,
        }
    }

    /// Whether writing other rows of the same batch can still succeed.
    pub(crate) fn is_about_one_row(&self) -> bool {
        matches!(
            self,
            Self::NotFound { .. } | Self::Conflict { .. } | Self::Refused { .. }
        )
    }
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        use sqlx::Error as E;
        let class = match &error {
            E::Database(cause) => classify(&**cause),
            E::Io(_)
            | E::Tls(_)
            | E::Protocol(_)
            | E::PoolTimedOut
            | E::PoolClosed
            | E::WorkerCrashed
            | E::BeginFailed => Class::Unavailable,
            E::Encode(_) | E::InvalidArgument(_) => Class::Refused,
            _ => Class::Corrupt,
        };
        match class {
            Class::Unavailable => Self::unavailable(error),
            Class::Refused => Self::Refused {
                source: Arc::new(error),
            },
            Class::Unique => Self::conflict(subject(&error)),
            Class::Reference => Self::not_found("what the new row refers to"),
            Class::Corrupt => Self::corrupt(error.to_string()),
        }
    }
}

impl From<MigrateError> for StoreError {
    fn from(error: MigrateError) -> Self {
        match error {
            MigrateError::Execute(cause) | MigrateError::ExecuteMigration(cause, _) => cause.into(),
            MigrateError::VersionMissing(number) => Self::Schema {
                reason: format!(
                    "migration {number} was applied by a newer release; start that one, or restore a backup"
                ),
            },
            MigrateError::VersionMismatch(number) => Self::Schema {
                reason: format!("migration {number} was applied in another form than this release has"),
            },
            other => Self::Schema {
                reason: other.to_string(),
            },
        }
    }
}

enum Class {
    Unavailable,
    Refused,
    Unique,
    Reference,
    Corrupt,
}

fn classify(cause: &dyn DatabaseError) -> Class {
    match cause.kind() {
        ErrorKind::UniqueViolation => return Class::Unique,
        ErrorKind::ForeignKeyViolation => return Class::Reference,
        ErrorKind::NotNullViolation | ErrorKind::CheckViolation => return Class::Refused,
        _ => {}
    }
    let code = cause.code().unwrap_or_default();
    match code.parse::<u32>() {
        // PostgreSQL's codes have five characters, some of them only digits; SQLite's have at most four.
        Ok(number) if code.len() < 5 => sqlite_class(number),
        _ => postgres_class(&code),
    }
}

/// By primary result code (<https://www.sqlite.org/rescode.html>).
fn sqlite_class(extended: u32) -> Class {
    match extended & 0xff {
        // PERM, ABORT, BUSY, LOCKED, NOMEM, READONLY, INTERRUPT, IOERR
        3..=10
        // FULL, CANTOPEN, PROTOCOL
        | 13..=15 => Class::Unavailable,
        // TOOBIG, CONSTRAINT, MISMATCH
        18..=20 => Class::Refused,
        _ => Class::Corrupt,
    }
}

/// By SQLSTATE (PostgreSQL documentation, appendix A).
fn postgres_class(code: &str) -> Class {
    match code {
        // Lock timeout, read-only after a failover, statement timeout and administrator shutdown are within these.
        "55P03" | "25006" => Class::Unavailable,
        _ => match code.get(..2) {
            Some("08" | "40" | "53" | "57" | "58") => Class::Unavailable,
            Some("22" | "23") => Class::Refused,
            _ => Class::Corrupt,
        },
    }
}

/// What a unique constraint is about, from the table that reported it.
fn subject(error: &sqlx::Error) -> &'static str {
    let Some(cause) = error.as_database_error() else {
        return "it";
    };
    // PostgreSQL names the constraint, SQLite the index or the columns in its message.
    let text = cause.constraint().unwrap_or_else(|| cause.message());
    let subjects = [
        ("users", "a user with this name or id"),
        ("projects", "a project with this id"),
        ("service_keys", "a key with this id or prefix"),
        ("signing_keys", "a signing key with this id"),
        ("records", "a record with this id"),
        ("tool_revisions", "this revision"),
    ];
    subjects
        .iter()
        .find(|(table, _)| text.contains(table))
        .map_or("it", |(_, what)| what)
}
