//! The least record that is as durable as Toolgate's: one row before a call is executed and one before it is answered, in an
//! SQLite database that waits for the disk at each commit. Calls that wait at the same time share a commit.

use std::path::Path;

use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use sqlx::{Connection, QueryBuilder, SqliteConnection};
use tokio::sync::{mpsc, oneshot};

/// Rows that are worth a commit, as in the product.
const ENOUGH: usize = 16;
const TABLE: &str = "CREATE TABLE IF NOT EXISTS records (seq INTEGER PRIMARY KEY, caller TEXT, tool TEXT, outcome TEXT, detail TEXT);
     CREATE INDEX IF NOT EXISTS of_caller ON records (caller, seq);
     CREATE INDEX IF NOT EXISTS of_tool ON records (tool, seq)";

struct Row {
    outcome: &'static str,
    detail: String,
    durable: oneshot::Sender<()>,
}

/// Takes rows.
pub(crate) struct Record(mpsc::UnboundedSender<Row>);

impl Record {
    /// Opens the database, and starts the task that writes.
    pub(crate) async fn open(path: &Path) -> anyhow::Result<Self> {
        let options = SqliteConnectOptions::new()
            .filename(path)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full);
        let mut connection = SqliteConnection::connect_with(&options).await?;
        sqlx::raw_sql(TABLE).execute(&mut connection).await?;
        let (sender, rows) = mpsc::unbounded_channel();
        tokio::spawn(write(connection, rows));
        Ok(Self(sender))
    }

    /// Returns when the row is durable.
    ///
    /// # Errors
    /// When it is not.
    pub(crate) async fn write(&self, outcome: &'static str, detail: String) -> anyhow::Result<()> {
        let (durable, written) = oneshot::channel();
        self.0.send(Row {
            outcome,
            detail,
            durable,
        })?;
        Ok(written.await?)
    }
}

/// Ends with the first failure, which is reported to every waiting caller.
async fn write(
    mut connection: SqliteConnection,
    mut queue: mpsc::UnboundedReceiver<Row>,
) -> sqlx::Result<()> {
    let mut rows = Vec::new();
    while queue.recv_many(&mut rows, 512).await > 0 {
        let mut gathered = 0;
        while gathered < rows.len() && rows.len() < ENOUGH {
            gathered = rows.len();
            tokio::task::yield_now().await;
            while let Ok(row) = queue.try_recv() {
                rows.push(row);
            }
        }
        let mut insert = QueryBuilder::new("INSERT INTO records (caller, tool, outcome, detail) ");
        insert.push_values(&rows, |mut values, row| {
            values
                .push_bind("bench")
                .push_bind("search")
                .push_bind(row.outcome)
                .push_bind(&row.detail);
        });
        insert.build().execute(&mut connection).await?;
        for row in rows.drain(..) {
            let _gone = row.durable.send(());
        }
    }
    Ok(())
}
