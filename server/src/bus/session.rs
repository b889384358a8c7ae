//! Sessions of callers that name them in their own words.

use std::sync::Arc;

use toolgate_api::sessions::CreateSession;
use toolgate_core::ids::SessionId;
use toolgate_core::principal::PrincipalRef;
use toolgate_core::session::{self, SessionLife};
use toolgate_store::{BusClaim, BusClaimKind};
use uuid::Uuid;

use crate::gateway::bus::sha256;
use crate::gateway::entry::Entry;
use crate::gateway::{Gateway, Problem, sessions};

/// The longest alias, in bytes.
const LONGEST: usize = 256;
/// How often it is looked for a session that still lives.
const ATTEMPTS: usize = 3;

/// The session that an alias means for a principal and an agent in a project; it is created when there is none. The same
/// alias of another principal, or of another agent, means another session.
///
/// # Errors
/// As the creation of a session.
pub(super) async fn named(
    gateway: &Arc<Gateway>,
    entry: &Entry,
    agent: &str,
    alias: &str,
    group: Option<&[String]>,
) -> Result<Uuid, Problem> {
    if alias.len() > LONGEST {
        return Err(Problem::new(
            toolgate_api::ErrorCode::InvalidArguments,
            format!("A session's alias has at most {LONGEST} bytes."),
        ));
    }
    let principal = PrincipalRef::from(&entry.caller.identity.principal);
    // As JSON, so that no two scopes are one text.
    let scope = serde_json::json!([principal.to_string(), agent, alias]).to_string();
    for _ in 0..ATTEMPTS {
        let now = gateway.clock.now();
        let claim = BusClaim {
            project: entry.project.row.uid,
            kind: BusClaimKind::Session,
            name: sha256(scope.as_bytes()),
            expires_at: session::expiry(now, None).unwrap_or(now),
        };
        let own = gateway.clock.new_id().to_string();
        let holder = gateway.store.claim_on_bus(&claim, &own, now).await?;
        let id = Uuid::parse_str(&holder).map_err(|error| Problem::internal(&error))?;
        match find(gateway, entry, id).await? {
            Some(SessionLife::Living) => return Ok(id),
            Some(_) => {
                gateway.store.release_on_bus(&claim, &holder).await?;
                continue;
            }
            None => {}
        }
        let request = CreateSession {
            group: group.map(<[String]>::to_vec),
            label: Some(alias.chars().filter(|c| !c.is_control()).take(100).collect()),
            ..CreateSession::default()
        };
        let created = sessions::create_as(
            gateway,
            &entry.project,
            &entry.requester(),
            SessionId(id),
            request,
        )
        .await;
        if let Err(problem) = created {
            // Another server may have created it since.
            if find(gateway, entry, id).await? == Some(SessionLife::Living) {
                return Ok(id);
            }
            gateway.store.release_on_bus(&claim, &holder).await?;
            return Err(problem);
        }
        return Ok(id);
    }
    Err(Problem::new(
        toolgate_api::ErrorCode::SessionEnded,
        "The session of this alias ends as fast as it is created.",
    ))
}

async fn find(gateway: &Gateway, entry: &Entry, id: Uuid) -> Result<Option<SessionLife>, Problem> {
    let row = gateway
        .store
        .session(entry.project.row.uid, SessionId(id))
        .await?;
    Ok(row.map(|row| session::life(row.expires_at, row.ended_at, gateway.clock.now())))
}
