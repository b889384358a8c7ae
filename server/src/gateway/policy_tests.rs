//! The expectations of a project: running them, changing them, and refusing changes that would break them.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use toolgate_api::audit::AuditAction;
use toolgate_api::policy_tests::{
    BrokenPolicyTest, PolicyTest, PolicyTestItem, PolicyTestRun, PolicyTestUpload, UploadPolicyTests,
};
use toolgate_api::tools::UploadOutcome;
use toolgate_api::{Diagnostic, ErrorCode};
use toolgate_core::counted::counted;
use toolgate_core::ids::ProjectId;
use toolgate_core::policy::groups::GroupSet;
use toolgate_core::policy_tests::{self as rules, Effects, GrantLookup, MAX_TESTS, View};
use toolgate_core::principal::PrincipalRef;
use toolgate_core::snapshot::ProjectSnapshot;
use toolgate_store::rows::ProjectRow;
use toolgate_store::{Basis, PolicyTestChange, StoreError};

use super::change_record::recorded;
use super::publish::{current, too_busy, turn};
use super::record::Requester;
use super::server_snapshot::{ProjectState, ServerSnapshot};
use crate::auth::directory::Directory;
use crate::auth::grants::Holdings;
use crate::gateway::problem::faults_in;
use crate::gateway::{Gateway, Problem};

/// Attempts to compute a change when others are committed in between.
const ATTEMPTS: usize = 16;
/// Longest note of a revision, in characters.
const NOTE: usize = 500;

/// Who holds which groups in a project, as the directory has it.
pub struct CurrentGrants<'a> {
    directory: &'a Directory,
    project: &'a ProjectRow,
}

impl<'a> CurrentGrants<'a> {
    /// The grants of one project.
    #[must_use]
    pub fn new(directory: &'a Directory, project: &'a ProjectRow) -> Self {
        Self { directory, project }
    }
}

impl GrantLookup for CurrentGrants<'_> {
    fn grant_of(&self, principal: &PrincipalRef, at: DateTime<Utc>) -> Option<GroupSet> {
        let grant = self.directory.grant_of(principal, self.project.uid, at);
        grant.map(|grant| grant.groups)
    }
}

/// A project as a change would leave it. What the change does not touch is `None`.
#[derive(Default)]
pub struct Candidate<'a> {
    /// Tools, groups and conditions.
    pub snapshot: Option<ProjectSnapshot>,
    /// Who holds what; [`rules::WithGrant`] changes one principal's grant.
    pub grants: Option<Box<dyn GrantLookup + 'a>>,
}

/// Refuses a change that would break an expectation which holds now: 409 `policy_test_failed` with every such test, its
/// decision before and after. Tests that fail already stop nothing.
///
/// Call it right before the change is committed, with the state it was computed from. The candidate is made only when the
/// project has tests at all.
///
/// With `ignore` the change may pass, and the answer is a sentence for its note: which expectations it breaks.
pub fn guard<'a>(
    gateway: &Gateway,
    server_snapshot: &'a ServerSnapshot,
    project: &'a ProjectState,
    ignore: bool,
    candidate: impl FnOnce() -> Candidate<'a>,
) -> Result<Option<String>, Problem> {
    if project.policy_tests.is_empty() {
        return Ok(None);
    }
    let broken = effects(gateway, server_snapshot, project, &candidate()).broken;
    match (broken.is_empty(), ignore) {
        (true, _) => Ok(None),
        (false, true) => Ok(Some(ignored(&broken))),
        (false, false) => Err(refusal(broken)),
    }
}

/// The version of the directory that a change of definitions is judged with; `None` when there are no expectations,
/// or breaking them is intended. Commit the change only while the version is current: a change of definitions and one
/// of permissions may each meet an expectation and together break it.
#[must_use]
pub fn judged_with(server_snapshot: &ServerSnapshot, project: &ProjectState, ignore: bool) -> Option<i64> {
    let judged = !ignore && !project.policy_tests.is_empty();
    judged.then(|| server_snapshot.directory.version())
}

/// The versions that a change of permissions is judged by; as [`judged_with`].
#[must_use]
pub fn basis(server_snapshot: &ServerSnapshot, project: &ProjectState, ignore: bool) -> Option<Basis> {
    judged_with(server_snapshot, project, ignore).map(|directory| Basis {
        directory,
        project: project.snapshot.version(),
    })
}

/// What a change breaks that nothing may hold up: a key that is revoked, a user who is disabled or deleted. A sentence for
/// its record.
#[must_use]
pub fn foretold(
    gateway: &Gateway,
    server_snapshot: &ServerSnapshot,
    project: &ProjectState,
    gone: &PrincipalRef,
) -> Option<String> {
    if project.policy_tests.is_empty() {
        return None;
    }
    let candidate = Candidate {
        grants: Some(Box::new(Without {
            current: CurrentGrants::new(&server_snapshot.directory, &project.row),
            gone,
        })),
        ..Candidate::default()
    };
    let broken = effects(gateway, server_snapshot, project, &candidate).broken;
    (!broken.is_empty()).then(|| {
        let said = ignored(&broken);
        tracing::warn!(project = %project.row.id, principal = %gone, "what is revoked {said}");
        said
    })
}

