//! Loading a project: whole, what changed since a version, or without its definitions where only something else has changed.

use toolgate_core::ids::{ProjectUid, ToolName};

use crate::Store;
use crate::codec::{from_json, time};
use crate::db::reading;
use crate::documents::{DocumentColumns, Kind, document, load_documents};
use crate::error::{Result, StoreError};
use crate::guides::{GuideColumns, SourceColumns, guides, load_guides};
use crate::labels::{label, load_labels};
use crate::policy_tests::{PolicyTestColumns, load_policy_tests, policy_tests};
use crate::projects::{ProjectColumns, project};
use crate::rows::{ProjectChanges, ProjectParts, ProjectRows, ServiceRow, ToolRow};
use crate::secrets::{SecretColumns, load_secrets, secret};
use crate::versions::Scope;

/// The columns of a project beside its definitions.
struct Columns {
    project: ProjectColumns,
    version: i64,
    definitions: Option<i64>,
    documents: Vec<DocumentColumns>,
    secrets: Vec<SecretColumns>,
    policy_tests: Vec<PolicyTestColumns>,
    guides: (Vec<GuideColumns>, Vec<SourceColumns>),
}

impl Columns {
    fn read(self, uid: ProjectUid) -> Result<ProjectParts> {
        Ok(ProjectParts {
            version: self.version,
            project: project(self.project)?,
            policy_tests: policy_tests(self.policy_tests, uid)?,
            guides: guides(self.guides, uid)?,
            settings: document(&self.documents, Kind::Settings, uid)?,
            limits: document(&self.documents, Kind::Limits, uid)?,
            egress: document(&self.documents, Kind::Egress, uid)?,
            mcp_servers: document(&self.documents, Kind::McpServers, uid)?,
            account_providers: document(&self.documents, Kind::AccountProviders, uid)?,
            secrets: self.secrets.into_iter().map(secret).collect::<Result<_>>()?,
        })
    }
}

/// Reads [`Columns`]; `None` when the project does not exist.
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
                guides: load_guides!($tx, $uid),
            }),
        }
    }};
}

type ToolColumns = (String, i64, i64, String);
type ServiceColumns = (String, i64);
/// Name, definition unless the revision deleted the tool, number, time and author.
type ChangeColumns = (String, Option<String>, i64, i64, String);

/// Reads the services of a project.
macro_rules! load_services {
    ($tx:expr, $uid:expr) => {{
        let services: Vec<ServiceColumns> = sqlx::query_as(
            "SELECT definition, revision FROM tool_services WHERE project_uid = $1 ORDER BY id",
        )
        .bind($uid.0)
        .fetch_all(&mut *$tx)
        .await?;
        services
    }};
}

impl Store {
    /// A project with its definitions; `None` when it is deleted.
    pub async fn load_project(&self, uid: ProjectUid) -> Result<Option<ProjectRows>> {
        let loaded = reading!(self, |tx| {
            match load_columns!(tx, uid) {
                None => None,
                Some(columns) => {
                    let tools: Vec<ToolColumns> = sqlx::query_as(
                        "SELECT definition, revision, updated_at, updated_by FROM tools
                         WHERE project_uid = $1 ORDER BY name",
                    )
                    .bind(uid.0)
                    .fetch_all(&mut *tx)
                    .await?;
                    Some((columns, tools, load_services!(tx, uid), load_labels!(tx, uid)))
                }
            }
        })
        .await?;
        let Some((columns, tools, services, (groups, states))) = loaded else {
            return Ok(None);
        };
        Ok(Some(ProjectRows {
            definitions_version: columns.definitions,
            parts: columns.read(uid)?,
            tools: tools
                .into_iter()
                .map(|row| tool(row, uid))
                .collect::<Result<_>>()?,
            services: services
                .into_iter()
                .map(|row| service(row, uid))
                .collect::<Result<_>>()?,
            groups: groups.into_iter().map(label).collect::<Result<_>>()?,
            states: states.into_iter().map(label).collect::<Result<_>>()?,
        }))
    }

    /// A living project with the tools that changed after a version of it; `None` when it does not live.
    pub async fn load_changes(&self, uid: ProjectUid, since: i64) -> Result<Option<ProjectChanges>> {
        let loaded = reading!(self, |tx| {
            match load_columns!(tx, uid) {
                None => None,
                Some(columns) => {
                    let revisions: Vec<ChangeColumns> = sqlx::query_as(
                        "SELECT name, definition, revision, created_at, author FROM tool_revisions
                         WHERE project_uid = $1 AND version > $2 ORDER BY name, revision",
                    )
                    .bind(uid.0)
                    .bind(since)
                    .fetch_all(&mut *tx)
                    .await?;
                    Some((columns, revisions, load_services!(tx, uid), load_labels!(tx, uid)))
                }
            }
        })
        .await?;
        let Some((columns, revisions, services, (groups, states))) = loaded else {
            return Ok(None);
        };
        let (mut changed, mut deleted) = (Vec::new(), Vec::new());
        let mut revisions = revisions.into_iter().peekable();
        while let Some((name, definition, revision, updated_at, updated_by)) = revisions.next() {
            if revisions.peek().is_some_and(|(next, ..)| *next == name) {
                continue;
            }
            match definition {
                Some(definition) => changed.push(tool((definition, revision, updated_at, updated_by), uid)?),
                None => {
                    deleted
                        .push(ToolName::parse(name).map_err(|error| StoreError::corrupt(error.to_string()))?);
                }
            }
        }
        Ok(Some(ProjectChanges {
            definitions_version: columns.definitions,
            parts: columns.read(uid)?,
            changed,
            deleted,
            services: services
                .into_iter()
                .map(|row| service(row, uid))
                .collect::<Result<_>>()?,
            groups: groups.into_iter().map(label).collect::<Result<_>>()?,
            states: states.into_iter().map(label).collect::<Result<_>>()?,
        }))
    }

    /// A project without its definitions, if these have not changed since the version `definitions`; `None` when
    /// they have, or it is deleted.
    pub async fn load_parts(&self, uid: ProjectUid, definitions: i64) -> Result<Option<ProjectParts>> {
        let columns = reading!(self, |tx| { load_columns!(tx, uid) }).await?;
        let unchanged = columns.filter(|columns| columns.definitions == Some(definitions));
        unchanged.map(|columns| columns.read(uid)).transpose()
    }
}

fn tool((definition, revision, updated_at, updated_by): ToolColumns, uid: ProjectUid) -> Result<ToolRow> {
    Ok(ToolRow {
        definition: from_json(&definition, || format!("a tool of project {uid}"))?,
        revision,
        updated_at: time(updated_at)?,
        updated_by,
    })
}

fn service((definition, revision): ServiceColumns, uid: ProjectUid) -> Result<ServiceRow> {
    Ok(ServiceRow {
        definition: from_json(&definition, || format!("a tool service of project {uid}"))?,
        revision,
    })
}
