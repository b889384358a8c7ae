//! Who speaks on the message bus: tokens for messages, the entry of a message that has one, and the record of those that are
//! refused before they are calls.

use std::sync::Arc;

use async_nats::HeaderMap;
use chrono::{DateTime, TimeDelta, Utc};
use sha2::{Digest, Sha256};
use toolgate_api::audit::{AuditAction, AuditOutcome};
use toolgate_api::auth::PrincipalKind;
use toolgate_api::bus::{BusToken, BusTokenRequest};
use toolgate_api::{Diagnostic, ErrorCode};
use toolgate_core::ids::CallId;
use toolgate_core::policy::groups::GroupSet;
use toolgate_core::principal::Principal;
use toolgate_store::rows::Opening;
use toolgate_store::{BusClaim, BusClaimKind};

use super::call::NEED;
use super::entry::{Caller, Entry, Origin};
use super::record::{self, Requester};
use super::recorded;
use super::server_snapshot::ProjectState;
use crate::auth::bus_token::{self, BusMessage};
use crate::gateway::{Gateway, Problem};

/// The header that a message has its token in.
pub const TOKEN: &str = "Toolgate-Token";

/// Hexadecimal digits of a SHA-256.
const DIGITS: usize = 64;

/// SHA-256 in lower-case hexadecimal digits.
#[must_use]
pub fn sha256(bytes: &[u8]) -> String {
    use std::fmt::Write;
    Sha256::digest(bytes)
        .iter()
        .fold(String::new(), |mut text, byte| {
            // Writing to a text does not fail.
            let _ = write!(text, "{byte:02x}");
            text
        })
}

/// Issues a token for one message of the caller's.
///
/// # Errors
/// 422 for a message of another project, or without the hashes it needs; 403 for a client that a user has let in.
pub fn issue(gateway: &Gateway, entry: &Entry, request: BusTokenRequest) -> Result<BusToken, Problem> {
    let faults = faults(entry.project.row.id.as_str(), &request);
    if !faults.is_empty() {
        return Err(Problem::new(
            ErrorCode::InvalidRequest,
            "The message is invalid; `errors` names each fault.",
        )
        .errors(faults));
    }
    let message = BusMessage {
        project: entry.project.row.uid.0,
        subject: request.subject,
        payload_sha256: request.payload_sha256,
        card_sha256: request.card_sha256,
    };
    let Caller {
        identity,
        server_snapshot,
        now,
        ..
    } = &entry.caller;
    let issued = bus_token::issue(
        &gateway.authenticator,
        &server_snapshot.directory,
        identity,
        message,
        gateway.clock.new_id(),
        *now,
    );
    match issued {
        None => Err(Problem::new(
            ErrorCode::Forbidden,
            "A client that a user has let in speaks MCP only. Use a service key.",
        )),
        Some(Err(error)) => Err(Problem::internal(&error)),
        Some(Ok((token, expires_at))) => Ok(BusToken { token, expires_at }),
    }
}

fn faults(project: &str, request: &BusTokenRequest) -> Vec<Diagnostic> {
    let mut faults = Vec::new();
    let tokens: Vec<&str> = request.subject.split('.').collect();
    let is_command = match tokens.as_slice() {
        ["tg", of, "tool", "invoke"]
        | ["tg", of, "tool", "invoke", "mcp"]
        | ["tg", of, "tool-descriptors"]
            if *of == project =>
        {
            false
        }
        ["cg", _, of, _, "cmd", "tool", _, _, ..] if *of == project => true,
        _ => {
            faults.push(
                Diagnostic::error(format!("is no subject for the tools of the project \"{project}\""))
                    .hint("tg.{project_id}.tool.invoke, tg.{project_id}.tool.invoke.mcp, tg.{project_id}.tool-descriptors, or cg.{ver}.{project_id}.{channel_id}.cmd.tool.{target}.{suffix}")
                    .at_pointer("/subject"),
            );
            false
        }
    };
    let is_hash = |text: &str| {
        text.len() == DIGITS && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    };
    let mut hash = |text: &str, pointer: &str| {
        if !is_hash(text) {
            faults.push(
                Diagnostic::error("a SHA-256 has 64 lower-case hexadecimal digits").at_pointer(pointer),
            );
        }
    };
    hash(&request.payload_sha256, "/payload_sha256");
    if let Some(card) = &request.card_sha256 {
        hash(card, "/card_sha256");
    } else if is_command {
        faults.push(
            Diagnostic::error("a command needs the hash of its card: its arguments are there")
                .at_pointer("/card_sha256"),
        );
    }
    faults
}

