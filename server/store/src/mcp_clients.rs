//! The programs that connected by MCP, as they name themselves.

use chrono::{DateTime, Utc};
use toolgate_core::ids::ProjectUid;

use crate::Store;
use crate::codec::{micros, text, time};
use crate::db::{both, execute, writing};
use crate::error::Result;
use crate::rows::McpClientRow;

impl Store {
    /// Keeps when programs were last used. Of each project the `kept` used last stay: their names are what anyone says.
    /// Those of projects that do not live are left out.
    pub async fn note_mcp_clients(&self, seen: &[McpClientRow], kept: u32) -> Result<()> {
        writing!(self, |tx| {
            for one in seen {
                execute!(
                    tx,
                    "INSERT INTO mcp_clients (project_uid, principal, name, version, first_at, last_at)
                     SELECT uid, $2, $3, $4, $5, $6 FROM projects WHERE uid = $1 AND deleted_at IS NULL
                     ON CONFLICT (project_uid, principal, name, version)
                     DO UPDATE SET last_at = excluded.last_at WHERE mcp_clients.last_at < excluded.last_at",
                    one.project.0,
                    text(&one.principal),
                    text(&one.name),
                    text(&one.version),
                    micros(one.first_at),
                    micros(one.last_at),
                );
            }
            let projects: std::collections::BTreeSet<_> = seen.iter().map(|one| one.project.0).collect();
            for project in projects {
                execute!(
                    tx,
                    "DELETE FROM mcp_clients WHERE project_uid = $1 AND last_at <
                         (SELECT MIN(last_at) FROM (SELECT last_at FROM mcp_clients WHERE project_uid = $1
                          ORDER BY last_at DESC LIMIT $2) AS latest)",
                    project,
                    i64::from(kept),
                );
            }
        })
        .await
    }

    /// The programs of a project, those used last first.
    pub async fn mcp_clients(&self, project: ProjectUid, limit: u32) -> Result<Vec<McpClientRow>> {
        type Columns = (String, String, String, i64, i64);
        let rows: Vec<Columns> = both!(self, |pool| sqlx::query_as(
            "SELECT principal, name, version, first_at, last_at FROM mcp_clients
             WHERE project_uid = $1 ORDER BY last_at DESC, principal, name, version LIMIT $2"
        )
        .bind(project.0)
        .bind(i64::from(limit))
        .fetch_all(pool)
        .await?)
        .await?;
        let row = |(principal, name, version, first_at, last_at): Columns| {
            Ok(McpClientRow {
                project,
                principal,
                name,
                version,
                first_at: time(first_at)?,
                last_at: time(last_at)?,
            })
        };
        rows.into_iter().map(row).collect()
    }

    /// Forgets the programs that were not used since a time; how many.
    pub async fn prune_mcp_clients(&self, before: DateTime<Utc>) -> Result<u64> {
        writing!(self, |tx| {
            execute!(tx, "DELETE FROM mcp_clients WHERE last_at < $1", micros(before))
        })
        .await
    }
}
