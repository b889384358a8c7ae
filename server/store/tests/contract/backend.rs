//! A fresh database for each test: a SQLite file, or a database in the PostgreSQL server of this test process.

use sqlx::{AssertSqlSafe, Connection, PgConnection, SqliteConnection};
use tempfile::TempDir;
use toolgate_store::Store;

use crate::postgres_server::new_database;

/// Where a test keeps its data.
pub(crate) struct Backend {
    pub(crate) url: String,
    pub(crate) store: Store,
    _folder: Option<TempDir>,
}

impl Backend {
    /// A new SQLite file.
    pub(crate) async fn sqlite() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let url = format!(
            "sqlite:{}",
            folder.path().join("data").join("toolgate.db").display()
        );
        let store = Store::open(&url).await.expect("a new SQLite store");
        Self {
            url,
            store,
            _folder: Some(folder),
        }
    }

    /// A new PostgreSQL database.
    pub(crate) async fn postgres() -> Self {
        let url = new_database().await;
        let store = Store::open(&url).await.expect("a new PostgreSQL store");
        Self {
            url,
            store,
            _folder: None,
        }
    }

    pub(crate) fn is_sqlite(&self) -> bool {
        self.url.starts_with("sqlite:")
    }

    /// The same database, opened once more.
    pub(crate) async fn again(&self) -> Store {
        Store::open(&self.url).await.expect("the same store")
    }

    /// A connection beside the store, for making trouble.
    pub(crate) async fn side(&self) -> Side {
        if self.is_sqlite() {
            Side::Lite(
                SqliteConnection::connect(&self.url)
                    .await
                    .expect("a side connection"),
            )
        } else {
            Side::Pg(PgConnection::connect(&self.url).await.expect("a side connection"))
        }
    }
}

/// A connection that the store does not know of.
pub(crate) enum Side {
    Lite(SqliteConnection),
    Pg(PgConnection),
}

impl Side {
    /// Runs statements.
    pub(crate) async fn run(&mut self, sql: &'static str) {
        match self {
            Self::Lite(connection) => sqlx::raw_sql(sql).execute(connection).await.map(drop),
            Self::Pg(connection) => sqlx::raw_sql(sql).execute(connection).await.map(drop),
        }
        .expect(sql);
    }

    /// Runs statements that a test has put together.
    pub(crate) async fn run_owned(&mut self, sql: String) {
        let safe = AssertSqlSafe(sql.clone());
        match self {
            Self::Lite(connection) => sqlx::raw_sql(safe).execute(connection).await.map(drop),
            Self::Pg(connection) => sqlx::raw_sql(safe).execute(connection).await.map(drop),
        }
        .expect(&sql);
    }

    /// Reads one text.
    pub(crate) async fn text(&mut self, sql: &'static str) -> String {
        match self {
            Self::Lite(connection) => sqlx::query_scalar(sql).fetch_one(connection).await,
            Self::Pg(connection) => sqlx::query_scalar(sql).fetch_one(connection).await,
        }
        .expect(sql)
    }

    /// Reads one number.
    pub(crate) async fn number(&mut self, sql: &'static str) -> i64 {
        self.number_owned(sql.to_owned()).await
    }

    /// Reads one number by a statement that a test has put together.
    pub(crate) async fn number_owned(&mut self, sql: String) -> i64 {
        let safe = AssertSqlSafe(sql.clone());
        match self {
            Self::Lite(connection) => sqlx::query_scalar(safe).fetch_one(connection).await,
            Self::Pg(connection) => sqlx::query_scalar(safe).fetch_one(connection).await,
        }
        .expect(&sql)
    }
}
