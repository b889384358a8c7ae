//! Asking for what was refused, and deciding about it: groups for the asker, or a host for the tools of the project.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::json;
use toolgate_api::access_requests::{
    AccessRequest, AccessRequestStatus, AccessVerdict, AskForAccess, Asked, DecideAccessRequest,
};
use toolgate_api::audit::AuditAction;
use toolgate_api::auth::Role;
use toolgate_api::egress::ProjectEgress;
use toolgate_api::permissions::{GrantTerms, GrantedGroup};
use toolgate_api::{Diagnostic, ErrorCode};
use toolgate_core::definition::names::label_fault;
use toolgate_core::policy::groups::{ANY, GroupSet};
use toolgate_core::principal::{PrincipalKind, PrincipalRef};
use toolgate_store::{AccessRequestBounds, AccessRequestMade};
use uuid::Uuid;

use super::change_record::opening;
use super::entry::Entry;
use super::recorded::recorded;
use super::{access, egress};
use crate::auth::grants::StoredGrant;
use crate::gateway::{Gateway, Problem};

/// Requests of one principal that may wait for a decision.
const OPEN: i64 = 5;
/// Requests of one principal in a day.
const A_DAY: i64 = 20;
/// Requests of a project that may wait for a decision.
const OPEN_IN_PROJECT: i64 = 1000;
/// Groups of one request.
const GROUPS: usize = 20;
/// Characters of a reason and of a note.
const LONGEST: usize = 500;
/// How long requests are kept.
pub const KEPT: TimeDelta = TimeDelta::days(400);

/// Makes a request; whether it is new. One that asks for the same and waits for a decision is answered again.
///
/// # Errors
/// 422 for a request that cannot be granted or is granted already; 429 when the principal has too many.
pub async fn ask(
    gateway: &Arc<Gateway>,
    entry: &Entry,
    request: AskForAccess,
) -> Result<(AccessRequest, bool), Problem> {
    let asked = checked(gateway, entry, request.asked)?;
    let reason = text("reason", &request.reason)?;
    let principal = &entry.caller.identity.principal;
    let now = gateway.clock.now();
    let made = AccessRequest {
        id: gateway.clock.new_id(),
        principal: PrincipalRef::from(principal).to_string(),
        principal_name: principal.name.clone(),
        asked,
        reason,
        status: AccessRequestStatus::Open,
        created_at: now,
        decided_at: None,
        decided_by: None,
        note: None,
    };
    let what = json!({
        "change": "access_requested",
        "request": made.id,
        "asked": made.asked,
        "reason": made.reason,
    });
    let opening = change(gateway, entry, what);
    let (task, uid) = (Arc::clone(gateway), entry.project.row.uid);
    recorded(gateway, vec![opening], async move {
        let bounds = AccessRequestBounds {
            open: OPEN,
            recent: A_DAY,
            since: now - TimeDelta::days(1),
            open_in_project: OPEN_IN_PROJECT,
        };
        match task.store.ask_for_access(uid, &made, bounds).await? {
            AccessRequestMade::Stored => Ok((made, true)),
            AccessRequestMade::Same(same) => Ok((*same, false)),
            AccessRequestMade::TooMany => Err(Problem::new(
                ErrorCode::RateLimited,
                format!(
                    "There are too many requests: {OPEN} may wait for a decision, and {A_DAY} may be made in a day. Wait for \
                     a decision."
                ),
            )
            .retry_after(3600)),
        }
    })
    .await
}

/// Decides about a request: grants what was asked for, or declines it.
///
/// # Errors
/// 404 without such a request; 409 when it is decided; as a change of permissions or of the egress list.
pub async fn decide(
    gateway: &Arc<Gateway>,
    entry: &Entry,
    id: Uuid,
    decision: DecideAccessRequest,
) -> Result<AccessRequest, Problem> {
    let note = match decision.note.as_deref().map(str::trim) {
        None | Some("") => None,
        Some(note) => Some(text("note", note)?),
    };
    let uid = entry.project.row.uid;
    let found = gateway.store.access_request(uid, id).await?;
    let request = found.ok_or_else(|| not_found(id))?;
    if request.status != AccessRequestStatus::Open {
        return Err(decided_before());
    }
    let status = match decision.verdict {
        AccessVerdict::Decline => AccessRequestStatus::Declined,
        AccessVerdict::Grant => {
            match &request.asked {
                Asked::Groups { groups } => grant(gateway, entry, &request.principal, groups).await?,
                Asked::Host { origin } => allow(gateway, entry, origin).await?,
            }
            AccessRequestStatus::Granted
        }
    };
    let what = json!({
        "change": "access_request_decided",
        "request": id,
        "principal": request.principal,
        "asked": request.asked,
        "decision": status,
        "note": note,
    });
    let opening = change(gateway, entry, what);
    let task = Arc::clone(gateway);
    let by = entry.caller.identity.principal.name.clone();
    recorded(gateway, vec![opening], async move {
        let now: DateTime<Utc> = task.clock.now();
        let decided = task
            .store
            .decide_access_request(uid, id, status, (&by, note.as_deref()), now)
            .await?;
        if !decided {
            return Err(decided_before());
        }
        task.store
            .access_request(uid, id)
            .await?
            .ok_or_else(|| not_found(id))
    })
    .await
}