/// The grants when a principal holds nothing any more.
struct Without<'a> {
    current: CurrentGrants<'a>,
    gone: &'a PrincipalRef,
}

impl GrantLookup for Without<'_> {
    fn grant_of(&self, principal: &PrincipalRef, at: DateTime<Utc>) -> Option<GroupSet> {
        if principal == self.gone {
            return None;
        }
        self.current.grant_of(principal, at)
    }
}

/// What a change would do to the expectations of the project.
pub fn effects(
    gateway: &Gateway,
    server_snapshot: &ServerSnapshot,
    project: &ProjectState,
    candidate: &Candidate<'_>,
) -> Effects {
    let current = CurrentGrants::new(&server_snapshot.directory, &project.row);
    let before = View {
        snapshot: &project.snapshot,
        grants: &current,
    };
    let after = View {
        snapshot: candidate.snapshot.as_ref().unwrap_or(&project.snapshot),
        grants: candidate.grants.as_deref().unwrap_or(&current),
    };
    let tests = project.policy_tests.iter().map(|stored| &stored.test);
    rules::compare(tests, before, after, gateway.clock.now())
}

/// The effects of an upload, for its answer.
pub fn wire_effects(effects: Effects) -> UploadPolicyTests {
    let mut failed = effects.broken;
    failed.extend(effects.failing);
    failed.sort_by(|a, b| a.name.cmp(&b.name));
    UploadPolicyTests {
        passed: count(effects.passed),
        failed,
    }
}

/// 409 with every expectation that a change would break.
pub fn refusal(broken: Vec<BrokenPolicyTest>) -> Problem {
    let faults = broken
        .iter()
        .map(|test| {
            Diagnostic::error(format!(
                "policy test \"{}\" expects {}; now it is {}, after the change it would be {}",
                test.name,
                rules::in_words(test.expected.effect, test.expected.code),
                rules::in_words(test.before.effect, test.before.code),
                rules::in_words(test.after.effect, test.after.code),
            ))
            .hint(test.after.summary.clone())
        })
        .collect();
    Problem::new(
        ErrorCode::PolicyTestFailed,
        format!(
            "This change would make {} fail; nothing was changed. Correct the change, change the expectation, or repeat the \
             request with ?ignore_policy_tests=true.",
            counted(broken.len(), "policy test")
        ),
    )
    .errors(faults)
    .broken_policy_tests(broken)
}

/// For the note of a change that may break expectations: which it breaks.
pub fn ignored(broken: &[BrokenPolicyTest]) -> String {
    let names: Vec<&str> = broken.iter().map(|test| test.name.as_str()).collect();
    format!("breaks policy tests: {}", names.join(", "))
}

/// The author's note with what the guard said, cut to what a note may hold.
#[must_use]
pub fn noted(note: Option<String>, said: Option<String>) -> Option<String> {
    let Some(said) = said else { return note };
    let mut text = note.map_or_else(String::new, |note| format!("{note} "));
    text.push_str(&format!("[{said}]"));
    if text.chars().nth(NOTE).is_some() {
        text = text.chars().take(NOTE - 2).chain("…]".chars()).collect();
    }
    Some(text)
}

/// Runs all tests of a project, or some, as it is now.
pub fn run(
    gateway: &Gateway,
    server_snapshot: &ServerSnapshot,
    project: &ProjectState,
    wanted: impl Fn(&PolicyTest) -> bool,
) -> PolicyTestRun {
    let grants = CurrentGrants::new(&server_snapshot.directory, &project.row);
    let view = View {
        snapshot: &project.snapshot,
        grants: &grants,
    };
    let now = gateway.clock.now();
    let results: Vec<_> = project
        .policy_tests
        .iter()
        .map(|stored| &stored.test)
        .filter(|test| wanted(test))
        .map(|test| rules::run(test, view, now).result(view, now))
        .collect();
    let passed = results.iter().filter(|result| result.passed).count();
    PolicyTestRun {
        passed: count(passed),
        failed: count(results.len() - passed),
        results,
    }
}

