//! What is noticed of every decided request: one place that feeds the metrics of the tool group specification, the
//! usage counters, the detectors of suspicious patterns and the log line of the request.
//!
//! It is on the path of every call, so it looks each name up once, in one lock per project, and allocates nothing
//! for names it knows. What it counts is written to the database by [`flush`], every few seconds.

mod counts;
mod flush;
mod line;
mod principals;
mod tally;
#[cfg(test)]
mod tests;
mod upstreams;
mod usage;

use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::Value;
use toolgate_api::ErrorCode;
use toolgate_api::audit::{AuditAction, AuditRecord};
use toolgate_api::settings::AlertThresholds;
use toolgate_core::alerts::{AddressWatch, Finding};
use toolgate_core::ids::KeyId;
use toolgate_core::principal::{Principal, PrincipalKind, PrincipalRef};
use toolgate_core::snapshot::Availability;
use toolgate_store::{Store, StoreError};
use uuid::Uuid;

use self::counts::Counts;
pub use self::counts::Used;
use self::flush::Backlog;
pub use self::flush::{HOUR_POINTS_KEPT, MINUTE_POINTS_KEPT, flush, prune};
use self::line::RequestLine;
pub use self::line::TARGET as REQUEST_TARGET;
use self::usage::ProjectUsage;
pub use self::usage::Usage;
use super::mcp_servers;
use super::record::Requester;
use super::server_snapshot::{ProjectState, ServerSnapshot};
use crate::auth::api_key;
use crate::gateway::Gateway;
use crate::telemetry::{Metrics, ToolUseMetrics, WrittenMetric};

/// One decided request.
pub struct Observed<'a> {
    /// What was asked.
    pub action: AuditAction,
    /// When it was decided.
    pub at: DateTime<Utc>,
    /// In which project.
    pub project: &'a ProjectState,
    /// Who asked, under which request and from where.
    pub requester: &'a Requester<'a>,
    /// The requested groups after the default was applied.
    pub requested: &'a [String],
    /// Those of them that were not granted.
    pub missing: &'a [String],
    /// The tool, when there is one of this name.
    pub tool: Option<&'a str>,
    /// The state it was decided against.
    pub state: &'a str,
    /// Why it was refused; `None` when it was allowed.
    pub code: Option<ErrorCode>,
    /// The caller's own ids, as they are in the record.
    pub context: Option<&'a Value>,
    /// What is available to the request, when that was computed.
    pub available: Option<&'a Availability>,
}

impl<'a> Observed<'a> {
    /// What a record says that is about to be written.
    #[must_use]
    pub fn of_record(
        project: &'a ProjectState,
        requester: &'a Requester<'a>,
        record: &'a AuditRecord,
    ) -> Self {
        Self {
            action: record.action,
            at: record.at,
            project,
            requester,
            requested: &record.requested_groups,
            missing: &record.missing_groups,
            // A name without a revision is a name that the caller made up.
            tool: record.tool.as_deref().filter(|_| record.revision.is_some()),
            state: &record.state_before,
            code: record.code,
            context: record.context.as_ref(),
            available: None,
        }
    }
}

/// How an admitted call ended.
#[derive(Debug, Clone, Copy)]
pub struct Ended<'a> {
    /// The tool.
    pub tool: &'a str,
    /// The state the call was decided against.
    pub before: &'a str,
    /// The state afterwards.
    pub after: &'a str,
    /// Why it failed.
    pub code: Option<ErrorCode>,
    /// Whether its move was not applied, because the session had moved meanwhile.
    pub state_conflict: bool,
    /// When it ended.
    pub at: DateTime<Utc>,
}

/// What an admitted call holds until it has ended.
pub struct Ticket {
    project: Arc<ProjectUsage>,
    counts: Vec<Arc<Counts>>,
    started: DateTime<Utc>,
    in_state_since: Option<DateTime<Utc>>,
    line: Option<Box<RequestLine>>,
}

impl Ticket {
    /// Of a call in a session that is in its state since then.
    #[must_use]
    pub fn in_state_since(mut self, since: Option<DateTime<Utc>>) -> Self {
        self.in_state_since = since;
        self
    }
}

/// A pattern and whose it is.
#[derive(Debug, Clone)]
pub struct Found {
    /// The pattern.
    pub finding: Finding,
    /// When it became complete.
    pub at: DateTime<Utc>,
    /// Its subject, as written in the alert.
    pub subject: String,
    /// Its name for people.
    pub subject_name: Option<String>,
    /// The request that completed it.
    pub request_id: Option<String>,
}

/// Everything that watches.
pub struct Observer {
    usage: Usage,
    addresses: Mutex<Refusals>,
    backlog: tokio::sync::Mutex<Backlog>,
}

/// Refused credentials, and the patterns among them.
#[derive(Default)]
struct Refusals {
    watch: AddressWatch,
    found: Vec<Found>,
}

/// Patterns of the server that wait to be stored.
const MAX_FOUND: usize = 1000;

impl Observer {
    /// Starts from what the database knows.
    pub async fn load(store: &Store, metrics: &Metrics) -> Result<Self, StoreError> {
        Ok(Self {
            usage: Usage::load(store, metrics.clone()).await?,
            addresses: Mutex::default(),
            backlog: tokio::sync::Mutex::default(),
        })
    }

    /// What was counted.
    #[must_use]
    pub fn usage(&self) -> &Usage {
        &self.usage
    }

