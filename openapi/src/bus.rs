//! Tokens with which messages on the bus prove who sent them.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

/// The message that a token is to be for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct BusTokenRequest {
    /// The subject that the message is published to; one of this project: `tg.{project_id}.tool.invoke`,
    /// `tg.{project_id}.tool.invoke.mcp`, `tg.{project_id}.tool-descriptors` or `cg.{ver}.{project_id}.{channel_id}.cmd.tool.{target}.{suffix}`.
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "tg.demo.tool.invoke", min_length = 1, max_length = 255)
    )]
    pub subject: String,
    /// SHA-256 of the payload, in lower-case hexadecimal digits.
    #[cfg_attr(
        feature = "utoipa",
        schema(
            example = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            pattern = "^[0-9a-f]{64}$",
            min_length = 64,
            max_length = 64
        )
    )]
    pub payload_sha256: String,
    /// SHA-256 of the card of the call as it is stored, in lower-case hexadecimal digits. A command (`cmd.tool`) needs it,
    /// because its arguments are on the card.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "utoipa",
        schema(pattern = "^[0-9a-f]{64}$", min_length = 64, max_length = 64)
    )]
    pub card_sha256: Option<String>,
}

/// A token for one message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct BusToken {
    /// The token; the value of the header `Toolgate-Token`.
    pub token: String,
    /// Until when the message must be published.
    pub expires_at: DateTime<Utc>,
}
