//! What a project has one of, as a JSON document with a revision: its settings, its limits, its egress list, its MCP
//! servers and its account providers.

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde::de::DeserializeOwned;
use toolgate_core::ids::ProjectUid;

use crate::Store;
use crate::codec::{from_json, micros, text, to_json};
use crate::db::{execute, writing};
use crate::error::{Result, StoreError};
use crate::rows::{Replacement, Revised};
use crate::versions::Scope;

/// Which document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Settings,
    Limits,
    Egress,
    McpServers,
    AccountProviders,
}

impl Kind {
    const fn word(self) -> &'static str {
        match self {
            Self::Settings => "settings",
            Self::Limits => "limits",
            Self::Egress => "egress",
            Self::McpServers => "mcp_servers",
            Self::AccountProviders => "account_providers",
        }
    }
}

/// Kind, revision and content.
pub(crate) type DocumentColumns = (String, i64, String);

/// Reads the documents of a project.
macro_rules! load_documents {
    ($tx:expr, $uid:expr) => {
        sqlx::query_as::<_, $crate::documents::DocumentColumns>(
            "SELECT kind, revision, content FROM project_documents WHERE project_uid = $1",
        )
        .bind($uid.0)
        .fetch_all(&mut *$tx)
        .await?
    };
}
pub(crate) use load_documents;

/// The document of a kind; the default at revision 0 when none is stored.
pub(crate) fn document<T: DeserializeOwned + Default>(
    rows: &[DocumentColumns],
    kind: Kind,
    uid: ProjectUid,
) -> Result<Revised<T>> {
    let Some((_, revision, content)) = rows.iter().find(|(word, ..)| word == kind.word()) else {
        return Ok(Revised::default());
    };
    Ok(Revised {
        value: from_json(content, || format!("the {} of project {uid}", kind.word()))?,
        revision: *revision,
    })
}

impl Store {
    /// Replaces a document; its new revision.
    pub(crate) async fn put_document<T: Serialize + Sync>(
        &self,
        project: ProjectUid,
        kind: Kind,
        replacement: &Replacement<'_, T>,
        at: DateTime<Utc>,
    ) -> Result<i64> {
        let scope = Scope::Project(project).to_string();
        let content = to_json(replacement.value)?;
        writing!(self, |tx| {
            // The version first: its lock makes changes of one project wait for each other.
            let living = execute!(
                tx,
                "UPDATE versions SET version = version + 1 WHERE scope = $1",
                &scope
            );
            if living == 0 {
                return Err(StoreError::not_found("the project"));
            }
            let revision: Option<i64> = sqlx::query_scalar(
                "SELECT revision FROM project_documents WHERE project_uid = $1 AND kind = $2",
            )
            .bind(project.0)
            .bind(kind.word())
            .fetch_optional(&mut *tx)
            .await?;
            let revision = revision.unwrap_or(0);
            if replacement.expected.is_some_and(|expected| expected != revision) {
                return Err(StoreError::VersionConflict);
            }
            execute!(
                tx,
                "INSERT INTO project_documents (project_uid, kind, revision, content, updated_at, updated_by)
                 VALUES ($1, $2, $3, $4, $5, $6)
                 ON CONFLICT (project_uid, kind)
                 DO UPDATE SET revision = excluded.revision, content = excluded.content,
                               updated_at = excluded.updated_at, updated_by = excluded.updated_by",
                project.0,
                kind.word(),
                revision + 1,
                &content,
                micros(at),
                text(replacement.author),
            );
            revision + 1
        })
        .await
    }
}
