//! Cards that no message of the bus carries: a card in the bucket says in place of its arguments or its result where the whole
//! card is.

use async_trait::async_trait;
use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::card::ToolResultContent;
use crate::failure::Failure;

/// The member of arguments or of a result that says which artifact the whole card is.
pub(super) const ARTIFACT: &str = "__cg_artifact";
/// The largest card that is kept, in bytes.
pub const LARGEST_CARD: usize = 16 << 20;

/// What of the content of a card may be an artifact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LargePart {
    /// The arguments of a call.
    Arguments,
    /// The result of one.
    Result,
}

impl LargePart {
    const ALL: [Self; 2] = [Self::Arguments, Self::Result];

    const fn member(self) -> &'static str {
        match self {
            Self::Arguments => "arguments",
            Self::Result => "result",
        }
    }
}

/// Where the cards of a project are that are too large for the bus.
#[async_trait]
pub trait LargeCards: Send + Sync {
    /// The text of a card; `None` when there is none, or it has expired.
    ///
    /// # Errors
    /// It cannot be read now.
    async fn card(&self, artifact: Uuid) -> Result<Option<Bytes>, Failure>;
}

/// The artifact that a card of the bucket is a placeholder of, if it is one.
#[must_use]
pub fn artifact_of(card: &[u8]) -> Option<Uuid> {
    // Most cards are none, and need not be read for it.
    if !card
        .windows(ARTIFACT.len())
        .any(|part| part == ARTIFACT.as_bytes())
    {
        return None;
    }
    let card: Value = serde_json::from_slice(card).ok()?;
    LargePart::ALL.into_iter().find_map(|part| {
        let id = &card.get("content")?.get(part.member())?.get(ARTIFACT)?["id"];
        Uuid::parse_str(id.as_str()?).ok()
    })
}

/// Puts an artifact in the place of a part of a content.
pub fn in_place_of(content: &mut Map<String, Value>, part: LargePart, artifact: Uuid, bytes: usize) {
    let there = json!({ ARTIFACT: { "id": artifact, "bytes": bytes } });
    content.insert(part.member().to_owned(), there);
}

/// The content of a card of a call (tool development guide, section 1).
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallContent {
    /// The tool.
    pub tool_name: String,
    /// What it is called with.
    pub arguments: Map<String, Value>,
    #[serde(rename = "status")]
    _status: String,
    #[serde(default, rename = "target_subject")]
    _target_subject: Option<String>,
}

/// Whether a content is a `ToolCallContent`.
///
/// # Errors
/// What is wrong with it.
pub fn is_call_content(content: &Map<String, Value>) -> Result<(), serde_json::Error> {
    CallContent::deserialize(content).map(drop)
}

/// Whether a content is a `ToolResultContent`.
///
/// # Errors
/// What is wrong with it.
pub fn is_result_content(content: &Map<String, Value>) -> Result<(), serde_json::Error> {
    ToolResultContent::deserialize(content).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_placeholder_names_the_artifact_and_nothing_else_does() {
        let id = Uuid::from_u128(7);
        let mut content = Map::from_iter([("result".to_owned(), json!("x".repeat(100)))]);
        in_place_of(&mut content, LargePart::Result, id, 100);
        let card = json!({ "content": content }).to_string();
        assert_eq!(artifact_of(card.as_bytes()), Some(id));
        assert!(card.len() < 150, "{card}");
        let mut content = Map::new();
        in_place_of(&mut content, LargePart::Arguments, id, 100);
        let card = json!({ "content": content }).to_string();
        assert_eq!(artifact_of(card.as_bytes()), Some(id));
        for other in [
            json!({"content": {"result": "__cg_artifact"}}),
            json!({"content": {"result": {"__cg_artifact": id}}}),
            json!({"content": {"result": [{"__cg_artifact": {"id": id}}]}}),
            json!({"content": {"result": {"__cg_artifact": {"id": 7}}}}),
            json!({"__cg_artifact": {"id": id}}),
        ] {
            assert_eq!(artifact_of(other.to_string().as_bytes()), None, "{other}");
        }
        assert_eq!(artifact_of(b"{"), None);
    }
}
