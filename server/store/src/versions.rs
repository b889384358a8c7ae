//! What changed, as one number per scope.

use std::collections::HashMap;
use std::fmt;

use toolgate_core::ids::ProjectUid;
use uuid::Uuid;

use crate::Store;
use crate::db::both;
use crate::error::{Result, StoreError};

/// What a version counts the changes of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// Projects, users, grants, keys and tokens.
    Directory,
    /// One project: its definitions, and what else it has.
    Project(ProjectUid),
    /// The tools, services, groups and states of one project. It is the version of the project that changed them
    /// last, and missing while an earlier release did.
    Definitions(ProjectUid),
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Directory => f.write_str("directory"),
            Self::Project(uid) => write!(f, "project:{uid}"),
            Self::Definitions(uid) => write!(f, "definitions:{uid}"),
        }
    }
}

impl Scope {
    fn parse(text: &str) -> Result<Self> {
        let scope = match text.split_once(':') {
            None if text == "directory" => Some(Self::Directory),
            Some((kind, uid)) => Uuid::parse_str(uid)
                .ok()
                .and_then(|uid| Self::of_project(kind, ProjectUid(uid))),
            None => None,
        };
        scope.ok_or_else(|| StoreError::corrupt(format!("{text:?} is not a scope")))
    }

    fn of_project(kind: &str, uid: ProjectUid) -> Option<Self> {
        match kind {
            "project" => Some(Self::Project(uid)),
            "definitions" => Some(Self::Definitions(uid)),
            _ => None,
        }
    }
}

/// Adds one to the version of the directory. First in every transaction that changes it: the row's lock then makes these
/// transactions wait for each other, so that each sees what the one before has done.
macro_rules! touch_directory {
    ($tx:expr) => {
        $crate::db::execute!(
            $tx,
            "UPDATE versions SET version = version + 1 WHERE scope = 'directory'"
        )
    };
}

/// As [`touch_directory`], with the version it makes: the revision of what the transaction writes.
macro_rules! next_directory {
    ($tx:expr) => {{
        $crate::versions::touch_directory!($tx);
        let version: i64 = sqlx::query_scalar("SELECT version FROM versions WHERE scope = 'directory'")
            .fetch_one(&mut *$tx)
            .await?;
        version
    }};
}

/// Fails unless a scope has a version, and keeps it from getting another one before the transaction ends. The directory
/// before a project, as in every transaction that takes both.
macro_rules! hold_version {
    ($tx:expr, $scope:expr, $version:expr, $otherwise:expr) => {
        // An update that changes nothing is a lock in both databases.
        let held = $crate::db::execute!(
            $tx,
            "UPDATE versions SET version = version WHERE scope = $1 AND version = $2",
            $scope.to_string(),
            $version,
        );
        if held == 0 {
            return Err($otherwise);
        }
    };
}
pub(crate) use {hold_version, next_directory, touch_directory};

/// The versions that a change of permissions was judged by: it is stored only while both are current.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Basis {
    /// Of the directory: who held what.
    pub directory: i64,
    /// Of the project: what was defined.
    pub project: i64,
}

/// Fails unless both versions of a basis are current. Use it after the directory's version was taken: `next` is the
/// one that the transaction made.
macro_rules! require_basis {
    ($tx:expr, $project:expr, $basis:expr, $next:expr) => {
        if let Some(basis) = $basis {
            if $next != basis.directory + 1 {
                return Err($crate::error::StoreError::Overtaken);
            }
            $crate::versions::hold_version!(
                $tx,
                $crate::versions::Scope::Project($project),
                basis.project,
                $crate::error::StoreError::Overtaken
            );
        }
    };
}
pub(crate) use require_basis;

impl Store {
    /// The version of the directory and of every project that is not deleted and its definitions. Versions only grow.
    pub async fn versions(&self) -> Result<HashMap<Scope, i64>> {
        let rows: Vec<(String, i64)> = both!(self, |pool| {
            sqlx::query_as("SELECT scope, version FROM versions")
                .fetch_all(pool)
                .await?
        })
        .await?;
        rows.into_iter()
            .map(|(scope, version)| Ok((Scope::parse(&scope)?, version)))
            .collect()
    }
}
