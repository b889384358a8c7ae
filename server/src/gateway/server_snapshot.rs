//! What every request reads: who there is and what is defined, as of one moment.
//!
//! A request takes one [`ServerSnapshot`] and keeps it until it ends. Changes are committed to the database first and
//! then loaded from it, here and in every other process that shares the database, by comparing versions; so memory is
//! never ahead of the database, and a lost notice costs at most one polling interval.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use arc_swap::ArcSwap;
use tokio::sync::Mutex;
use toolgate_api::policy_tests::StoredPolicyTest;
use toolgate_api::settings::ProjectSettings;
use toolgate_core::definition::{ExecutorSet, ServiceDefinition};
use toolgate_core::ids::{ProjectId, ProjectUid};
use toolgate_core::recommend::Index;
use toolgate_core::snapshot::{ProjectSnapshot, ToolInput};
use toolgate_store::rows::{
    GuideRow, ProjectChanges, ProjectParts, ProjectRow, ProjectRows, ServiceRow, ToolRow,
};
use toolgate_store::{Scope, Store, StoreError};

use super::accounts::LoadedProviders;
use super::egress::LoadedEgress;
use super::limits::ProjectLimiter;
use super::load::ProjectLoad;
use super::mcp_servers::LoadedMcpServers;
use crate::auth::directory::Directory;
use crate::secrets::{self, Keyring, ProjectSecrets};

/// A project and its compiled definitions.
pub struct ProjectState {
    /// The project.
    pub row: ProjectRow,
    /// Its definitions.
    pub snapshot: ProjectSnapshot,
    /// How busy it is on this server.
    pub load: Arc<ProjectLoad>,
    /// Held by the one change of it that this process makes.
    pub turns: Arc<tokio::sync::Mutex<()>>,
    /// What it sets for itself.
    pub settings: Arc<ProjectSettings>,
    /// What it expects of its decisions, by name.
    pub policy_tests: Arc<[StoredPolicyTest]>,
    /// How its tools are used, by id.
    pub guides: Arc<[GuideRow]>,
    /// What its definitions say, ready to be searched; made at the first question.
    pub search: Arc<OnceLock<Index>>,
    /// The version that changed the definitions last; `None` when that is not known.
    definitions_version: Option<i64>,
    /// The revision of the settings; 0 while nothing was ever set.
    pub settings_revision: i64,
    /// Where its tools may connect to beside where all may.
    pub egress: LoadedEgress,
    /// Its MCP servers.
    pub mcp_servers: LoadedMcpServers,
    /// Where callers of its tools have accounts of their own.
    pub account_providers: LoadedProviders,
    /// Its secrets, opened.
    pub secrets: Arc<ProjectSecrets>,
    /// How much of it may be used, and is.
    pub limits: Arc<ProjectLimiter>,
}

impl ProjectState {
    /// The project with other definitions, which are not stored: for a test of one.
    #[must_use]
    pub fn with_snapshot(&self, snapshot: ProjectSnapshot) -> Self {
        Self {
            row: self.row.clone(),
            snapshot,
            load: Arc::clone(&self.load),
            turns: Arc::clone(&self.turns),
            settings: Arc::clone(&self.settings),
            policy_tests: Arc::clone(&self.policy_tests),
            guides: Arc::clone(&self.guides),
            search: Arc::default(),
            definitions_version: None,
            settings_revision: self.settings_revision,
            egress: self.egress.clone(),
            mcp_servers: self.mcp_servers.clone(),
            account_providers: self.account_providers.clone(),
            secrets: Arc::clone(&self.secrets),
            limits: Arc::clone(&self.limits),
        }
    }
}

/// Everything a request reads, as of one moment.
pub struct ServerSnapshot {
    /// Who can identify themselves and what they hold.
    pub directory: Arc<Directory>,
    projects: HashMap<ProjectId, Arc<ProjectState>>,
}

impl ServerSnapshot {
    /// A project that is not deleted by its slug.
    #[must_use]
    pub fn project(&self, id: &str) -> Option<&Arc<ProjectState>> {
        self.projects.get(id)
    }

