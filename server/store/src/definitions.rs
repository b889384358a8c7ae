//! Tools and services of a project: publishing changes, and the history of each tool.

use std::collections::{HashMap, HashSet};

use toolgate_core::ids::{ProjectUid, ToolName};

use crate::Store;
use crate::codec::{from_json, micros, text, time, to_json};
use crate::db::{both, execute, reading, writing};
use crate::error::{Result, StoreError};
use crate::imports::{EncodedChange, write_imports};
use crate::labels::{Written, encode_tests, write_labels};
use crate::multirow::{MultiRow, chunks};
use crate::rows::{ImportChange, Publication, RevisionRow};
use crate::versions::{Scope, hold_version, next_directory};

/// What a publication has become.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Published {
    /// The project's version afterwards.
    pub version: i64,
    /// The new revision of each tool, deletions included, in the order given.
    pub tools: Vec<(ToolName, i64)>,
    /// The new revision of each service.
    pub services: Vec<(ToolName, i64)>,
}

type RevisionColumns = (String, i64, String, i64, Option<String>, Option<String>);

static LAST_REVISIONS: MultiRow = MultiRow::new(
        "WITH wanted (project_uid, name) AS (",
        2,
        ") SELECT wanted.name, MAX(tool_revisions.revision) FROM wanted
           JOIN tool_revisions ON tool_revisions.project_uid = wanted.project_uid AND tool_revisions.name = wanted.name
           GROUP BY wanted.name",
);
static NUMBERED_REVISIONS: MultiRow = MultiRow::new(
    "WITH wanted (project_uid, name, revision) AS (",
    3,
    ") SELECT found.name, found.revision, found.author, found.created_at, found.note, found.definition FROM wanted
       JOIN tool_revisions AS found ON found.project_uid = wanted.project_uid AND found.name = wanted.name
         AND found.revision = wanted.revision",
);
static INSERT_REVISIONS: MultiRow = MultiRow::new(
    "INSERT INTO tool_revisions (project_uid, name, revision, author, created_at, note, definition, version)",
    8,
    "",
);
static PUT_TOOLS: MultiRow = MultiRow::new(
    "INSERT INTO tools (project_uid, name, revision, definition, updated_at, updated_by)",
    6,
    " ON CONFLICT (project_uid, name)
          DO UPDATE SET revision = excluded.revision, definition = excluded.definition,
                        updated_at = excluded.updated_at, updated_by = excluded.updated_by",
);

/// A tool on its way into the database.
struct Change<'a> {
    name: &'a ToolName,
    definition: Option<&'a str>,
    revision: i64,
}

/// The last revision of each of these tools that ever was.
macro_rules! last_revisions {
    ($store:expr, $tx:expr, $uid:expr, $names:expr) => {{
        let names: &[&ToolName] = $names;
        let mut last: HashMap<String, i64> = HashMap::with_capacity(names.len());
        for chunk in chunks(names) {
            let mut query = sqlx::query_as::<_, (String, i64)>(LAST_REVISIONS.sql($store, chunk.len()));
            for name in chunk {
                query = query.bind($uid.0).bind(name.as_str());
            }
            last.extend(query.fetch_all(&mut *$tx).await?);
        }
        last
    }};
}

impl Store {
    /// Applies a change of definitions and of names, whole or not at all, and makes a new revision of every tool in it.
    ///
    /// # Errors
    /// [`StoreError::VersionConflict`] when the project, or the directory if a version of it is expected, is not at
    /// the expected version (any more), or the project does not exist; [`StoreError::NotFound`] when a tool to delete
    /// is not there; [`StoreError::Conflict`] when a name is in it twice, or a grant names what a group is to be
    /// called.
    pub async fn publish(&self, publication: &Publication) -> Result<Published> {
        self.publish_with(publication, &ImportChange::default()).await
    }

