//! Declared groups and states, and changes of names wherever they are used. They are committed with the definitions
//! they belong to, in one transaction: see [`crate::Store::publish`].

use chrono::{DateTime, Utc};
use toolgate_api::limits::ProjectLimits;
use toolgate_api::permissions::GrantedGroup;
use toolgate_api::policy_tests::PolicyTest;
use toolgate_core::ids::ProjectUid;
use toolgate_core::rename::NameChange;
use toolgate_core::snapshot::LabelInput;

use crate::Store;
use crate::codec::{from_json, micros, time, to_json};
use crate::db::both;
use crate::error::Result;

/// What is declared about a group or a state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelContent {
    /// For people and models; may be empty.
    pub description: String,
    /// When the group is open; `None` on states.
    pub condition: Option<String>,
}

/// A change of what is declared, and of names in what refers to them.
#[derive(Debug, Clone, Default)]
pub struct LabelChange {
    /// Groups to declare or, with `None`, to declare no more; those that go first.
    pub groups: Vec<(String, Option<LabelContent>)>,
    /// States, likewise.
    pub states: Vec<(String, Option<LabelContent>)>,
    /// A change of names in grants and in sessions that have not ended.
    pub names: Option<NameChange>,
    /// Policy tests to store in place of those of the same name.
    pub policy_tests: Vec<PolicyTest>,
    /// The limits, when they change.
    pub limits: Option<ProjectLimits>,
}

impl LabelChange {
    /// Whether nothing changes.
    pub(crate) fn is_empty(&self) -> bool {
        self.groups.is_empty()
            && self.states.is_empty()
            && self.names.is_none()
            && self.policy_tests.is_empty()
            && self.limits.is_none()
    }

    /// Whether grants may change, which takes the directory's version.
    pub(crate) fn touches_grants(&self) -> bool {
        self.names.as_ref().is_some_and(NameChange::is_of_groups)
    }
}

/// Name, description, condition, revision, time and author.
pub(crate) type LabelColumns = (String, String, Option<String>, i64, i64, String);

/// Reads what a project declares: groups, then states.
macro_rules! load_labels {
    ($tx:expr, $uid:expr) => {{
        let groups: Vec<$crate::labels::LabelColumns> = sqlx::query_as(
            "SELECT name, description, condition, revision, updated_at, updated_by FROM tool_groups
             WHERE project_uid = $1 ORDER BY name",
        )
        .bind($uid.0)
        .fetch_all(&mut *$tx)
        .await?;
        let states: Vec<$crate::labels::LabelColumns> = sqlx::query_as(
            "SELECT name, description, NULL, revision, updated_at, updated_by FROM tool_states
             WHERE project_uid = $1 ORDER BY name",
        )
        .bind($uid.0)
        .fetch_all(&mut *$tx)
        .await?;
        (groups, states)
    }};
}
pub(crate) use load_labels;

pub(crate) fn label(
    (name, description, condition, revision, updated_at, updated_by): LabelColumns,
) -> Result<LabelInput> {
    Ok(LabelInput {
        name,
        description,
        condition,
        revision,
        updated_at: time(updated_at)?,
        updated_by,
    })
}

/// A grant's groups after a change of names; `None` when they stay as they are.
///
/// # Errors
/// The new name, when the grant names it already: what it would give is not what was granted.
pub(crate) fn change_granted(
    names: &NameChange,
    groups: &[GrantedGroup],
) -> std::result::Result<Option<Vec<GrantedGroup>>, String> {
    let untouched = |group: &str| {
        groups
            .iter()
            .any(|held| held.group == group && names.of(&held.group).is_none())
    };
    let mut concerned = false;
    let mut after = Vec::with_capacity(groups.len());
    for held in groups {
        match names.of(&held.group) {
            None => {
                if let NameChange::RenameGroup { to, .. } = names
                    && is_at_or_below(&held.group, to)
                {
                    return Err(held.group.clone());
                }
                after.push(held.clone());
            }
            Some(None) => concerned = true,
            Some(Some(name)) => {
                concerned = true;
                if untouched(&name) {
                    return Err(name);
                }
                after.push(GrantedGroup {
                    group: name,
                    expires_at: held.expires_at,
                });
            }
        }
    }
    Ok(concerned.then_some(after))
}