/// Stores tests, replacing those of the same name; with `replace_all` the others are removed.
pub async fn upload(
    gateway: &Arc<Gateway>,
    project: &ProjectId,
    requester: &Requester<'_>,
    tests: Vec<PolicyTest>,
    replace_all: bool,
) -> Result<PolicyTestUpload, Problem> {
    let _turn = turn(gateway, project).await?;
    for _ in 0..ATTEMPTS {
        let state = current(gateway, project)?;
        let known = |name: &str| find(&state, name);
        let items: Vec<PolicyTestItem> = tests
            .iter()
            .map(|test| PolicyTestItem {
                name: test.name.clone(),
                outcome: match known(&test.name) {
                    None => UploadOutcome::Created,
                    Some(stored) if stored.test == *test => UploadOutcome::Unchanged,
                    Some(_) => UploadOutcome::Replaced,
                },
            })
            .collect();
        let removed: Vec<String> = state
            .policy_tests
            .iter()
            .map(|stored| &stored.test.name)
            .filter(|name| replace_all && !tests.iter().any(|test| test.name == **name))
            .cloned()
            .collect();
        let created = items
            .iter()
            .filter(|item| item.outcome == UploadOutcome::Created)
            .count();
        if state.policy_tests.len() - removed.len() + created > MAX_TESTS {
            return Err(Problem::new(
                ErrorCode::InvalidRequest,
                format!(
                    "A project keeps at most {MAX_TESTS} policy tests; nothing was stored. Remove some first."
                ),
            ));
        }
        let put: Vec<PolicyTest> = tests
            .iter()
            .zip(&items)
            .filter(|(_, item)| item.outcome != UploadOutcome::Unchanged)
            .map(|(test, _)| test.clone())
            .collect();
        let unchanged = put.is_empty() && removed.is_empty();
        if !unchanged && !commit(gateway, &state, requester, put, removed.clone()).await? {
            continue;
        }
        let server_snapshot = gateway.snapshots.now();
        let state = current(gateway, project)?;
        let results = run(gateway, &server_snapshot, &state, |test| {
            tests.iter().any(|uploaded| uploaded.name == test.name)
        });
        return Ok(PolicyTestUpload {
            items,
            removed,
            results,
        });
    }
    Err(too_busy())
}

/// Replaces one test that is there, or with `None` removes it.
pub async fn change(
    gateway: &Arc<Gateway>,
    project: &ProjectId,
    requester: &Requester<'_>,
    name: &str,
    test: Option<PolicyTest>,
    matches: impl Fn(i64) -> Result<(), Problem>,
) -> Result<(), Problem> {
    let _turn = turn(gateway, project).await?;
    for _ in 0..ATTEMPTS {
        let state = current(gateway, project)?;
        let stored = find(&state, name).ok_or_else(|| not_found(name))?;
        matches(stored.revision)?;
        let (put, remove) = match &test {
            Some(test) if *test == stored.test => return Ok(()),
            Some(test) => (vec![test.clone()], Vec::new()),
            None => (Vec::new(), vec![name.to_owned()]),
        };
        if commit(gateway, &state, requester, put, remove).await? {
            return Ok(());
        }
    }
    Err(too_busy())
}

/// One test by its name.
#[must_use]
pub fn find<'s>(
    state: &'s ProjectState,
    name: &str,
) -> Option<&'s toolgate_api::policy_tests::StoredPolicyTest> {
    let at = state
        .policy_tests
        .binary_search_by(|stored| stored.test.name.as_str().cmp(name))
        .ok()?;
    state.policy_tests.get(at)
}

/// The project has no such test.
pub fn not_found(name: &str) -> Problem {
    let shown: String = name.chars().take(128).collect();
    Problem::not_found(format!("policy test \"{shown}\""))
}

/// Every fault of refused policy tests.
pub fn invalid(errors: Vec<Diagnostic>) -> Problem {
    Problem::new(ErrorCode::InvalidRequest, faults_in("policy tests", errors.len())).errors(errors)
}

/// Commits against the version of `state`; `false` when the database has a newer one, which is then loaded.
async fn commit(
    gateway: &Arc<Gateway>,
    state: &ProjectState,
    requester: &Requester<'_>,
    put: Vec<PolicyTest>,
    remove: Vec<String>,
) -> Result<bool, Problem> {
    let what = what(state, &put, &remove);
    let change = PolicyTestChange {
        project: state.row.uid,
        expected_version: state.snapshot.version(),
        put,
        remove,
        author: requester.principal.name.clone(),
        at: gateway.clock.now(),
    };
    let task = Arc::clone(gateway);
    let committed = recorded(gateway, state, requester, AuditAction::Policy, what, async move {
        let committed = match task.store.change_policy_tests(&change).await {
            Ok(_version) => Some(()),
            Err(StoreError::VersionConflict) => None,
            Err(error) => return Err(error.into()),
        };
        task.snapshots.refresh().await?;
        Ok(committed)
    });
    Ok(committed.await?.is_some())
}

/// What is recorded: every test that becomes another, before and after.
fn what(state: &ProjectState, put: &[PolicyTest], remove: &[String]) -> Value {
    let before = |name: &str| find(state, name).map(|stored| &stored.test);
    let put = put
        .iter()
        .map(|test| json!({"name": test.name, "before": before(&test.name), "after": test}));
    let removed = remove
        .iter()
        .map(|name| json!({"name": name, "before": before(name), "after": null}));
    let tests: Vec<Value> = put.chain(removed).collect();
    json!({"change": "policy_tests", "count": tests.len(), "tests": tests})
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