    /// As [`Self::publish`], with a change of the imports that tools belong to.
    ///
    /// # Errors
    /// As [`Self::publish`]; [`StoreError::NotFound`] when an import to remove is not there.
    pub async fn publish_with(&self, publication: &Publication, imports: &ImportChange) -> Result<Published> {
        let uid = publication.project;
        let scope = Scope::Project(uid).to_string();
        let at = micros(publication.at);
        let author = text(&publication.author);
        let note = publication.note.as_deref().map(text);
        let encoded = encode(publication)?;
        let imports = EncodedChange::new(imports)?;
        let tests = encode_tests(&publication.labels.policy_tests)?;
        writing!(self, |tx| {
            // The directory first, as in every transaction that takes both.
            if let Some(expected) = publication.expected_directory {
                hold_version!(tx, Scope::Directory, expected, StoreError::VersionConflict);
            }
            let directory = if publication.labels.touches_grants() {
                next_directory!(tx)
            } else {
                0
            };
            let moved = execute!(
                tx,
                "UPDATE versions SET version = version + 1 WHERE scope = $1 AND version = $2",
                &scope,
                publication.expected_version,
            );
            if moved == 0 {
                return Err(StoreError::VersionConflict);
            }
            // A change of imports alone is none of definitions, which need not be loaded again.
            let changes_services =
                !publication.services.is_empty() || !publication.deleted_services.is_empty();
            if !encoded.is_empty() || changes_services || !publication.labels.is_empty() {
                execute!(
                    tx,
                    "INSERT INTO versions (scope, version) VALUES ($1, $2)
                     ON CONFLICT (scope) DO UPDATE SET version = excluded.version",
                    Scope::Definitions(uid).to_string(),
                    publication.expected_version + 1,
                );
            }

            let names: Vec<&ToolName> = encoded.iter().map(|(name, _)| *name).collect();
            let last = last_revisions!(self, tx, uid, &names);
            let changes = number(&encoded, &last);

            for chunk in chunks(&changes) {
                let mut query = sqlx::query(INSERT_REVISIONS.sql(self, chunk.len()));
                for change in chunk {
                    query = query
                        .bind(uid.0)
                        .bind(change.name.as_str())
                        .bind(change.revision)
                        .bind(&*author)
                        .bind(at)
                        .bind(note.as_deref())
                        .bind(change.definition)
                        .bind(publication.expected_version + 1);
                }
                query.execute(&mut *tx).await?;
            }

            let (stored, deleted): (Vec<_>, Vec<_>) =
                changes.iter().partition(|change| change.definition.is_some());
            for chunk in chunks(&stored) {
                let mut query = sqlx::query(PUT_TOOLS.sql(self, chunk.len()));
                for change in chunk {
                    query = query
                        .bind(uid.0)
                        .bind(change.name.as_str())
                        .bind(change.revision)
                        .bind(change.definition)
                        .bind(at)
                        .bind(&*author);
                }
                query.execute(&mut *tx).await?;
            }
            for change in deleted {
                let gone = execute!(
                    tx,
                    "DELETE FROM tools WHERE project_uid = $1 AND name = $2",
                    uid.0,
                    change.name.as_str()
                );
                if gone == 0 {
                    return Err(StoreError::not_found(format!("the tool \"{}\"", change.name)));
                }
            }

            let mut services = Vec::with_capacity(publication.services.len());
            for service in &publication.services {
                let revision: i64 = sqlx::query_scalar(
                    "INSERT INTO tool_services (project_uid, id, revision, definition) VALUES ($1, $2, 1, $3)
                     ON CONFLICT (project_uid, id)
                     DO UPDATE SET revision = tool_services.revision + 1, definition = excluded.definition
                     RETURNING revision",
                )
                .bind(uid.0)
                .bind(service.id.as_str())
                .bind(to_json(service)?)
                .fetch_one(&mut *tx)
                .await?;
                services.push((service.id.clone(), revision));
            }
            for id in &publication.deleted_services {
                let gone = execute!(
                    tx,
                    "DELETE FROM tool_services WHERE project_uid = $1 AND id = $2",
                    uid.0,
                    id.as_str()
                );
                if gone == 0 {
                    return Err(StoreError::not_found(format!("the tool service \"{id}\"")));
                }
            }
            let written = Written {
                version: publication.expected_version + 1,
                directory,
                at: publication.at,
                by: &author,
            };
            write_labels!(tx, uid, &publication.labels, &tests, &written);
            write_imports!(self, tx, uid, &imports, publication.expected_version + 1);
            Published {
                version: publication.expected_version + 1,
                tools: changes
                    .iter()
                    .map(|change| (change.name.clone(), change.revision))
                    .collect(),
                services,
            }
        })
        .await
    }

