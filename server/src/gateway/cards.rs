//! Cards of the message bus over REST: of calls and of results (tool development guide, section 1). What exceeds a message of the
//! bus is an artifact, whose id the card in the bucket has in place of its result.

use std::sync::Arc;

use async_nats::jetstream::kv;
use async_trait::async_trait;
use bytes::Bytes;
use chrono::TimeDelta;
use serde::Deserialize;
use serde_json::{Value, json};
use toolgate_api::ErrorCode;
use toolgate_api::audit::AuditAction;
use toolgate_api::cards::{Card, StoredCard};
use toolgate_api::keys::KeyOnBus;
use toolgate_core::ids::ProjectUid;
use toolgate_core::principal::{Permission, PrincipalRef};
use toolgate_executors::bus::{CARDS_KEPT, artifact_of, in_place_of, is_result_content};
use toolgate_executors::{Bus, Failure, LargeCards};
use toolgate_store::rows::ArtifactRow;
use uuid::Uuid;

use super::artifacts::LIMITS;
use super::change_record::opening;
use super::entry::Entry;
use super::recorded::recorded;
use crate::auth::identity::Credential;
use crate::gateway::{Gateway, Problem};

/// The media type by which an artifact is known as a card.
const CARD: &str = "application/vnd.toolgate.card+json";

/// The large cards of a project, for its executors.
#[derive(Clone, Copy)]
pub(super) struct Kept<'a> {
    pub(super) gateway: &'a Gateway,
    pub(super) project: ProjectUid,
}

#[async_trait]
impl LargeCards for Kept<'_> {
    async fn card(&self, artifact: Uuid) -> Result<Option<Bytes>, Failure> {
        let now = self.gateway.clock.now();
        let found = self.gateway.store.artifact(self.project, artifact, now).await;
        let found = found.map_err(|error| {
            tracing::warn!(cause = %error, "the artifact of a card cannot be read");
            Failure::busy("the card is an artifact, which the database does not give now", 1)
        })?;
        Ok(found
            .filter(|row| row.content_type == CARD)
            .map(|row| row.content))
    }
}

fn silent(failure: Failure) -> Problem {
    Problem::new(ErrorCode::Unavailable, failure.message).retry_after(5)
}

/// What the programs of the caller's key may do on the bus; nothing for other callers.
fn on_bus(entry: &Entry) -> KeyOnBus {
    match &entry.caller.identity.credential {
        Credential::Key { key } => key.bus.clone().unwrap_or_default(),
        _ => KeyOnBus::default(),
    }
}

/// The text of a card, whole.
///
/// # Errors
/// 403 for a caller that may read no cards; 404 without the card; 503 when the bus does not answer.
pub async fn read(gateway: &Gateway, entry: &Entry, id: &str) -> Result<Bytes, Problem> {
    let may = on_bus(entry);
    if !entry.may(Permission::ReadPayloads) && !may.calls && may.workers.is_empty() {
        return Err(Problem::new(
            ErrorCode::Forbidden,
            "Cards have arguments and results: they are for auditors of the project, and for service keys with `bus.calls` or `bus.workers`.",
        ));
    }
    let absent = || Problem::not_found(format!("card {:?}", id.chars().take(255).collect::<String>()));
    let bus = gateway.bus.as_ref().ok_or_else(absent)?;
    let cards = bus.cards(&entry.project.row.id).await.map_err(silent)?;
    let card = match cards.get(id).await {
        Ok(card) => card.ok_or_else(absent)?,
        Err(error) if error.kind() == kv::EntryErrorKind::InvalidKey => return Err(absent()),
        Err(error) => return Err(Problem::new(ErrorCode::Unavailable, error.to_string()).retry_after(5)),
    };
    let Some(artifact) = artifact_of(&card) else {
        return Ok(card);
    };
    let kept = Kept {
        gateway,
        project: entry.project.row.uid,
    };
    kept.card(artifact).await.map_err(silent)?.ok_or_else(absent)
}