    /// All projects that are not deleted, in no order.
    pub fn projects(&self) -> impl Iterator<Item = &Arc<ProjectState>> {
        self.projects.values()
    }
}

/// Holds the current [`ServerSnapshot`].
pub struct SnapshotStore {
    store: Store,
    keyring: Arc<Keyring>,
    executes: ExecutorSet,
    current: ArcSwap<ServerSnapshot>,
    /// One refresh at a time, so that an older load can never replace a newer one.
    refreshing: Mutex<()>,
}

impl SnapshotStore {
    /// Loads everything, for a server that executes these kinds.
    pub async fn load(
        store: Store,
        keyring: Arc<Keyring>,
        executes: ExecutorSet,
    ) -> Result<Self, SnapshotError> {
        let directory = Arc::new(load_directory(&store, &keyring).await?);
        let holder = Self {
            store,
            keyring,
            executes,
            current: ArcSwap::from_pointee(ServerSnapshot {
                directory,
                projects: HashMap::new(),
            }),
            refreshing: Mutex::new(()),
        };
        holder.refresh().await?;
        Ok(holder)
    }

    /// The snapshot now. Keep the `Arc` for the whole request.
    #[must_use]
    pub fn now(&self) -> Arc<ServerSnapshot> {
        self.current.load_full()
    }

    /// Loads what has changed in the database, and swaps it in. Cheap when nothing has.
    pub async fn refresh(&self) -> Result<(), SnapshotError> {
        let _one_at_a_time = self.refreshing.lock().await;
        let versions = self.store.versions().await?;
        let old = self.now();
        let directory = match versions.get(&Scope::Directory) {
            Some(&version) if version != old.directory.version() => {
                Arc::new(load_directory(&self.store, &self.keyring).await?)
            }
            _ => Arc::clone(&old.directory),
        };
        let known: HashMap<ProjectUid, &Arc<ProjectState>> = old
            .projects
            .values()
            .map(|project| (project.row.uid, project))
            .collect();
        let mut changed = !Arc::ptr_eq(&directory, &old.directory);
        let mut projects = HashMap::with_capacity(versions.len());
        for (&scope, &version) in &versions {
            let Scope::Project(uid) = scope else { continue };
            let previous = known.get(&uid).copied();
            let state = match previous {
                Some(state) if state.snapshot.version() == version => Arc::clone(state),
                _ => {
                    changed = true;
                    let definitions = versions.get(&Scope::Definitions(uid)).copied();
                    match self.reload(uid, definitions, previous.map(Arc::as_ref)).await? {
                        Some(state) => Arc::new(state),
                        // Deleted between the two reads: simply not there any more.
                        None => continue,
                    }
                }
            };
            projects.insert(state.row.id.clone(), state);
        }
        if changed || projects.len() != old.projects.len() {
            self.current
                .store(Arc::new(ServerSnapshot { directory, projects }));
        }
        Ok(())
    }

    /// Loads what has changed of a project: its definitions only if they have.
    async fn reload(
        &self,
        uid: ProjectUid,
        definitions: Option<i64>,
        previous: Option<&ProjectState>,
    ) -> Result<Option<ProjectState>, SnapshotError> {
        if let (Some(definitions), Some(previous)) = (definitions, previous)
            && previous.definitions_version == Some(definitions)
            && let Some(parts) = self.store.load_parts(uid, definitions).await?
        {
            let definitions = Definitions {
                snapshot: previous.snapshot.at_version(parts.version),
                search: Arc::clone(&previous.search),
                version: previous.definitions_version,
            };
            let state = put_together(parts, definitions, Some(previous), &self.keyring);
            return Ok(Some(state));
        }
        if let Some(previous) = previous
            && let Some(since) = previous.definitions_version
        {
            let changes = self.store.load_changes(uid, since).await?;
            return Ok(changes.map(|changes| apply(changes, previous, &self.keyring)));
        }
        let rows = self.store.load_project(uid).await?;
        Ok(rows.map(|rows| compile(rows, previous, &self.keyring, self.executes)))
    }
}

