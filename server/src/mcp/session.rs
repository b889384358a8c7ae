//! Sessions of the revisions before 2026-07-28.
//!
//! The id that a client gets is also that of the Toolgate session, which is made under it when it is first needed. It names
//! its principal by a tag and can be checked by every replica and after a restart, so that a client that only connects costs
//! nothing. It ends by `DELETE`, of which only the end is stored then, or [`IDLE`] after the client's last request or stream.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::{DateTime, TimeDelta, Utc};
use toolgate_api::sessions::CreateSession;
use toolgate_core::ids::SessionId;
use toolgate_core::principal::PrincipalRef;
use toolgate_core::session::{self, SessionLife};
use toolgate_store::rows::SessionRow;
use uuid::Uuid;

use super::asking::Asks;
use super::turn::Turn;
use crate::auth::directory::Directory;
use crate::gateway::entry::{Client, Entry};
use crate::gateway::{Gateway, Problem, sessions};

/// How long an id is good of which nothing was stored yet.
pub const UNUSED: Duration = Duration::from_hours(24);
/// How long a stored session is kept for a client that sends nothing and has no stream.
const IDLE: TimeDelta = TimeDelta::days(1);
/// How often the end of a session that is used is moved.
pub(super) const KEPT_EVERY: Duration = Duration::from_hours(1);
/// Bytes of the tag.
const TAG: usize = 16;
/// What people see in lists of sessions.
const LABEL: &str = "MCP";

/// The id of a session, checked.
#[derive(Debug, Clone)]
pub(super) struct Opened {
    /// The id of the Toolgate session.
    pub(super) id: Uuid,
    /// The revision that was negotiated.
    pub(super) version: String,
    /// The program that began it.
    pub(super) client: Option<Client>,
    /// How the client can be asked.
    pub(super) asks: Asks,
}

/// What an id says about whom it belongs to.
fn tagged(entry: &Entry, id: Uuid, version: &str, client: &str) -> String {
    let principal = PrincipalRef::from(&entry.caller.identity.principal);
    format!(
        "mcp {id} {version} {client} {} {principal}",
        entry.project.row.uid.0
    )
}

/// A program as a part of an id: name, version, and how it can be asked. Names have no control characters.
fn encoded(client: Option<&Client>, asks: Asks) -> String {
    let name = client.map_or("", |client| &client.name);
    let version = client
        .and_then(|client| client.version.as_deref())
        .unwrap_or_default();
    let text = format!("{name}\n{version}\n{}", asks.as_str());
    URL_SAFE_NO_PAD.encode(text.trim_end())
}

fn decoded(part: &str) -> (Option<Client>, Asks) {
    let text = URL_SAFE_NO_PAD.decode(part).ok();
    let text = text
        .and_then(|text| String::from_utf8(text).ok())
        .unwrap_or_default();
    let mut lines = text.split('\n');
    let client = Client::named(lines.next().unwrap_or_default(), lines.next());
    (client, Asks::parse(lines.next().unwrap_or_default()))
}

/// A new id for the caller; `None` while nothing can be signed.
pub(super) fn begin(gateway: &Gateway, entry: &Entry, version: &str, asks: Asks) -> Option<String> {
    let id = gateway.clock.new_id();
    let key = entry
        .caller
        .server_snapshot
        .directory
        .signing_key(gateway.clock.now())?;
    let client = encoded(entry.caller.origin.client.as_ref(), asks);
    let tag = key.tag(&tagged(entry, id, version, &client));
    let tag = URL_SAFE_NO_PAD.encode(&tag.as_ref()[..TAG]);
    Some(format!("{id}.{version}.{client}.{tag}"))
}

/// Checks an id; `None` unless this server or a replica gave it to this principal for this project.
pub(super) fn open(entry: &Entry, text: &str) -> Option<Opened> {
    let mut parts = text.splitn(4, '.');
    let (id, version) = (parts.next()?, parts.next()?);
    let (client, tag) = (parts.next()?, parts.next()?);
    let id: Uuid = id.parse().ok()?;
    let tag = URL_SAFE_NO_PAD.decode(tag).ok()?;
    let known = is_tag(
        &entry.caller.server_snapshot.directory,
        &tagged(entry, id, version, client),
        &tag,
    );
    let (client, asks) = decoded(client);
    known.then(|| Opened {
        id,
        version: version.to_owned(),
        client,
        asks,
    })
}

