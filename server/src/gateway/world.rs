//! What every request reads: who there is and what is defined, as of one moment.
//!
//! A request takes one [`World`] and keeps it to its end. Changes are committed to the database first and then loaded
//! from it, here and in every other process that shares the database, by comparing versions; so memory is never
//! ahead of the database, and a lost notice costs at most one polling interval.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use arc_swap::ArcSwap;
use tokio::sync::Mutex;
use toolgate_api::policy_tests::StoredPolicyTest;
use toolgate_api::settings::ProjectSettings;
use toolgate_core::ids::{ProjectId, ProjectUid};
use toolgate_core::recommend::Index;
use toolgate_core::snapshot::{ProjectSnapshot, ToolInput};
use toolgate_store::rows::{ProjectRow, ProjectRows};
use toolgate_store::{Scope, Store, StoreError};

use super::limits::ProjectLimiter;
use super::load::ProjectLoad;
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
    /// What it sets for itself.
    pub settings: Arc<ProjectSettings>,
    /// What it expects of its decisions, by name.
    pub policy_tests: Arc<[StoredPolicyTest]>,
    /// What its definitions say, ready to be searched; made at the first question.
    pub search: OnceLock<Index>,
    /// The revision of the settings; 0 while nothing was ever set.
    pub settings_revision: i64,
    /// Its secrets, opened.
    pub secrets: Arc<ProjectSecrets>,
    /// How much of it may be used, and is.
    pub limits: Arc<ProjectLimiter>,
}

/// Everything a request reads, as of one moment.
pub struct World {
    /// Who can identify themselves and what they hold.
    pub directory: Arc<Directory>,
    projects: HashMap<ProjectId, Arc<ProjectState>>,
}

impl World {
    /// A living project by its slug.
    #[must_use]
    pub fn project(&self, id: &str) -> Option<&Arc<ProjectState>> {
        self.projects.get(id)
    }

    /// All living projects, in no order.
    pub fn projects(&self) -> impl Iterator<Item = &Arc<ProjectState>> {
        self.projects.values()
    }
}

/// Holds the current [`World`].
pub struct WorldHolder {
    store: Store,
    keyring: Arc<Keyring>,
    current: ArcSwap<World>,
    /// One refresh at a time, so that an older load can never replace a newer one.
    refreshing: Mutex<()>,
}

impl WorldHolder {
    /// Loads everything.
    pub async fn load(store: Store, keyring: Arc<Keyring>) -> Result<Self, WorldError> {
        let directory = Arc::new(load_directory(&store, &keyring).await?);
        let holder = Self {
            store,
            keyring,
            current: ArcSwap::from_pointee(World {
                directory,
                projects: HashMap::new(),
            }),
            refreshing: Mutex::new(()),
        };
        holder.refresh().await?;
        Ok(holder)
    }

    /// The world now. Keep the `Arc` for the whole request.
    #[must_use]
    pub fn now(&self) -> Arc<World> {
        self.current.load_full()
    }

    /// Loads what has changed in the database, and swaps it in. Cheap when nothing has.
    pub async fn refresh(&self) -> Result<(), WorldError> {
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
        for (scope, version) in versions {
            let Scope::Project(uid) = scope else { continue };
            let previous = known.get(&uid).copied();
            let state = match previous {
                Some(state) if state.snapshot.version() == version => Arc::clone(state),
                _ => {
                    changed = true;
                    // Deleted between the two reads: simply not there any more.
                    let Some(rows) = self.store.load_project(uid).await? else {
                        continue;
                    };
                    Arc::new(compile(rows, previous.map(Arc::as_ref), &self.keyring))
                }
            };
            projects.insert(state.row.id.clone(), state);
        }
        if changed || projects.len() != old.projects.len() {
            self.current.store(Arc::new(World { directory, projects }));
        }
        Ok(())
    }
}

async fn load_directory(store: &Store, keyring: &Keyring) -> Result<Directory, WorldError> {
    let rows =
        secrets::signing::open_all(store.load_directory().await?, keyring).map_err(WorldError::Directory)?;
    Directory::from_rows(rows).map_err(|error| WorldError::Directory(error.to_string()))
}

fn compile(rows: ProjectRows, previous: Option<&ProjectState>, keyring: &Keyring) -> ProjectState {
    let tools = rows
        .tools
        .into_iter()
        .map(|tool| ToolInput {
            definition: tool.definition,
            revision: tool.revision,
            updated_at: tool.updated_at,
            updated_by: tool.updated_by,
        })
        .collect();
    let services = rows
        .services
        .into_iter()
        .map(|service| (service.definition, service.revision))
        .collect();
    let secrets = ProjectSecrets::open(
        rows.project.uid,
        rows.secrets,
        previous.map(|state| state.secrets.as_ref()),
        keyring,
    );
    let limits = ProjectLimiter::new(rows.limits, previous.map(|state| state.limits.as_ref()));
    ProjectState {
        secrets: Arc::new(secrets),
        limits: Arc::new(limits),
        row: rows.project,
        policy_tests: rows.policy_tests.into(),
        search: OnceLock::new(),
        settings: Arc::new(rows.settings.value),
        settings_revision: rows.settings.revision,
        snapshot: ProjectSnapshot::build(
            rows.version,
            tools,
            services,
            previous.map(|state| &state.snapshot),
        )
        .with_labels(rows.groups, rows.states, previous.map(|state| &state.snapshot)),
        load: previous.map(|state| Arc::clone(&state.load)).unwrap_or_default(),
    }
}

/// Why the world could not be loaded; the last good one stays.
#[derive(Debug, thiserror::Error)]
pub enum WorldError {
    /// The database did not answer.
    #[error("loading from the database")]
    Store(#[from] StoreError),
    /// What it answered about principals is not usable.
    #[error("the directory is not usable: {0}")]
    Directory(String),
}

impl From<WorldError> for crate::error::ApiError {
    fn from(error: WorldError) -> Self {
        match error {
            WorldError::Store(error) => error.into(),
            WorldError::Directory(_) => Self::internal(&error),
        }
    }
}
