//! Who announces a program: the principal that the announcement proves, if the project trusts it.

use async_nats::HeaderMap;
use bytes::Bytes;
use chrono::{DateTime, TimeDelta, Utc};
use toolgate_api::{Diagnostic, ErrorCode};
use toolgate_core::principal::PrincipalRef;

use super::receive::ORIGIN;
use crate::gateway::bus::{self, Delivered, ProvenEntry, Refused, TOKEN, sha256};
use crate::gateway::entry::{Entry, Origin};
use crate::gateway::server_snapshot::ProjectState;
use crate::gateway::{Gateway, Problem};

/// How long a token that was used is remembered.
const TOKENS_KEPT: TimeDelta = TimeDelta::minutes(5);

/// An announcement as it came.
pub(super) struct Said {
    pub(super) subject: String,
    pub(super) headers: HeaderMap,
    pub(super) payload: Bytes,
    pub(super) at: DateTime<Utc>,
}

/// The principal that announces a program, where the project trusts it; the inner error is what is wrong with its token. Every server
/// of a database hears the message, so it has the same name at each.
pub(super) async fn of(
    gateway: &Gateway,
    project: &ProjectState,
    said: &Said,
) -> Result<Result<Option<Box<Entry>>, Diagnostic>, Problem> {
    let trusted = &project.settings.trusted_announcers;
    if trusted.is_empty() || said.headers.get(TOKEN).is_none() {
        return Ok(Ok(None));
    }
    let delivered = Delivered {
        subject: &said.subject,
        headers: &said.headers,
        payload: &said.payload,
        published: said.at,
        name: format!("announcement {}", sha256(&said.payload)),
        kept: TOKENS_KEPT,
    };
    match bus::enter(gateway, project, &delivered, Origin::internal(ORIGIN)).await {
        Ok(ProvenEntry { entry, .. }) => {
            let speaker = PrincipalRef::from(&entry.caller.identity.principal).to_string();
            Ok(Ok(trusted.contains(&speaker).then(|| Box::new(entry))))
        }
        Err(Refused { problem, .. })
            if matches!(problem.code(), ErrorCode::Unavailable | ErrorCode::Internal) =>
        {
            Err(problem)
        }
        Err(Refused { problem, .. }) => Ok(Err(Diagnostic::warning(format!(
            "it is not known who announced this, so it waits for a decision: {}",
            problem.detail()
        )))),
    }
}

/// The digest of an announcement by a trusted principal: another one than of the same by anybody else, so that it counts after that.
pub(super) fn trusted_digest(digest: &str) -> String {
    sha256(format!("trusted {digest}").as_bytes())
}