async fn load_directory(store: &Store, keyring: &Keyring) -> Result<Directory, SnapshotError> {
    let rows = secrets::signing::open_all(store.load_directory().await?, keyring)
        .map_err(SnapshotError::Directory)?;
    Directory::from_rows(rows).map_err(|error| SnapshotError::Directory(error.to_string()))
}

fn compile(
    rows: ProjectRows,
    previous: Option<&ProjectState>,
    keyring: &Keyring,
    executes: ExecutorSet,
) -> ProjectState {
    let (tools, services) = (inputs(rows.tools), services(rows.services));
    let before = previous.map(|state| &state.snapshot);
    let snapshot = ProjectSnapshot::build_for(executes, rows.parts.version, tools, services, before)
        .with_labels(rows.groups, rows.states, before);
    let definitions = Definitions {
        snapshot,
        search: Arc::default(),
        version: rows.definitions_version,
    };
    put_together(rows.parts, definitions, previous, keyring)
}

/// The project after a change of its definitions: what did not change keeps what was compiled.
fn apply(changes: ProjectChanges, previous: &ProjectState, keyring: &Keyring) -> ProjectState {
    let before = &previous.snapshot;
    let snapshot = before
        .with_changes(
            changes.parts.version,
            inputs(changes.changed),
            &changes.deleted,
            services(changes.services),
        )
        .with_labels(changes.groups, changes.states, Some(before));
    let definitions = Definitions {
        snapshot,
        search: Arc::default(),
        version: changes.definitions_version,
    };
    put_together(changes.parts, definitions, Some(previous), keyring)
}

fn inputs(rows: Vec<ToolRow>) -> Vec<ToolInput> {
    rows.into_iter()
        .map(|tool| ToolInput {
            definition: tool.definition,
            revision: tool.revision,
            updated_at: tool.updated_at,
            updated_by: tool.updated_by,
        })
        .collect()
}

fn services(rows: Vec<ServiceRow>) -> Vec<(ServiceDefinition, i64)> {
    rows.into_iter()
        .map(|service| (service.definition, service.revision))
        .collect()
}

/// What is made of the definitions of a project.
struct Definitions {
    snapshot: ProjectSnapshot,
    search: Arc<OnceLock<Index>>,
    version: Option<i64>,
}

fn put_together(
    parts: ProjectParts,
    definitions: Definitions,
    previous: Option<&ProjectState>,
    keyring: &Keyring,
) -> ProjectState {
    let secrets = ProjectSecrets::open(
        parts.project.uid,
        parts.secrets,
        previous.map(|state| state.secrets.as_ref()),
        keyring,
    );
    let limits = ProjectLimiter::new(parts.limits, previous.map(|state| state.limits.as_ref()));
    ProjectState {
        secrets: Arc::new(secrets),
        limits: Arc::new(limits),
        egress: LoadedEgress::new(parts.egress),
        mcp_servers: LoadedMcpServers::new(parts.mcp_servers),
        account_providers: LoadedProviders::new(parts.account_providers),
        row: parts.project,
        policy_tests: parts.policy_tests.into(),
        guides: parts.guides.into(),
        settings: Arc::new(parts.settings.value),
        settings_revision: parts.settings.revision,
        search: definitions.search,
        definitions_version: definitions.version,
        snapshot: definitions.snapshot,
        load: previous.map(|state| Arc::clone(&state.load)).unwrap_or_default(),
        turns: previous.map(|state| Arc::clone(&state.turns)).unwrap_or_default(),
    }
}

/// Why the snapshot could not be loaded; the last good one stays.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// The database did not answer.
    #[error("loading from the database")]
    Store(#[from] StoreError),
    /// What it answered about principals is not usable.
    #[error("the directory is not usable: {0}")]
    Directory(String),
}

impl From<SnapshotError> for crate::gateway::Problem {
    fn from(error: SnapshotError) -> Self {
        match error {
            SnapshotError::Store(error) => error.into(),
            SnapshotError::Directory(_) => Self::internal(&error),
        }
    }
}
