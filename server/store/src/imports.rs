//! Imports and their operations. They are changed with the definitions they belong to, in one transaction: see
//! [`crate::Store::publish_with`].

mod writing;

use std::collections::HashMap;

use toolgate_api::imports::{DescriptionFormat, ImportCounts};
use toolgate_core::ids::{ProjectUid, ToolName};

use crate::Store;
use crate::codec::{Word, from_json, time};
use crate::db::{both, reading};
use crate::error::{Result, StoreError};
use crate::rows::{ImportOperationRow, ImportRow, WaitingRow};

pub(crate) use self::writing::{EncodedChange, PUT_OPERATIONS, write_imports};

/// Id, revision, title, version, format, source, hosts, and when and by whom it was made and last imported.
type ImportColumns = (
    String,
    i64,
    String,
    String,
    String,
    String,
    String,
    i64,
    String,
    i64,
    String,
);
/// Import, revision, method, path, tool, base, what waits since when and by whom, and since when it is gone.
type OperationColumns = (
    String,
    i64,
    String,
    String,
    String,
    String,
    Option<String>,
    Option<i64>,
    Option<String>,
    Option<i64>,
);

impl Store {
    /// The imports of a project by id, those after an id if one is given, with how many operations each has.
    pub async fn imports(
        &self,
        project: ProjectUid,
        after: Option<&str>,
        limit: u32,
    ) -> Result<Vec<(ImportRow, ImportCounts)>> {
        let (rows, counts) = reading!(self, |tx| {
            let rows: Vec<ImportColumns> = sqlx::query_as(
                "SELECT id, revision, title, version, format, source, hosts, created_at, created_by, imported_at, imported_by
                 FROM imports WHERE project_uid = $1 AND id > $2 ORDER BY id LIMIT $3",
            )
            .bind(project.0)
            .bind(after.unwrap_or_default())
            .bind(i64::from(limit))
            .fetch_all(&mut *tx)
            .await?;
            let counts: Vec<(String, i64, i64, i64)> = sqlx::query_as(
                "SELECT import_id, COUNT(*), COUNT(waiting), COUNT(gone_since) FROM import_operations
                 WHERE project_uid = $1 GROUP BY import_id",
            )
            .bind(project.0)
            .fetch_all(&mut *tx)
            .await?;
            (rows, counts)
        })
        .await?;
        let counts: HashMap<String, ImportCounts> = counts
            .into_iter()
            .map(|(id, operations, waiting, gone)| (id, import_counts((operations, waiting, gone))))
            .collect();
        rows.into_iter()
            .map(|row| {
                let row = import(row)?;
                let counts = counts.get(&row.id).copied().unwrap_or_default();
                Ok((row, counts))
            })
            .collect()
    }

    /// One import, with how many operations it has.
    pub async fn import_counted(
        &self,
        project: ProjectUid,
        id: &str,
    ) -> Result<Option<(ImportRow, ImportCounts)>> {
        let found = reading!(self, |tx| {
            let row: Option<ImportColumns> = sqlx::query_as(
                "SELECT id, revision, title, version, format, source, hosts, created_at, created_by, imported_at, imported_by
                 FROM imports WHERE project_uid = $1 AND id = $2",
            )
            .bind(project.0)
            .bind(id)
            .fetch_optional(&mut *tx)
            .await?;
            let counts: (i64, i64, i64) = sqlx::query_as(
                "SELECT COUNT(*), COUNT(waiting), COUNT(gone_since) FROM import_operations
                 WHERE project_uid = $1 AND import_id = $2",
            )
            .bind(project.0)
            .bind(id)
            .fetch_one(&mut *tx)
            .await?;
            row.map(|row| (row, counts))
        })
        .await?;
        let read = |(row, counts)| Ok::<_, StoreError>((import(row)?, import_counts(counts)));
        found.map(read).transpose()
    }

    /// One import with all of its operations, by the names of their tools.
    pub async fn import(
        &self,
        project: ProjectUid,
        id: &str,
    ) -> Result<Option<(ImportRow, Vec<ImportOperationRow>)>> {
        let found = reading!(self, |tx| {
            let row: Option<ImportColumns> = sqlx::query_as(
                "SELECT id, revision, title, version, format, source, hosts, created_at, created_by, imported_at, imported_by
                 FROM imports WHERE project_uid = $1 AND id = $2",
            )
            .bind(project.0)
            .bind(id)
            .fetch_optional(&mut *tx)
            .await?;
            match row {
                None => None,
                Some(row) => {
                    let operations: Vec<OperationColumns> = sqlx::query_as(
                        "SELECT import_id, revision, method, path, tool, base, waiting, waiting_since, waiting_by, gone_since
                         FROM import_operations WHERE project_uid = $1 AND import_id = $2 ORDER BY tool",
                    )
                    .bind(project.0)
                    .bind(id)
                    .fetch_all(&mut *tx)
                    .await?;
                    Some((row, operations))
                }
            }
        })
        .await?;
        let Some((row, operations)) = found else {
            return Ok(None);
        };
        let operations = operations.into_iter().map(operation).collect::<Result<_>>()?;
        Ok(Some((import(row)?, operations)))
    }

