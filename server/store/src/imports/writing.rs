//! Writing a change of imports, inside the transaction of the definitions it belongs to.

use std::collections::HashSet;

use crate::codec::to_json;
use crate::error::{Result, StoreError};
use crate::multirow::MultiRow;
use crate::rows::{ImportChange, ImportOperationRow, ImportRow};

pub(crate) static PUT_OPERATIONS: MultiRow = MultiRow::new(
    "INSERT INTO import_operations (project_uid, tool, import_id, revision, method, path, base, waiting, waiting_since,
                                    waiting_by, gone_since)",
    11,
    " ON CONFLICT (project_uid, tool)
          DO UPDATE SET import_id = excluded.import_id, revision = excluded.revision, method = excluded.method,
                        path = excluded.path, base = excluded.base, waiting = excluded.waiting,
                        waiting_since = excluded.waiting_since, waiting_by = excluded.waiting_by,
                        gone_since = excluded.gone_since",
);

/// An import on its way into the database.
pub(crate) struct EncodedImport<'a> {
    pub(crate) row: &'a ImportRow,
    pub(crate) source: String,
    pub(crate) hosts: String,
}

/// An operation on its way into the database.
pub(crate) struct EncodedOperation<'a> {
    pub(crate) row: &'a ImportOperationRow,
    pub(crate) base: String,
    pub(crate) waiting: Option<String>,
}

/// A change as text, before the transaction, so that it is short.
pub(crate) struct EncodedChange<'a> {
    pub(crate) put: Option<EncodedImport<'a>>,
    pub(crate) operations: Vec<EncodedOperation<'a>>,
    pub(crate) remove: Option<&'a str>,
}

impl<'a> EncodedChange<'a> {
    /// # Errors
    /// [`StoreError::Conflict`] when a tool is in it twice.
    pub(crate) fn new(change: &'a ImportChange) -> Result<Self> {
        let mut tools = HashSet::with_capacity(change.operations.len());
        let put = change.put.as_ref().map(|row| {
            Ok::<_, StoreError>(EncodedImport {
                row,
                source: to_json(&row.source)?,
                hosts: to_json(&row.hosts)?,
            })
        });
        let operations = change.operations.iter().map(|row| {
            if !tools.insert(row.tool.as_str()) {
                return Err(StoreError::conflict(format!(
                    "another operation of the tool \"{}\" in the same import",
                    row.tool
                )));
            }
            let waiting = row.waiting.as_ref();
            Ok(EncodedOperation {
                row,
                base: to_json(&row.base)?,
                waiting: waiting.map(|waiting| to_json(&waiting.definition)).transpose()?,
            })
        });
        Ok(Self {
            put: put.transpose()?,
            operations: operations.collect::<Result<_>>()?,
            remove: change.remove.as_deref(),
        })
    }
}

/// Writes a change of imports inside the transaction that has taken the project's version.
macro_rules! write_imports {
    ($store:expr, $tx:expr, $uid:expr, $change:expr, $revision:expr) => {{
        let change: &$crate::imports::EncodedChange<'_> = $change;
        let revision: i64 = $revision;
        if let Some(id) = change.remove {
            $crate::db::execute!(
                $tx,
                "DELETE FROM import_operations WHERE project_uid = $1 AND import_id = $2",
                $uid.0,
                id,
            );
            let gone = $crate::db::execute!(
                $tx,
                "DELETE FROM imports WHERE project_uid = $1 AND id = $2",
                $uid.0,
                id,
            );
            if gone == 0 {
                return Err($crate::error::StoreError::not_found(format!("the import \"{id}\"")));
            }
        }
        if let Some(put) = &change.put {
            let row = put.row;
            $crate::db::execute!(
                $tx,
                "INSERT INTO imports (project_uid, id, revision, title, version, format, source, hosts, created_at, created_by,
                                      imported_at, imported_by)
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
                 ON CONFLICT (project_uid, id)
                 DO UPDATE SET revision = excluded.revision, title = excluded.title, version = excluded.version,
                               format = excluded.format, source = excluded.source, hosts = excluded.hosts,
                               imported_at = excluded.imported_at, imported_by = excluded.imported_by",
                $uid.0,
                row.id.as_str(),
                revision,
                $crate::codec::text(&row.title),
                $crate::codec::text(&row.version),
                $crate::codec::Word::word(row.format),
                put.source.as_str(),
                put.hosts.as_str(),
                $crate::codec::micros(row.created_at),
                $crate::codec::text(&row.created_by),
                $crate::codec::micros(row.imported_at),
                $crate::codec::text(&row.imported_by),
            );
        }
        for chunk in $crate::multirow::chunks(&change.operations) {
            let mut query = sqlx::query($crate::imports::PUT_OPERATIONS.sql($store, chunk.len()));
            for operation in chunk {
                let row = operation.row;
                let waiting = row.waiting.as_ref();
                query = query
                    .bind($uid.0)
                    .bind(row.tool.as_str())
                    .bind(row.import.as_str())
                    .bind(revision)
                    .bind($crate::codec::text(&row.method))
                    .bind($crate::codec::text(&row.path))
                    .bind(operation.base.as_str())
                    .bind(operation.waiting.as_deref())
                    .bind(waiting.map(|waiting| $crate::codec::micros(waiting.since)))
                    .bind(waiting.map(|waiting| $crate::codec::text(&waiting.by)))
                    .bind(row.gone_since.map($crate::codec::micros));
            }
            query.execute(&mut *$tx).await?;
        }
    }};
}
pub(crate) use write_imports;