/// Stores the card of a result. It is on the record.
///
/// # Errors
/// 403 for who does not work for the target; 409 when there is one of this id; 422 for what is no such card; 503 without the bus.
pub async fn write(gateway: &Arc<Gateway>, entry: &Entry, card: Value) -> Result<StoredCard, Problem> {
    let may = on_bus(entry);
    let forbidden = |what: &str| Problem::new(ErrorCode::Forbidden, what);
    if may.workers.is_empty() {
        return Err(forbidden(
            "Cards of results are written by workers: with a service key that has `bus.workers`.",
        ));
    }
    let mut card =
        Card::deserialize(card).map_err(|error| unfit(format!("The body is no card: {error}.")))?;
    let row = &entry.project.row;
    if !is_card_id(&card.card_id) {
        return Err(unfit(
            "card_id must have 1-255 letters, digits, -, _, = and single dots within it.",
        ));
    }
    if card.kind != "tool.result" || card.project_id != row.id.as_str() {
        return Err(unfit(
            "A card of type `tool.result` of this project is stored here.",
        ));
    }
    is_result_content(&card.content)
        .map_err(|error| unfit(format!("The content is no ToolResultContent: {error}.")))?;
    let target = card.author_id.strip_prefix("tool.").unwrap_or_default();
    if !may.workers.iter().any(|own| own == target) {
        return Err(forbidden(
            "author_id is `tool.{target}`, of a target that the key's `bus.workers` names.",
        ));
    }
    let bus = gateway.bus.clone().ok_or_else(|| {
        Problem::new(
            ErrorCode::Unavailable,
            "This server has no message bus (`TOOLGATE_NATS_URL`).",
        )
    })?;
    card.ttl_seconds = Some(CARDS_KEPT.as_secs());
    let owner = PrincipalRef::from(&entry.caller.identity.principal);
    let what = json!({"change": "card_stored", "card": card.card_id, "type": card.kind, "tool_call_id": card.tool_call_id});
    let place = (row.uid, entry.project.snapshot.version());
    let record = opening(gateway, place, &entry.requester(), AuditAction::Settings, what);
    let (task, project, name) = (Arc::clone(gateway), row.uid, row.id.clone());
    recorded(gateway, vec![record], async move {
        let cards = bus.cards(&name).await.map_err(silent)?;
        store(&task, &bus, &cards, (project, owner), card).await
    })
    .await
}

async fn store(
    gateway: &Gateway,
    bus: &Bus,
    cards: &kv::Store,
    (project, owner): (ProjectUid, PrincipalRef),
    mut card: Card,
) -> Result<StoredCard, Problem> {
    let created_at = gateway.clock.now();
    let expires_at = created_at + TimeDelta::from_std(CARDS_KEPT).unwrap_or(TimeDelta::days(1));
    let mut text = json!(card).to_string();
    let bytes = text.len();
    let mut artifact_id = None;
    if bytes > bus.largest() {
        let row = ArtifactRow {
            project,
            id: gateway.clock.new_id(),
            owner,
            created_at,
            expires_at,
            content_type: CARD.to_owned(),
            content: text.into(),
        };
        gateway.store.put_artifact(&row, LIMITS).await?;
        in_place_of(&mut card.content, row.id, bytes);
        artifact_id = Some(row.id);
        text = json!(card).to_string();
        if text.len() > bus.largest() {
            return Err(unfit(
                "Only the result of a card may be larger than a message of the bus.",
            ));
        }
    }
    match cards.create(&card.card_id, text.into()).await {
        Ok(_) => Ok(StoredCard {
            card_id: card.card_id,
            bytes: bytes as u64,
            expires_at,
            artifact_id,
        }),
        Err(error) if error.kind() == kv::CreateErrorKind::AlreadyExists => Err(Problem::new(
            ErrorCode::Conflict,
            format!("There is a card {:?} already.", card.card_id),
        )),
        Err(error) => Err(Problem::new(ErrorCode::Unavailable, error.to_string()).retry_after(5)),
    }
}

fn unfit(what: impl Into<String>) -> Problem {
    Problem::new(ErrorCode::InvalidRequest, what)
}

/// Whether an id is a key of the bucket.
fn is_card_id(id: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'=' | b'.');
    (1..=255).contains(&id.len())
        && id.bytes().all(fits)
        && !id.starts_with('.')
        && !id.ends_with('.')
        && !id.contains("..")
}