    /// Operations of one import or of all, by the names of their tools, those after a name if one is given.
    pub async fn import_operations(
        &self,
        project: ProjectUid,
        import: Option<&str>,
        after: Option<&str>,
        limit: u32,
    ) -> Result<Vec<ImportOperationRow>> {
        let rows: Vec<OperationColumns> = both!(self, |pool| {
            sqlx::query_as(
                "SELECT import_id, revision, method, path, tool, base, waiting, waiting_since, waiting_by, gone_since
                 FROM import_operations
                 WHERE project_uid = $1 AND ($2 IS NULL OR import_id = $3) AND tool > $4 ORDER BY tool LIMIT $5",
            )
            .bind(project.0)
            .bind(import.map(|_| 1_i64))
            .bind(import.unwrap_or_default())
            .bind(after.unwrap_or_default())
            .bind(i64::from(limit))
            .fetch_all(pool)
            .await?
        })
        .await?;
        rows.into_iter().map(operation).collect()
    }

    /// What waits in one import or in all, as [`Self::import_operations`], and how much that is on all pages.
    pub async fn waiting_operations(
        &self,
        project: ProjectUid,
        import: Option<&str>,
        after: Option<&str>,
        limit: u32,
    ) -> Result<(Vec<ImportOperationRow>, u64)> {
        let (rows, total) = reading!(self, |tx| {
            let rows: Vec<OperationColumns> = sqlx::query_as(
                "SELECT import_id, revision, method, path, tool, base, waiting, waiting_since, waiting_by, gone_since
                 FROM import_operations
                 WHERE project_uid = $1 AND waiting IS NOT NULL AND ($2 IS NULL OR import_id = $3) AND tool > $4
                 ORDER BY tool LIMIT $5",
            )
            .bind(project.0)
            .bind(import.map(|_| 1_i64))
            .bind(import.unwrap_or_default())
            .bind(after.unwrap_or_default())
            .bind(i64::from(limit))
            .fetch_all(&mut *tx)
            .await?;
            let total: i64 = sqlx::query_scalar(
                "SELECT COUNT(*) FROM import_operations
                 WHERE project_uid = $1 AND waiting IS NOT NULL AND ($2 IS NULL OR import_id = $3)",
            )
            .bind(project.0)
            .bind(import.map(|_| 1_i64))
            .bind(import.unwrap_or_default())
            .fetch_one(&mut *tx)
            .await?;
            (rows, total)
        })
        .await?;
        let rows = rows.into_iter().map(operation).collect::<Result<_>>()?;
        Ok((rows, total.unsigned_abs()))
    }

    /// The operation that became a tool.
    pub async fn import_operation(
        &self,
        project: ProjectUid,
        tool: &str,
    ) -> Result<Option<ImportOperationRow>> {
        let row: Option<OperationColumns> = both!(self, |pool| {
            sqlx::query_as(
                "SELECT import_id, revision, method, path, tool, base, waiting, waiting_since, waiting_by, gone_since
                 FROM import_operations WHERE project_uid = $1 AND tool = $2",
            )
            .bind(project.0)
            .bind(tool)
            .fetch_optional(pool)
            .await?
        })
        .await?;
        row.map(operation).transpose()
    }

    /// The tools of each import of a project, deleted ones included, by name.
    pub async fn imported_tools(&self, project: ProjectUid) -> Result<HashMap<String, String>> {
        let rows: Vec<(String, String)> = both!(self, |pool| {
            sqlx::query_as("SELECT tool, import_id FROM import_operations WHERE project_uid = $1")
                .bind(project.0)
                .fetch_all(pool)
                .await?
        })
        .await?;
        Ok(rows.into_iter().collect())
    }
}

fn import(
    (id, revision, title, version, format, source, hosts, created_at, created_by, imported_at, imported_by): ImportColumns,
) -> Result<ImportRow> {
    Ok(ImportRow {
        revision,
        title,
        version,
        format: DescriptionFormat::from_word(&format)?,
        source: from_json(&source, || format!("the source of the import \"{id}\""))?,
        hosts: from_json(&hosts, || format!("the hosts of the import \"{id}\""))?,
        created_at: time(created_at)?,
        created_by,
        imported_at: time(imported_at)?,
        imported_by,
        id,
    })
}

fn operation(
    (import, revision, method, path, tool, base, waiting, since, by, gone): OperationColumns,
) -> Result<ImportOperationRow> {
    let definition = |text: &str| from_json(text, || format!("the imported definition of \"{tool}\""));
    let waiting = match (waiting, since, by) {
        (Some(waiting), Some(since), Some(by)) => Some(WaitingRow {
            definition: definition(&waiting)?,
            since: time(since)?,
            by,
        }),
        _ => None,
    };
    Ok(ImportOperationRow {
        import,
        revision,
        method,
        path,
        base: definition(&base)?,
        waiting,
        gone_since: gone.map(time).transpose()?,
        tool: ToolName::parse(tool).map_err(|error| StoreError::corrupt(error.to_string()))?,
    })
}

fn import_counts((operations, waiting, gone): (i64, i64, i64)) -> ImportCounts {
    let count = |rows: i64| u32::try_from(rows).unwrap_or(u32::MAX);
    ImportCounts {
        operations: count(operations),
        waiting: count(waiting),
        gone: count(gone),
    }
}