/// A message as the bus delivered it.
pub struct Delivered<'a> {
    /// Its subject.
    pub subject: &'a str,
    /// Its headers.
    pub headers: &'a HeaderMap,
    /// Its payload.
    pub payload: &'a [u8],
    /// When the bus took it.
    pub published: DateTime<Utc>,
    /// What it is called; the same when it is delivered again.
    pub name: String,
    /// How much later it may be delivered again.
    pub kept: TimeDelta,
}

/// A caller who has proven to have sent a message.
pub struct ProvenEntry {
    /// The caller in the project.
    pub entry: Entry,
    /// What the card must be that the message points at.
    pub card_sha256: Option<String>,
}

/// Why a message is not a call, and who sent it, as far as that is proven.
pub struct Refused {
    /// Why.
    pub problem: Problem,
    /// Who, if it was proven.
    pub principal: Option<Principal>,
}

impl From<Problem> for Refused {
    fn from(problem: Problem) -> Self {
        Self {
            problem,
            principal: None,
        }
    }
}

/// Enters the project of a message by its token, which counts for one message only.
///
/// # Errors
/// 401 for a message without a valid token of its own; as [`Caller::enter`].
pub async fn enter(
    gateway: &Gateway,
    project: &ProjectState,
    message: &Delivered<'_>,
    origin: Origin,
) -> Result<ProvenEntry, Refused> {
    let mut tokens = message.headers.get_all(TOKEN);
    let (Some(token), None) = (tokens.next(), tokens.next()) else {
        return Err(unproven("The message has no header Toolgate-Token, or several").into());
    };
    let now = gateway.clock.now();
    let server_snapshot = gateway.snapshots.now();
    let meant = BusMessage {
        project: project.row.uid.0,
        subject: message.subject.to_owned(),
        payload_sha256: sha256(message.payload),
        card_sha256: None,
    };
    let proven = bus_token::prove(
        &gateway.authenticator,
        &server_snapshot.directory,
        token.as_str(),
        &meant,
        message.published,
        now,
    )
    .map_err(|cause| unproven(&format!("The token does not prove who sent the message: {cause}")))?;
    let principal = proven.identity.principal.clone();
    let by_principal = |problem| Refused {
        problem,
        principal: Some(principal.clone()),
    };
    let caller = Caller {
        identity: proven.identity,
        server_snapshot,
        now,
        origin,
    };
    let entry = caller
        .enter(project.row.id.as_str(), NEED)
        .map_err(by_principal)?;
    let claim = BusClaim {
        project: project.row.uid,
        kind: BusClaimKind::Token,
        name: proven.jti,
        expires_at: now + message.kept,
    };
    let holder = gateway.store.claim_on_bus(&claim, &message.name, now).await;
    let holder = holder.map_err(|error| by_principal(error.into()))?;
    if holder != message.name {
        return Err(by_principal(unproven(
            "The token was used for another message before: each message needs its own",
        )));
    }
    Ok(ProvenEntry {
        entry,
        card_sha256: proven.card_sha256,
    })
}

fn unproven(why: &str) -> Problem {
    Problem::new(
        ErrorCode::Unauthenticated,
        format!(
            "{why}. Get one by POST /projects/{{project_id}}/bus-tokens just before the message is sent."
        ),
    )
}

/// Records that a message was refused before it was a call.
///
/// # Errors
/// When the record cannot be written.
pub async fn record_refusal(
    gateway: &Gateway,
    project: &Arc<ProjectState>,
    principal: Option<&Principal>,
    origin: &Origin,
    tool: Option<&str>,
    code: ErrorCode,
) -> Result<CallId, Problem> {
    let unknown = Principal {
        kind: PrincipalKind::External,
        id: "bus|unproven".to_owned(),
        name: "unproven".to_owned(),
    };
    let requester = Requester {
        principal: principal.unwrap_or(&unknown),
        granted: &GroupSet::default(),
        reads_definitions: false,
        origin,
    };
    let id = CallId(gateway.clock.new_id());
    let mut record = record::decided(
        id,
        gateway.clock.now(),
        AuditAction::Call,
        &requester,
        project.snapshot.version(),
    );
    record.tool = tool.map(|tool| tool.chars().take(128).collect());
    record::conceal(project, &mut record);
    let opening = Opening {
        project: project.row.uid,
        record: record::ended(record, AuditOutcome::Denied, Some(code)),
    };
    gateway
        .metrics
        .decision(toolgate_core::policy::decision::Effect::Deny, Some(code));
    recorded::write(gateway, opening).await?;
    Ok(id)
}
