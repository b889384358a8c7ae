//! Loading a project: whole, or without its definitions where only something else has changed.

use toolgate_core::ids::ProjectUid;

use crate::Store;
use crate::codec::{from_json, time};
use crate::db::reading;
use crate::documents::{DocumentColumns, Kind, document, load_documents};
use crate::error::Result;
use crate::labels::{label, load_labels};
use crate::policy_tests::{PolicyTestColumns, load_policy_tests, policy_tests};
use crate::projects::{ProjectColumns, project};
use crate::rows::{ProjectParts, ProjectRows, ServiceRow, ToolRow};
use crate::secrets::{SecretColumns, load_secrets, secret};
use crate::versions::Scope;

/// What stands in the database of a project beside its definitions.
struct Columns {
    project: ProjectColumns,
    version: i64,
    definitions: Option<i64>,
    documents: Vec<DocumentColumns>,
    secrets: Vec<SecretColumns>,
    policy_tests: Vec<PolicyTestColumns>,
}

impl Columns {
    fn read(self, uid: ProjectUid) -> Result<ProjectParts> {
        Ok(ProjectParts {
            version: self.version,
            project: project(self.project)?,
            policy_tests: policy_tests(self.policy_tests, uid)?,
            settings: document(&self.documents, Kind::Settings, uid)?,
            limits: document(&self.documents, Kind::Limits, uid)?,
            egress: document(&self.documents, Kind::Egress, uid)?,
            secrets: self.secrets.into_iter().map(secret).collect::<Result<_>>()?,
        })
    }
}

/// Reads [`Columns`]; `None` when the project does not live.
macro_rules! load_columns {
    ($tx:expr, $uid:expr) => {{
        let found: Option<ProjectColumns> = sqlx::query_as(
            "SELECT uid, id, name, created_at FROM projects WHERE uid = $1 AND deleted_at IS NULL",
        )
        .bind($uid.0)
        .fetch_optional(&mut *$tx)
        .await?;
        match found {
            None => None,
            Some(project) => Some(Columns {
                project,
                version: sqlx::query_scalar("SELECT version FROM versions WHERE scope = $1")
                    .bind(Scope::Project($uid).to_string())
                    .fetch_one(&mut *$tx)
                    .await?,
                definitions: sqlx::query_scalar("SELECT version FROM versions WHERE scope = $1")
                    .bind(Scope::Definitions($uid).to_string())
                    .fetch_optional(&mut *$tx)
                    .await?,
                documents: load_documents!($tx, $uid),
                secrets: load_secrets!($tx, $uid),
                policy_tests: load_policy_tests!($tx, $uid),
            }),
        }
    }};
}

impl Store {
    /// A living project with its definitions; `None` when it does not live.
    pub async fn load_project(&self, uid: ProjectUid) -> Result<Option<ProjectRows>> {
        let loaded = reading!(self, |tx| {
            match load_columns!(tx, uid) {
                None => None,
                Some(columns) => {
                    let tools: Vec<(String, i64, i64, String)> = sqlx::query_as(
                        "SELECT definition, revision, updated_at, updated_by FROM tools
                         WHERE project_uid = $1 ORDER BY name",
                    )
                    .bind(uid.0)
                    .fetch_all(&mut *tx)
                    .await?;
                    let services: Vec<(String, i64)> = sqlx::query_as(
                        "SELECT definition, revision FROM tool_services WHERE project_uid = $1 ORDER BY id",
                    )
                    .bind(uid.0)
                    .fetch_all(&mut *tx)
                    .await?;
                    Some((columns, tools, services, load_labels!(tx, uid)))
                }
            }
        })
        .await?;
        let Some((columns, tools, services, (groups, states))) = loaded else {
            return Ok(None);
        };
        let tool = |(definition, revision, updated_at, updated_by): (String, i64, i64, String)| {
            Ok(ToolRow {
                definition: from_json(&definition, || format!("a tool of project {uid}"))?,
                revision,
                updated_at: time(updated_at)?,
                updated_by,
            })
        };
        let service = |(definition, revision): (String, i64)| {
            Ok(ServiceRow {
                definition: from_json(&definition, || format!("a tool service of project {uid}"))?,
                revision,
            })
        };
        Ok(Some(ProjectRows {
            definitions_version: columns.definitions,
            parts: columns.read(uid)?,
            tools: tools.into_iter().map(tool).collect::<Result<_>>()?,
            services: services.into_iter().map(service).collect::<Result<_>>()?,
            groups: groups.into_iter().map(label).collect::<Result<_>>()?,
            states: states.into_iter().map(label).collect::<Result<_>>()?,
        }))
    }

    /// A living project without its definitions, if these have not changed since the version `definitions`; `None` when
    /// they have, or it does not live.
    pub async fn load_parts(&self, uid: ProjectUid, definitions: i64) -> Result<Option<ProjectParts>> {
        let columns = reading!(self, |tx| { load_columns!(tx, uid) }).await?;
        let unchanged = columns.filter(|columns| columns.definitions == Some(definitions));
        unchanged.map(|columns| columns.read(uid)).transpose()
    }
}
