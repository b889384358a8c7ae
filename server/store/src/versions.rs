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
    /// The definitions of one living project.
    Project(ProjectUid),
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Directory => f.write_str("directory"),
            Self::Project(uid) => write!(f, "project:{uid}"),
        }
    }
}

impl Scope {
    fn parse(text: &str) -> Result<Self> {
        let uid = match text {
            "directory" => return Ok(Self::Directory),
            _ => text
                .strip_prefix("project:")
                .and_then(|uid| Uuid::parse_str(uid).ok()),
        };
        uid.map(|uid| Self::Project(ProjectUid(uid)))
            .ok_or_else(|| StoreError::corrupt(format!("{text:?} is not a scope")))
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
pub(crate) use {next_directory, touch_directory};

impl Store {
    /// The version of the directory and of every living project. Versions only grow.
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
