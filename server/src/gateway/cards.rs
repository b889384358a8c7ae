//! Cards of the message bus over REST: of calls and of results (tool development guide, section 1). What exceeds a message of the
//! bus is an artifact, whose id the card in the bucket has in place of its arguments or its result.

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
use toolgate_executors::bus::{
    CARDS_KEPT, LARGEST_CARD, LargePart, artifact_of, in_place_of, is_call_content, is_result_content,
};
use toolgate_executors::{Bus, Failure, LargeCards};
use toolgate_store::StoreError;
use toolgate_store::rows::ArtifactRow;
use uuid::Uuid;

use super::artifacts::LIMITS;
use super::bus::sha256;
use super::change_record::opening;
use super::entry::Entry;
use super::recorded::recorded;
use crate::auth::identity::Credential;
use crate::gateway::{Gateway, Problem};

/// The media type by which an artifact is known as a card.
const CARD: &str = "application/vnd.toolgate.card+json";

/// The large cards of a project, for its executors and its entrance.
#[derive(Clone, Copy)]
pub struct Kept<'a> {
    /// Who has them.
    pub gateway: &'a Gateway,
    /// Whose they are.
    pub project: ProjectUid,
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

/// Keeps the text of a card for as long as cards are kept; its artifact.
pub(super) async fn keep(
    gateway: &Gateway,
    (project, owner): (ProjectUid, PrincipalRef),
    text: Bytes,
) -> Result<Uuid, StoreError> {
    let created_at = gateway.clock.now();
    let row = ArtifactRow {
        project,
        id: gateway.clock.new_id(),
        owner,
        created_at,
        expires_at: created_at + ttl(),
        content_type: CARD.to_owned(),
        content: text,
    };
    gateway.store.put_artifact(&row, LIMITS).await?;
    Ok(row.id)
}

fn ttl() -> TimeDelta {
    TimeDelta::from_std(CARDS_KEPT).unwrap_or(TimeDelta::days(1))
}

/// A card as the bucket has it.
pub struct Fitted {
    /// Its text there.
    pub text: String,
    /// The bytes of the whole card.
    pub bytes: usize,
    /// The artifact that the whole card is, where no message carries it.
    pub artifact: Option<Uuid>,
}

/// A card for the bucket: as it is, or with an artifact in place of a part. `None` when no message carries what is left, or when the
/// card is larger than any that is kept.
///
/// # Errors
/// When the artifact cannot be stored.
pub async fn fit(
    gateway: &Gateway,
    bus: &Bus,
    whose: (ProjectUid, PrincipalRef),
    mut card: Value,
    part: LargePart,
) -> Result<Option<Fitted>, Problem> {
    let text = card.to_string();
    let bytes = text.len();
    if bytes <= bus.largest() {
        return Ok(Some(Fitted {
            text,
            bytes,
            artifact: None,
        }));
    }
    let Some(content) = card["content"].as_object_mut().filter(|_| bytes <= LARGEST_CARD) else {
        return Ok(None);
    };
    // An id of any artifact is as long as that of this one, which is stored only if it is of use.
    in_place_of(content, part, Uuid::nil(), bytes);
    if card.to_string().len() > bus.largest() {
        return Ok(None);
    }
    let artifact = keep(gateway, whose, text.into()).await?;
    if let Some(content) = card["content"].as_object_mut() {
        in_place_of(content, part, artifact, bytes);
    }
    Ok(Some(Fitted {
        text: card.to_string(),
        bytes,
        artifact: Some(artifact),
    }))
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
    let whole = kept.card(artifact).await.map_err(silent)?;
    whole.filter(|whole| is_of(whole, id)).ok_or_else(absent)
}

/// Whether a text is the card of an id.
fn is_of(card: &[u8], id: &str) -> bool {
    #[derive(Deserialize)]
    struct Named<'c> {
        #[serde(borrow)]
        card_id: std::borrow::Cow<'c, str>,
    }
    serde_json::from_slice::<Named<'_>>(card).is_ok_and(|card| card.card_id == id)
}

/// Stores the card of a result, or of a call that a command is to name. It is on the record.
///
/// # Errors
/// 403 for a key that does not work for the target or may send no commands; 409 when there is one of this id; 422 for what is no such
/// card; 503 without the bus.
pub async fn write(gateway: &Arc<Gateway>, entry: &Entry, card: Value) -> Result<StoredCard, Problem> {
    let may = on_bus(entry);
    let forbidden = |what: &str| Problem::new(ErrorCode::Forbidden, what);
    if may.workers.is_empty() && !may.calls {
        return Err(forbidden(
            "Cards of results are written with a service key that has `bus.workers`, cards of calls with one that has `bus.calls`.",
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
    if card.project_id != row.id.as_str() {
        return Err(unfit("A card of this project is stored here."));
    }
    let part = match card.kind.as_str() {
        "tool.result" => {
            is_result_content(&card.content)
                .map_err(|error| unfit(format!("The content is no ToolResultContent: {error}.")))?;
            let target = card.author_id.strip_prefix("tool.").unwrap_or_default();
            if !may.workers.iter().any(|own| own == target) {
                return Err(forbidden(
                    "author_id is `tool.{target}`, of a target that the key's `bus.workers` names.",
                ));
            }
            LargePart::Result
        }
        "tool.call" => {
            is_call_content(&card.content)
                .map_err(|error| unfit(format!("The content is no ToolCallContent: {error}.")))?;
            if !may.calls {
                return Err(forbidden(
                    "Cards of calls are written with a service key that has `bus.calls`.",
                ));
            }
            LargePart::Arguments
        }
        _ => {
            return Err(unfit(
                "A card of type `tool.result` or `tool.call` is stored here.",
            ));
        }
    };
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
        store(&task, &bus, &cards, (project, owner), card, part).await
    })
    .await
}

async fn store(
    gateway: &Gateway,
    bus: &Bus,
    cards: &kv::Store,
    whose: (ProjectUid, PrincipalRef),
    card: Card,
    part: LargePart,
) -> Result<StoredCard, Problem> {
    let expires_at = gateway.clock.now() + ttl();
    let fitted = fit(gateway, bus, whose, json!(card), part).await?;
    let Fitted {
        text,
        bytes,
        artifact,
    } = fitted
        .ok_or_else(|| unfit("Only the arguments or the result of a card may be larger than a message of the bus, and a card has at most 16 MiB."))?;
    let sha256 = sha256(text.as_bytes());
    match cards.create(&card.card_id, text.into()).await {
        Ok(_) => Ok(StoredCard {
            card_id: card.card_id,
            bytes: bytes as u64,
            expires_at,
            artifact_id: artifact,
            sha256,
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