    fn refusals(&self) -> MutexGuard<'_, Refusals> {
        self.addresses.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A sign-in was refused, or a credential.
    pub fn refused_sign_in(&self, address: Option<IpAddr>, at: DateTime<Utc>) {
        let Some(address) = address else { return };
        let mut refusals = self.refusals();
        let finding = refusals.watch.observe(&AlertThresholds::default(), at, address);
        if let Some(finding) = finding
            && refusals.found.len() < MAX_FOUND
        {
            refusals.found.push(Found::of_address(finding, at));
        }
    }
}

/// A credential was refused: noticed for the server, and for the project whose key it looks like.
pub fn refused_credential(
    gateway: &Gateway,
    server_snapshot: &ServerSnapshot,
    credential: &str,
    address: Option<IpAddr>,
    at: DateTime<Utc>,
) {
    gateway.observer.refused_sign_in(address, at);
    let key = api_key::prefix(credential).and_then(|prefix| server_snapshot.directory.key_by_prefix(prefix));
    let project = key.and_then(|key| {
        server_snapshot
            .projects()
            .find(|project| project.row.uid == key.project)
    });
    if let (Some(project), Some(address)) = (project, address) {
        let rules = &project.settings.alerts;
        gateway
            .observer
            .usage
            .project(project)
            .refused(rules, at, address);
    }
}

impl Found {
    /// A pattern of an address.
    fn of_address(finding: Finding, at: DateTime<Utc>) -> Self {
        let subject = finding
            .addresses
            .first()
            .map_or_else(|| "address".to_owned(), |address| format!("address:{address}"));
        Self {
            finding,
            at,
            subject,
            subject_name: None,
            request_id: None,
        }
    }
}

/// Notices one decided request. The code that admitted a call keeps the ticket and gives it to [`ended`].
pub fn observed(gateway: &Gateway, seen: &Observed<'_>) -> Ticket {
    let line = line::is_wanted().then(|| Box::new(RequestLine::new(seen)));
    let admitted = seen.action == AuditAction::Call && seen.code.is_none();
    let mut ticket = gateway
        .observer
        .usage
        .observed(seen, || held_since(gateway, seen.requester.principal));
    match line {
        Some(line) if admitted => ticket.line = Some(line),
        Some(line) => line.write(None, seen.code, TimeDelta::zero()),
        None => {}
    }
    ticket
}

/// Notices how an admitted call ended. Costs next to nothing for a call that succeeded without moving the state.
pub fn ended(ticket: Ticket, end: &Ended<'_>) {
    let took = end.at - ticket.started;
    ticket.project.took(&ticket.counts, took.num_milliseconds());
    if end.code.is_some() {
        ticket.project.failed(&ticket.counts);
    }
    if end.before != end.after || end.state_conflict {
        ticket.project.moved(end, ticket.in_state_since);
    }
    if let Some(line) = ticket.line {
        let took = end.at - line.started();
        line.write(Some(end), end.code, took);
    }
}

/// When the window begins that ends with the present hour.
#[must_use]
pub fn first_hour(now: DateTime<Utc>, hours: u32) -> DateTime<Utc> {
    let present = now.timestamp().div_euclid(tally::HOUR) - i64::from(hours) + 1;
    DateTime::from_timestamp(present * tally::HOUR, 0).unwrap_or(now)
}

/// Notices that a session left its state otherwise than by a call: it ended or expired.
pub fn left_state(gateway: &Gateway, project: &ProjectState, state: &str, spent: TimeDelta) {
    gateway.observer.usage.project(project).left_state(state, spent);
}

/// What is available in each project, and what is counted of its tools' places and answers, as text for Prometheus. The work is bounded: only projects with a
/// label of their own are looked at.
#[must_use]
pub fn written(gateway: &Gateway) -> String {
    let mut tools = ToolUseMetrics::default();
    let (mut groups, mut states) = (WrittenMetric::groups(), WrittenMetric::states());
    let (mut servers, connections) = (WrittenMetric::mcp_servers(), gateway.executors.mcp().states());
    let server_snapshot = gateway.snapshots.now();
    let mut projects: Vec<_> = server_snapshot.projects().collect();
    // The older ones first, so that a project keeps its label.
    projects.sort_by(|a, b| (a.row.created_at, &a.row.id).cmp(&(b.row.created_at, &b.row.id)));
    for project in projects {
        let id = project.row.id.as_str();
        if gateway.metrics.project(id).is_named() {
            groups.add(id, project.snapshot.group_sizes());
            states.add(id, project.snapshot.state_sizes());
            let mut uses = gateway.executors.tool_uses(&project.row.id);
            uses.retain(|of| project.snapshot.tool(of.tool.as_str()).is_some());
            tools.add(id, &uses);
            servers.add_states(id, mcp_servers::read::states(gateway, project, &connections));
        }
    }
    groups.into_text() + &states.into_text() + &servers.into_text() + &tools.into_text()
}

/// When a principal was given what it holds, if that is known without reading the database: keys never change.
fn held_since(gateway: &Gateway, principal: &Principal) -> Option<DateTime<Utc>> {
    key_since(gateway, principal.kind, &principal.id)
}

fn key_since(gateway: &Gateway, kind: PrincipalKind, id: &str) -> Option<DateTime<Utc>> {
    if kind != PrincipalKind::ServiceKey {
        return None;
    }
    let id = KeyId(Uuid::try_parse(id).ok()?);
    gateway
        .snapshots
        .now()
        .directory
        .key(id)
        .map(|key| key.created_at)
}

fn subject(principal: &Principal) -> String {
    PrincipalRef::from(principal).to_string()
}