fn is_tag(directory: &Directory, text: &str, tag: &[u8]) -> bool {
    tag.len() == TAG && directory.verifying_keys().any(|key| key.begins_tag(text, tag))
}

/// Whether an id can still be used of which nothing was stored.
pub(super) fn is_fresh(id: Uuid, now: DateTime<Utc>) -> bool {
    let Some(made) = id.get_timestamp() else {
        return false;
    };
    let (seconds, _) = made.to_unix();
    let end = i64::try_from(seconds.saturating_add(UNUSED.as_secs())).unwrap_or(i64::MAX);
    now.timestamp() < end
}

/// The session of an id, if it can be used.
pub(super) enum Stored {
    /// Nothing was stored of it yet.
    NotYet,
    /// It is stored.
    Living(Box<SessionRow>),
    /// It was ended, has expired, or is another principal's.
    Gone,
}

/// Reads what is stored of a session.
pub(super) async fn stored(gateway: &Gateway, entry: &Entry, id: Uuid) -> Result<Stored, Problem> {
    let now = gateway.clock.now();
    let row = gateway
        .store
        .session(entry.project.row.uid, SessionId(id))
        .await?;
    let principal = PrincipalRef::from(&entry.caller.identity.principal);
    Ok(match row {
        None if is_fresh(id, now) && !was_ended(gateway, id).await? => Stored::NotYet,
        Some(row)
            if row.principal == principal
                && session::life(row.expires_at, row.ended_at, now) == SessionLife::Living =>
        {
            Stored::Living(Box::new(row))
        }
        _ => Stored::Gone,
    })
}

/// Whether its client ended a session before anything was stored of it.
pub(super) async fn was_ended(gateway: &Gateway, id: Uuid) -> Result<bool, Problem> {
    Ok(gateway.store.unstored_session_ended(SessionId(id)).await?)
}

/// Ends a session of which nothing is stored.
pub(super) async fn end_unstored(gateway: &Gateway, id: Uuid) -> Result<(), Problem> {
    let now = gateway.clock.now();
    Ok(gateway.store.end_unstored_session(SessionId(id), now).await?)
}

/// Moves the end of a stored session that its client still uses. A failure is only logged: the session can be used.
pub(super) async fn keep(gateway: &Gateway, entry: &Entry, id: Uuid) {
    let until = gateway.clock.now() + IDLE;
    let kept = gateway
        .store
        .prolong_session(entry.project.row.uid, SessionId(id), until)
        .await;
    if let Err(error) = kept {
        tracing::warn!(cause = %error, "the end of an MCP client's session could not be moved");
    }
}

/// Whether the end of a session that is used has to be moved.
pub(super) fn ends_early(row: &SessionRow, now: DateTime<Utc>) -> bool {
    row.expires_at < now + IDLE - KEPT_EVERY
}

/// Stores a session under the id that its client has.
///
/// # Errors
/// As when a session is created by REST.
pub(super) async fn store(gateway: &Arc<Gateway>, turn: &Turn, id: Uuid) -> Result<(), Problem> {
    let request = CreateSession {
        group: turn.asked.group.clone(),
        state: turn.asked.state.clone(),
        label: Some(LABEL.to_owned()),
        expires_in_s: None,
        context: turn.asked.context.clone(),
    };
    let (entry, requester) = (&turn.entry, turn.entry.requester());
    let created = sessions::create_as(gateway, &entry.project, &requester, SessionId(id), request);
    match Box::pin(created).await {
        Ok(_) => Ok(()),
        // Of two first calls at the same time, the other was faster.
        Err(problem) => match stored(gateway, entry, id).await? {
            Stored::Living(_) => Ok(()),
            _ => Err(problem),
        },
    }
}
