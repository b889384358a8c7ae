//! Guides: how tools are used. They are loaded with a project.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use toolgate_api::guides::GuideDefinition;
use toolgate_core::ids::ProjectUid;

use crate::Store;
use crate::codec::{from_json, micros, text, time, to_json};
use crate::db::{execute, writing};
use crate::error::{Result, StoreError};
use crate::rows::GuideRow;
use crate::versions::Scope;

/// A change of guides, applied whole or not at all.
#[derive(Debug, Clone)]
pub struct GuideChange {
    /// The project.
    pub project: ProjectUid,
    /// The version the change was computed from; another one in the database is a conflict.
    pub expected_version: i64,
    /// The guides to store, by id; those of the same id are replaced.
    pub put: Vec<(String, GuideDefinition)>,
    /// Ids of the guides to remove.
    pub remove: Vec<String>,
    /// Who.
    pub author: String,
    /// When.
    pub at: DateTime<Utc>,
}

/// The columns of a guide.
pub(crate) type GuideColumns = (String, String, i64, i64, String);
/// An import, and a tool of it.
pub(crate) type SourceColumns = (String, String);

/// Reads the guides of a project, by id, and the tools of the imports that they are about.
macro_rules! load_guides {
    ($tx:expr, $uid:expr) => {{
        let guides = sqlx::query_as::<_, $crate::guides::GuideColumns>(
            "SELECT id, definition, revision, updated_at, updated_by FROM tool_guides
             WHERE project_uid = $1 ORDER BY id",
        )
        .bind($uid.0)
        .fetch_all(&mut *$tx)
        .await?;
        // Most projects have no guide of an import.
        let sources = if guides.iter().any(|guide| guide.1.contains("\"source\"")) {
            sqlx::query_as::<_, $crate::guides::SourceColumns>(
                "SELECT import_id, tool FROM import_operations WHERE project_uid = $1",
            )
            .bind($uid.0)
            .fetch_all(&mut *$tx)
            .await?
        } else {
            Vec::new()
        };
        (guides, sources)
    }};
}
pub(crate) use load_guides;

/// The guides of a project from their columns.
pub(crate) fn guides(
    (rows, sources): (Vec<GuideColumns>, Vec<SourceColumns>),
    uid: ProjectUid,
) -> Result<Vec<GuideRow>> {
    let mut tools: HashMap<String, Vec<String>> = HashMap::new();
    for (import, tool) in sources {
        tools.entry(import).or_default().push(tool);
    }
    let guide = |(id, definition, revision, updated_at, updated_by): GuideColumns| {
        let definition: GuideDefinition = from_json(&definition, || format!("a guide of project {uid}"))?;
        let source = definition.source.as_ref();
        Ok(GuideRow {
            tools: source
                .and_then(|source| tools.get(source))
                .cloned()
                .unwrap_or_default(),
            id,
            definition,
            revision,
            updated_at: time(updated_at)?,
            updated_by,
        })
    };
    rows.into_iter().map(guide).collect()
}

impl Store {
    /// Stores and removes guides; answers the project's version afterwards.
    ///
    /// # Errors
    /// [`StoreError::VersionConflict`] when the project is not at the expected version (any more), or does not live;
    /// [`StoreError::NotFound`] when a guide to remove is not there.
    pub async fn change_guides(&self, change: &GuideChange) -> Result<i64> {
        let uid = change.project;
        let version = change.expected_version + 1;
        let author = text(&change.author);
        let encoded = |(id, guide): &(String, GuideDefinition)| Ok((id.clone(), to_json(guide)?));
        let put = change.put.iter().map(encoded).collect::<Result<Vec<_>>>()?;
        writing!(self, |tx| {
            let moved = execute!(
                tx,
                "UPDATE versions SET version = version + 1 WHERE scope = $1 AND version = $2",
                Scope::Project(uid).to_string(),
                change.expected_version,
            );
            if moved == 0 {
                return Err(StoreError::VersionConflict);
            }
            for id in &change.remove {
                let gone = execute!(
                    tx,
                    "DELETE FROM tool_guides WHERE project_uid = $1 AND id = $2",
                    uid.0,
                    id,
                );
                if gone == 0 {
                    return Err(StoreError::not_found(format!("the guide \"{id}\"")));
                }
            }
            for (id, definition) in &put {
                execute!(
                    tx,
                    "INSERT INTO tool_guides (project_uid, id, revision, definition, updated_at, updated_by)
                     VALUES ($1, $2, $3, $4, $5, $6)
                     ON CONFLICT (project_uid, id)
                     DO UPDATE SET revision = excluded.revision, definition = excluded.definition,
                                   updated_at = excluded.updated_at, updated_by = excluded.updated_by",
                    uid.0,
                    id,
                    version,
                    definition,
                    micros(change.at),
                    &*author,
                );
            }
            version
        })
        .await
    }
}