/// Adds the groups to what the principal holds.
async fn grant(
    gateway: &Arc<Gateway>,
    entry: &Entry,
    principal: &str,
    groups: &[String],
) -> Result<(), Problem> {
    let unknown = || Problem::not_found(format!("principal \"{principal}\""));
    let principal = PrincipalRef::parse(principal).ok_or_else(unknown)?;
    let server_snapshot = gateway.snapshots.now();
    let stored = server_snapshot
        .directory
        .stored_grant(&principal, entry.project.row.uid);
    let mut terms = match stored {
        Some(grant) => grant.terms().clone(),
        None => GrantTerms {
            role: role_without_grant(gateway, entry, &principal),
            groups: Vec::new(),
            expires_at: None,
        },
    };
    for group in groups {
        match terms.groups.iter_mut().find(|granted| granted.group == *group) {
            Some(granted) => granted.expires_at = None,
            None => terms.groups.push(GrantedGroup {
                group: group.clone(),
                expires_at: None,
            }),
        }
    }
    let before = stored.map(|grant| grant.revision);
    let is_same = |current: Option<&StoredGrant>| match current.map(|grant| grant.revision) == before {
        true => Ok(()),
        false => Err(Problem::new(
            ErrorCode::PreconditionFailed,
            "What the principal holds was changed meanwhile. Decide again.",
        )),
    };
    let change = access::put(
        gateway,
        entry.caller.actor(),
        &entry.project,
        &principal,
        terms,
        is_same,
        false,
    );
    Box::pin(change).await.map(drop)
}

/// The role that a principal without a grant has: that of its issuer, or none but calling.
fn role_without_grant(gateway: &Gateway, entry: &Entry, principal: &PrincipalRef) -> Role {
    if principal.kind != PrincipalKind::External {
        return Role::Agent;
    }
    let issuer = gateway.authenticator.issuer_of(&principal.id);
    let issuers = gateway.authenticator.issuers_of(&entry.project.row.id);
    let of_issuer = issuers.into_iter().find(|(name, _)| Some(*name) == issuer);
    of_issuer.map_or(Role::Agent, |(_, role)| role)
}

/// Adds the origin to the egress list of the project.
async fn allow(gateway: &Arc<Gateway>, entry: &Entry, origin: &str) -> Result<(), Problem> {
    entry.caller.require_system_admin()?;
    let current = super::publish::current(gateway, &entry.project.row.id)?;
    let mut list: ProjectEgress = current.egress.list.clone();
    list.hosts.push(origin.to_owned());
    let expected = Some(current.egress.revision);
    let change = egress::replace(gateway, entry.caller.actor(), &current, &list, expected);
    Box::pin(change).await.map(drop)
}

/// What is asked for as it is stored: sorted, each once.
fn checked(gateway: &Gateway, entry: &Entry, asked: Asked) -> Result<Asked, Problem> {
    match asked {
        Asked::Groups { mut groups } => {
            groups.sort();
            groups.dedup();
            if !(1..=GROUPS).contains(&groups.len()) {
                return Err(invalid(vec![
                    Diagnostic::error(format!("must have 1 to {GROUPS} groups")).at_pointer("/asked/groups"),
                ]));
            }
            let faults: Vec<Diagnostic> = groups
                .iter()
                .enumerate()
                .filter(|(_, group)| *group != ANY)
                .filter_map(|(at, group)| {
                    let fault = label_fault(group)?;
                    Some(Diagnostic::error(fault).at_pointer(format!("/asked/groups/{at}")))
                })
                .collect();
            if !faults.is_empty() {
                return Err(invalid(faults));
            }
            let wanted: GroupSet = groups.iter().map(String::as_str).collect();
            if entry.grant.groups.missing(&wanted).is_empty() {
                return Err(granted_before("You hold these groups already."));
            }
            Ok(Asked::Groups { groups })
        }
        Asked::Host { origin } => {
            let origin = gateway.egress.check_entry(&origin).map_err(|reason| {
                invalid(vec![
                    Diagnostic::error(reason)
                        .hint("an entry is an exact origin: https://api.example.com")
                        .at_pointer("/asked/origin"),
                ])
            })?;
            if entry.project.egress.list.hosts.contains(&origin) {
                return Err(granted_before("The host is allowed already."));
            }
            Ok(Asked::Host { origin })
        }
    }
}

/// A text of a person, within bounds.
fn text(name: &str, given: &str) -> Result<String, Problem> {
    let given = given.trim();
    let count = given.chars().count();
    let has_control = given.chars().any(|c| c.is_control() && c != '\n');
    if (1..=LONGEST).contains(&count) && !has_control {
        return Ok(given.to_owned());
    }
    Err(invalid(vec![
        Diagnostic::error(format!(
            "must have 1 to {LONGEST} characters and no control characters"
        ))
        .at_pointer(format!("/{name}")),
    ]))
}

fn change(gateway: &Gateway, entry: &Entry, what: serde_json::Value) -> toolgate_store::rows::Opening {
    let place = (entry.project.row.uid, entry.project.snapshot.version());
    opening(gateway, place, &entry.requester(), AuditAction::Access, what)
}

fn invalid(errors: Vec<Diagnostic>) -> Problem {
    Problem::new(
        ErrorCode::InvalidRequest,
        "The request is invalid; nothing was stored. `errors` names each fault.",
    )
    .errors(errors)
}

fn granted_before(what: &str) -> Problem {
    Problem::new(ErrorCode::Conflict, what.to_owned())
}

fn decided_before() -> Problem {
    Problem::new(
        ErrorCode::Conflict,
        "The request was decided already. Read it again.",
    )
}

fn not_found(id: Uuid) -> Problem {
    Problem::not_found(format!("request \"{id}\""))
}
