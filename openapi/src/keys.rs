//! Service keys: how agents and machines identify themselves.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::auth::Role;

/// What is needed to create a key.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct CreateKey {
    /// A name for people, 1-100 characters.
    #[cfg_attr(
        feature = "utoipa",
        schema(
            example = "research agent",
            min_length = 1,
            max_length = 100,
            pattern = r"^[^\x00-\x1f\x7f-\x9f]*[^\s\x00-\x1f\x7f-\x9f][^\x00-\x1f\x7f-\x9f]*$"
        )
    )]
    pub name: String,
    /// The role in the project.
    pub role: Role,
    /// The groups it may request; `*` means all, `[]` for none.
    #[cfg_attr(feature = "utoipa", schema(example = json!(["default", "knowledge"]), max_items = 1000))]
    pub groups: Vec<String>,
    /// Seconds until it expires (at most ten years); never when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "utoipa",
        schema(example = 86400, minimum = 1, maximum = 315_360_000)
    )]
    pub expires_in_s: Option<u32>,
    /// What a program may do that connects to the message bus with the key; nothing when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bus: Option<KeyOnBus>,
}

/// What a program may do on the message bus that connects to it with a key: the key's id is the user name, its secret the
/// password. For buses whose server asks Toolgate who may connect (auth callout). Only subjects of the project are opened.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct KeyOnBus {
    /// Send requests and commands to the project's entrance, and read what becomes of them.
    #[serde(default)]
    #[cfg_attr(feature = "utoipa", schema(default = false, example = false))]
    pub calls: bool,
    /// Serve tool services of the project, and announce them.
    #[serde(default)]
    #[cfg_attr(feature = "utoipa", schema(default = false, example = true))]
    pub services: bool,
    /// Execute the commands of these targets of the project (`cmd.tool.<target>`), and announce the workers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "utoipa", schema(example = json!(["search"]), max_items = 64))]
    pub workers: Vec<String>,
}

/// A key, without its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct Key {
    /// The key's id.
    pub id: Uuid,
    /// The name for people.
    #[cfg_attr(feature = "utoipa", schema(example = "research agent"))]
    pub name: String,
    /// The first characters, to distinguish keys.
    #[cfg_attr(feature = "utoipa", schema(example = "tgk_3fK9dQ2m"))]
    pub prefix: String,
    /// The key as it is written in the paths of permissions, where its role and groups are changed.
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "service_key:0199f7c2-5a8e-7c31-b7f8-0c5b2f6a9e11")
    )]
    pub principal: String,
    /// The role in the project now; absent when its grant has expired or was taken away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// The groups that are granted now.
    #[cfg_attr(feature = "utoipa", schema(example = json!(["default", "knowledge"]), max_items = 1000))]
    pub groups: Vec<String>,
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// Who created it.
    pub created_by: String,
    /// When its secret was replaced last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotated_at: Option<DateTime<Utc>>,
    /// Until when the secret before that works too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous_secret_until: Option<DateTime<Utc>>,
    /// When it stops working by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<DateTime<Utc>>,
    /// When it was revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked_at: Option<DateTime<Utc>>,
    /// When it was last used to ask what is available, to call a tool or to ask an agent, allowed or not; absent when never.
    /// What another server has seen is known within a minute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_used_at: Option<DateTime<Utc>>,
    /// What a program may do that connects to the message bus with it; absent for nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bus: Option<KeyOnBus>,
}

/// A new key with its secret, which is shown this once and not kept.
#[derive(Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct CreatedKey {
    /// Send it as `Authorization: Bearer <secret>`; it cannot be shown again.
    #[cfg_attr(feature = "utoipa", schema(example = "tgk_3fK9dQ2m_Zk0n7w..."))]
    pub secret: String,
    /// The key as it will be listed.
    #[serde(flatten)]
    pub key: Key,
}

/// How to replace the secret of a key.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct RotateKey {
    /// Seconds for which the old secret still works (at most 30 days), so that its holder can change over; 0 ends it at
    /// once.
    #[serde(default)]
    #[cfg_attr(feature = "utoipa", schema(example = 3600, maximum = 2_592_000, default = 0))]
    pub overlap_s: u32,
}

/// A page of keys.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct KeyPage {
    /// The keys, newest first, revoked ones included.
    #[cfg_attr(feature = "utoipa", schema(max_items = 200))]
    pub items: Vec<Key>,
    /// Send it as `cursor` for the next page; absent on the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}