fn is_at_or_below(name: &str, parent: &str) -> bool {
    name.strip_prefix(parent)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// A policy test on its way into the database: its name and its text.
pub(crate) fn encode_tests(tests: &[PolicyTest]) -> Result<Vec<(&str, String)>> {
    tests
        .iter()
        .map(|test| Ok((test.name.as_str(), to_json(test)?)))
        .collect()
}

impl Store {
    /// How many sessions that can be used at a time ask for a group that changes, or are in a state that does.
    pub async fn sessions_naming(
        &self,
        project: ProjectUid,
        names: &NameChange,
        at: DateTime<Utc>,
    ) -> Result<u64> {
        let state = match names {
            NameChange::RenameState { from, .. } | NameChange::RemoveState(from) => Some(from.as_str()),
            NameChange::RenameGroup { .. } | NameChange::RemoveGroup(_) => None,
        };
        let rows: Vec<(Option<String>,)> = both!(self, |pool| {
            sqlx::query_as(
                "SELECT group_names FROM sessions
                 WHERE project_uid = $1 AND ended_at IS NULL AND expires_at > $2 AND ($3 IS NULL OR state = $4)",
            )
            .bind(project.0)
            .bind(micros(at))
            .bind(state.map(|_| 1_i64))
            .bind(state.unwrap_or_default())
            .fetch_all(pool)
            .await?
        })
        .await?;
        let mut found = 0;
        for (groups,) in rows {
            let concerned = match (state, groups) {
                (Some(_), _) => true,
                (None, None) => false,
                (None, Some(groups)) => {
                    let groups: Vec<String> = from_json(&groups, || "the groups of a session".to_owned())?;
                    groups.iter().any(|group| names.of(group).is_some())
                }
            };
            found += u64::from(concerned);
        }
        Ok(found)
    }
}

/// When and by whom rows are written.
pub(crate) struct Written<'a> {
    pub(crate) version: i64,
    pub(crate) directory: i64,
    pub(crate) at: DateTime<Utc>,
    pub(crate) by: &'a str,
}