    /// The last revision of each of these tools, deleted ones included. A tool that never was is left out.
    pub async fn last_revisions(
        &self,
        project: ProjectUid,
        tools: &[&ToolName],
    ) -> Result<HashMap<String, i64>> {
        reading!(self, |tx| { last_revisions!(self, tx, project, tools) }).await
    }

    /// These revisions of these tools, in no order. One that never was is left out.
    pub async fn numbered_revisions(
        &self,
        project: ProjectUid,
        wanted: &[(&ToolName, i64)],
    ) -> Result<Vec<RevisionRow>> {
        let rows = reading!(self, |tx| {
            let mut rows: Vec<RevisionColumns> = Vec::with_capacity(wanted.len());
            for chunk in chunks(wanted) {
                let mut query =
                    sqlx::query_as::<_, RevisionColumns>(NUMBERED_REVISIONS.sql(self, chunk.len()));
                for (name, number) in chunk {
                    query = query.bind(project.0).bind(name.as_str()).bind(*number);
                }
                rows.extend(query.fetch_all(&mut *tx).await?);
            }
            rows
        })
        .await?;
        rows.into_iter().map(revision).collect()
    }

    /// The revisions of a tool, newest first, those before a revision if one is given. A tool that never was has none.
    pub async fn revisions(
        &self,
        project: ProjectUid,
        tool: &ToolName,
        before: Option<i64>,
        limit: u32,
    ) -> Result<Vec<RevisionRow>> {
        let rows: Vec<RevisionColumns> = both!(self, |pool| {
            sqlx::query_as(
                "SELECT name, revision, author, created_at, note, definition FROM tool_revisions
                 WHERE project_uid = $1 AND name = $2 AND revision < $3 ORDER BY revision DESC LIMIT $4",
            )
            .bind(project.0)
            .bind(tool.as_str())
            .bind(before.unwrap_or(i64::MAX))
            .bind(i64::from(limit))
            .fetch_all(pool)
            .await?
        })
        .await?;
        rows.into_iter().map(revision).collect()
    }

    /// One revision of a tool.
    pub async fn revision(
        &self,
        project: ProjectUid,
        tool: &ToolName,
        number: i64,
    ) -> Result<Option<RevisionRow>> {
        let row: Option<RevisionColumns> = both!(self, |pool| {
            sqlx::query_as(
                "SELECT name, revision, author, created_at, note, definition FROM tool_revisions
                 WHERE project_uid = $1 AND name = $2 AND revision = $3",
            )
            .bind(project.0)
            .bind(tool.as_str())
            .bind(number)
            .fetch_optional(pool)
            .await?
        })
        .await?;
        row.map(revision).transpose()
    }
}

/// The definitions as text, before the transaction, so that it is short.
fn encode(publication: &Publication) -> Result<Vec<(&ToolName, Option<String>)>> {
    let mut names = HashSet::with_capacity(publication.tools.len());
    publication
        .tools
        .iter()
        .map(|(name, definition)| {
            if !names.insert(name) {
                return Err(StoreError::conflict(format!(
                    "another change of \"{name}\" in the same publication"
                )));
            }
            Ok((name, definition.as_ref().map(to_json).transpose()?))
        })
        .collect()
}

/// Gives every change the revision after the tool's last one.
fn number<'a>(encoded: &'a [(&'a ToolName, Option<String>)], last: &HashMap<String, i64>) -> Vec<Change<'a>> {
    encoded
        .iter()
        .map(|(name, definition)| Change {
            name,
            definition: definition.as_deref(),
            revision: last.get(name.as_str()).copied().unwrap_or(0) + 1,
        })
        .collect()
}

fn revision((name, revision, author, created_at, note, definition): RevisionColumns) -> Result<RevisionRow> {
    let definition = definition
        .map(|text| from_json(&text, || format!("revision {revision} of the tool \"{name}\"")))
        .transpose()?;
    let name = ToolName::parse(name).map_err(|error| StoreError::corrupt(error.to_string()))?;
    Ok(RevisionRow {
        name,
        revision,
        author,
        created_at: time(created_at)?,
        note,
        definition,
    })
}
