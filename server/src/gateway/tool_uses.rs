//! What a tool has to do with: who reaches it, what mentions it, and how often it is called.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use toolgate_api::permissions::HowGranted;
use toolgate_api::tool_uses::{ToolPrincipal, ToolUses};
use toolgate_core::ids::{KeyId, UserId};
use toolgate_core::policy::grants::{Ends, earlier};
use toolgate_core::policy::groups::ANY;
use toolgate_core::principal::{PrincipalKind, PrincipalRef};
use toolgate_core::snapshot::CompiledTool;
use toolgate_store::rows::UsageKind;

use super::observe::{self, first_hour};
use super::secrets;
use super::server_snapshot::{ProjectState, ServerSnapshot};
use crate::auth::directory::Directory;
use crate::auth::grants::{Holdings, StoredGrant};
use crate::gateway::{Gateway, Problem};

/// Names in one list.
const MOST: usize = 1000;
/// Hours that are counted.
const HOURS: u32 = 24;

/// Everything that has to do with a tool now. Who reaches it is reported only with `reads_access`.
pub async fn of(
    gateway: &Gateway,
    server_snapshot: &ServerSnapshot,
    project: &ProjectState,
    tool: &CompiledTool,
    reads_access: bool,
) -> Result<ToolUses, Problem> {
    let now = gateway.clock.now();
    let uid = project.row.uid;
    if let Err(error) = observe::flush(gateway).await {
        tracing::debug!(
            cause = format!("{error:#}"),
            "the latest counts are not in these uses"
        );
    }
    let hours = gateway
        .store
        .usage_by_hour(uid, UsageKind::Tool, tool.name(), first_hour(now, HOURS))
        .await?;
    let sum =
        |of: fn(&toolgate_api::usage::UsageCounts) -> i64| hours.iter().map(|hour| of(&hour.counts)).sum();
    let sessions = gateway.store.living_sessions_by_state(uid, now).await?;
    let in_open_states = sessions
        .iter()
        .filter(|(state, _)| tool.open_in(state))
        .map(|(_, sessions)| sessions.unsigned_abs());
    Ok(ToolUses {
        principals: reads_access.then(|| principals(&server_snapshot.directory, project, tool, now)),
        policy_tests: project
            .policy_tests
            .iter()
            .filter(|stored| stored.test.tool == tool.name())
            .map(|stored| stored.test.name.clone())
            .take(MOST)
            .collect(),
        open_sessions: in_open_states.sum(),
        service: tool.definition.service.clone(),
        secrets: secrets::of_tool(tool)
            .into_iter()
            .map(str::to_owned)
            .take(MOST)
            .collect(),
        reached_from: reached_from(project, tool),
        calls_24h: sum(|counts| counts.calls),
        denials_24h: sum(|counts| counts.denials),
        failures_24h: sum(|counts| counts.failures),
        last_at: gateway
            .observer
            .usage()
            .tool(uid, tool.name())
            .map(|used| used.last_at),
    })
}

/// The other tools that lead to a state it is open in, by name.
fn reached_from(project: &ProjectState, tool: &CompiledTool) -> Vec<String> {
    let leads_there = |other: &CompiledTool| {
        let target = other
            .definition
            .state
            .as_deref()
            .filter(|state| !state.is_empty());
        target.is_some_and(|state| tool.open_in(state)) && other.name() != tool.name()
    };
    project
        .snapshot
        .tools()
        .iter()
        .filter(|other| leads_there(other))
        .map(|other| other.name().to_owned())
        .take(MOST)
        .collect()
}

/// Every principal whose grant covers one of the tool's groups now, sorted by principal.
fn principals(
    directory: &Directory,
    project: &ProjectState,
    tool: &CompiledTool,
    now: DateTime<Utc>,
) -> Vec<ToolPrincipal> {
    let mut found: Vec<ToolPrincipal> = directory
        .grants_of(project.row.uid)
        .iter()
        .filter_map(|stored| principal(directory, project, tool, stored, now))
        .collect();
    found.sort_by(|a, b| a.principal.cmp(&b.principal));
    found.truncate(MOST);
    found
}

fn principal(
    directory: &Directory,
    project: &ProjectState,
    tool: &CompiledTool,
    stored: &StoredGrant,
    now: DateTime<Utc>,
) -> Option<ToolPrincipal> {
    let grant = directory.grant_of(&stored.principal, project.row.uid, now)?;
    let (name, credential_ends) = name_and_end(directory, &stored.principal)?;
    let terms = stored.terms();
    let ends = Ends::new(&terms.groups, earlier(terms.expires_at, credential_ends));
    // A tool in no group is reached by `*` alone.
    let groups = tool.groups.iter().map(String::as_str);
    let groups = groups.chain(tool.groups.is_empty().then_some(ANY));
    let covering: Vec<_> = groups
        .filter_map(|group| ends.coverage(group, now))
        .filter(|covered| covered.how != HowGranted::Expired)
        .collect();
    let via: BTreeSet<&str> = covering.iter().map(|covered| covered.via).collect();
    // A grant without an end lets it in without an end.
    let ends: Option<Vec<DateTime<Utc>>> = covering.iter().map(|covered| covered.end).collect();
    (!via.is_empty()).then(|| ToolPrincipal {
        principal: stored.principal.to_string(),
        name,
        role: Some(grant.role),
        via: via.into_iter().map(str::to_owned).take(MOST).collect(),
        expires_at: ends.and_then(|ends| ends.into_iter().max()),
    })
}

/// The name for people, and when the credential itself ends.
pub(super) fn name_and_end(
    directory: &Directory,
    principal: &PrincipalRef,
) -> Option<(String, Option<DateTime<Utc>>)> {
    match principal.kind {
        PrincipalKind::User => {
            let user = directory.user(UserId(principal.uuid()?))?;
            Some((user.username.clone(), None))
        }
        PrincipalKind::ServiceKey => {
            let key = directory.key(KeyId(principal.uuid()?))?;
            Some((key.name.clone(), key.expires_at))
        }
        PrincipalKind::External => Some((principal.id.clone(), None)),
    }
}