/// Writes a change of labels inside the transaction that has taken the project's version, and the directory's if
/// [`LabelChange::touches_grants`].
macro_rules! write_labels {
    ($tx:expr, $uid:expr, $change:expr, $tests:expr, $written:expr) => {{
        let (change, written): (&$crate::labels::LabelChange, &$crate::labels::Written<'_>) = ($change, $written);
        let at = $crate::codec::micros(written.at);
        // What goes first, so that a name can be taken by another.
        for (name, _) in change.groups.iter().filter(|(_, content)| content.is_none()) {
            $crate::db::execute!(
                $tx,
                "DELETE FROM tool_groups WHERE project_uid = $1 AND name = $2",
                $uid.0,
                name,
            );
        }
        for (name, _) in change.states.iter().filter(|(_, content)| content.is_none()) {
            $crate::db::execute!(
                $tx,
                "DELETE FROM tool_states WHERE project_uid = $1 AND name = $2",
                $uid.0,
                name,
            );
        }
        for (name, content) in &change.groups {
            if let Some(content) = content {
                $crate::db::execute!(
                    $tx,
                    "INSERT INTO tool_groups (project_uid, name, description, condition, revision, updated_at, updated_by)
                     VALUES ($1, $2, $3, $4, $5, $6, $7)
                     ON CONFLICT (project_uid, name)
                     DO UPDATE SET description = excluded.description, condition = excluded.condition,
                                   revision = excluded.revision, updated_at = excluded.updated_at,
                                   updated_by = excluded.updated_by",
                    $uid.0,
                    name,
                    $crate::codec::text(&content.description),
                    content.condition.as_deref(),
                    written.version,
                    at,
                    written.by,
                );
            }
        }
        for (name, content) in &change.states {
            if let Some(content) = content {
                $crate::db::execute!(
                    $tx,
                    "INSERT INTO tool_states (project_uid, name, description, revision, updated_at, updated_by)
                     VALUES ($1, $2, $3, $4, $5, $6)
                     ON CONFLICT (project_uid, name)
                     DO UPDATE SET description = excluded.description, revision = excluded.revision,
                                   updated_at = excluded.updated_at, updated_by = excluded.updated_by",
                    $uid.0,
                    name,
                    $crate::codec::text(&content.description),
                    written.version,
                    at,
                    written.by,
                );
            }
        }
        for (name, definition) in $tests {
            $crate::db::execute!(
                $tx,
                "UPDATE policy_tests SET definition = $3, revision = $4, updated_at = $5, updated_by = $6
                 WHERE project_uid = $1 AND name = $2",
                $uid.0,
                *name,
                definition,
                written.version,
                at,
                written.by,
            );
        }
        if let Some(limits) = &change.limits {
            $crate::db::execute!(
                $tx,
                "UPDATE project_documents SET content = $2, revision = revision + 1, updated_at = $3, updated_by = $4
                 WHERE project_uid = $1 AND kind = 'limits'",
                $uid.0,
                $crate::codec::to_json(limits)?,
                at,
                written.by,
            );
        }
        if let Some(names) = &change.names {
            if names.is_of_groups() {
                let grants: Vec<(String, String, String)> = sqlx::query_as(
                    "SELECT principal_kind, principal_id, group_names FROM grants WHERE project_uid = $1",
                )
                .bind($uid.0)
                .fetch_all(&mut *$tx)
                .await?;
                for (kind, id, held) in grants {
                    let held: Vec<toolgate_api::permissions::GrantedGroup> =
                        $crate::codec::from_json(&held, || format!("the grant of {kind}:{id}"))?;
                    let after = $crate::labels::change_granted(names, &held).map_err(|name| {
                        $crate::error::StoreError::conflict(format!("a grant that names the group \"{name}\""))
                    })?;
                    if let Some(after) = after {
                        $crate::db::execute!(
                            $tx,
                            "UPDATE grants SET group_names = $4, revision = $5
                             WHERE project_uid = $1 AND principal_kind = $2 AND principal_id = $3",
                            $uid.0,
                            kind,
                            id,
                            $crate::codec::to_json(&after)?,
                            written.directory,
                        );
                    }
                }
                let sessions: Vec<(uuid::Uuid, String)> = sqlx::query_as(
                    "SELECT id, group_names FROM sessions
                     WHERE project_uid = $1 AND ended_at IS NULL AND expires_at > $2 AND group_names IS NOT NULL",
                )
                .bind($uid.0)
                .bind(at)
                .fetch_all(&mut *$tx)
                .await?;
                for (id, asked) in sessions {
                    let asked: Vec<String> =
                        $crate::codec::from_json(&asked, || format!("the groups of session {id}"))?;
                    if let Some(after) = names.of_list(&asked) {
                        $crate::db::execute!(
                            $tx,
                            "UPDATE sessions SET group_names = $2 WHERE id = $1",
                            id,
                            $crate::codec::to_json(&after)?,
                        );
                    }
                }
            }
            if let toolgate_core::rename::NameChange::RenameState { from, to } = names {
                // A new version, so that a call which is still running does not move the session to the old name.
                $crate::db::execute!(
                    $tx,
                    "UPDATE sessions SET state = $3, version = version + 1
                     WHERE project_uid = $1 AND state = $2 AND ended_at IS NULL AND expires_at > $4",
                    $uid.0,
                    from,
                    to,
                    at,
                );
            }
        }
    }};
}
pub(crate) use write_labels;

#[cfg(test)]
mod tests {
    use super::*;

    fn granted(names: &[&str]) -> Vec<GrantedGroup> {
        names
            .iter()
            .map(|name| GrantedGroup {
                group: (*name).to_owned(),
                expires_at: None,
            })
            .collect()
    }

    #[test]
    fn a_renamed_grant_gives_what_it_gave() {
        let rename = NameChange::RenameGroup {
            from: "a".to_owned(),
            to: "b".to_owned(),
        };
        assert_eq!(
            change_granted(&rename, &granted(&["x", "a", "a/c"])),
            Ok(Some(granted(&["x", "b", "b/c"])))
        );
        assert_eq!(change_granted(&rename, &granted(&["x", "*"])), Ok(None));
        for taken in [&["b"][..], &["a", "b"], &["b/c"]] {
            assert!(
                change_granted(&rename, &granted(taken)).is_err(),
                "{taken:?} would give more than was granted"
            );
        }
        let gone = NameChange::RemoveGroup("a".to_owned());
        assert_eq!(
            change_granted(&gone, &granted(&["a", "a/c"])),
            Ok(Some(granted(&["a/c"])))
        );
        let below = NameChange::RenameGroup {
            from: "a".to_owned(),
            to: "a/b".to_owned(),
        };
        assert_eq!(
            change_granted(&below, &granted(&["a", "a/x"])),
            Ok(Some(granted(&["a/b", "a/b/x"])))
        );
    }
}
