//! Policy tests: what a project expects of its decisions. They are loaded with its definitions.

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use toolgate_api::policy_tests::{PolicyTest, StoredPolicyTest};
use toolgate_core::ids::ProjectUid;

use crate::Store;
use crate::codec::{from_json, micros, text, time, to_json};
use crate::db::{execute, writing};
use crate::error::{Result, StoreError};
use crate::versions::Scope;

/// A change of policy tests, applied whole or not at all.
#[derive(Debug, Clone)]
pub struct PolicyTestChange {
    /// The project.
    pub project: ProjectUid,
    /// The version the change was computed from; another one in the database is a conflict.
    pub expected_version: i64,
    /// The tests to store; those of the same name are replaced.
    pub put: Vec<PolicyTest>,
    /// Names of the tests to remove.
    pub remove: Vec<String>,
    /// Who.
    pub author: String,
    /// When.
    pub at: DateTime<Utc>,
}

/// The columns of a policy test.
pub(crate) type PolicyTestColumns = (String, i64, i64, String);

/// Reads the policy tests of a project, by name.
macro_rules! load_policy_tests {
    ($tx:expr, $uid:expr) => {
        sqlx::query_as::<_, $crate::policy_tests::PolicyTestColumns>(
            "SELECT definition, revision, updated_at, updated_by FROM policy_tests
             WHERE project_uid = $1 ORDER BY name",
        )
        .bind($uid.0)
        .fetch_all(&mut *$tx)
        .await?
    };
}
pub(crate) use load_policy_tests;

/// The policy tests of a project from their columns.
pub(crate) fn policy_tests(rows: Vec<PolicyTestColumns>, uid: ProjectUid) -> Result<Vec<StoredPolicyTest>> {
    let test = |(definition, revision, updated_at, updated_by): PolicyTestColumns| {
        Ok(StoredPolicyTest {
            test: from_json(&definition, || format!("a policy test of project {uid}"))?,
            revision,
            updated_at: time(updated_at)?,
            updated_by,
        })
    };
    rows.into_iter().map(test).collect()
}

impl Store {
    /// Stores and removes policy tests; answers the project's version afterwards.
    ///
    /// # Errors
    /// [`StoreError::VersionConflict`] when the project is not at the expected version (any more), or is deleted;
    /// [`StoreError::NotFound`] when a test to remove is not there; [`StoreError::Conflict`] when a name is in it
    /// twice.
    pub async fn change_policy_tests(&self, change: &PolicyTestChange) -> Result<i64> {
        let uid = change.project;
        let version = change.expected_version + 1;
        let author = text(&change.author);
        let mut names = HashSet::new();
        let put = change
            .put
            .iter()
            .map(|test| {
                if !names.insert(test.name.as_str()) {
                    return Err(StoreError::conflict(format!(
                        "another change of \"{}\" at the same time",
                        test.name
                    )));
                }
                Ok((test.name.as_str(), to_json(test)?))
            })
            .collect::<Result<Vec<_>>>()?;
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
            for name in &change.remove {
                let gone = execute!(
                    tx,
                    "DELETE FROM policy_tests WHERE project_uid = $1 AND name = $2",
                    uid.0,
                    name,
                );
                if gone == 0 {
                    return Err(StoreError::not_found(format!("the policy test \"{name}\"")));
                }
            }
            for (name, definition) in &put {
                execute!(
                    tx,
                    "INSERT INTO policy_tests (project_uid, name, revision, definition, updated_at, updated_by)
                     VALUES ($1, $2, $3, $4, $5, $6)
                     ON CONFLICT (project_uid, name)
                     DO UPDATE SET revision = excluded.revision, definition = excluded.definition,
                                   updated_at = excluded.updated_at, updated_by = excluded.updated_by",
                    uid.0,
                    *name,
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
