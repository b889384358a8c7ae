//! Asking for what was refused: groups for oneself, or a host for the tools of the project.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Asked {
    /// Groups for the principal that asks.
    Groups {
        /// Their names, each once.
        #[cfg_attr(feature = "utoipa", schema(example = json!(["knowledge"]), min_items = 1, max_items = 20))]
        groups: Vec<String>,
    },
    /// A host that the tools of the project may connect to.
    Host {
        /// Scheme, host and port, as the egress list takes it.
        #[cfg_attr(
            feature = "utoipa",
            schema(example = "https://api.example.com", max_length = 300)
        )]
        origin: String,
    },
}

/// A request for something that was refused.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct AskForAccess {
    /// What is asked for.
    pub asked: Asked,
    /// Why, for the administrator who decides; 1-500 characters.
    #[cfg_attr(
        feature = "utoipa",
        schema(
            example = "The weekly report reads the knowledge base.",
            min_length = 1,
            max_length = 500
        )
    )]
    pub reason: String,
}

/// How far a request has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum AccessRequestStatus {
    /// It waits for a decision.
    Open,
    /// What was asked for was granted or allowed.
    Granted,
    /// It was declined.
    Declined,
}

/// A request as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct AccessRequest {
    /// Its id.
    pub id: Uuid,
    /// Who asked, as it is written in the paths of permissions.
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "service_key:0199f7c2-5a8e-7c31-b7f8-0c5b2f6a9e11")
    )]
    pub principal: String,
    /// Its name for people, as it was then.
    #[cfg_attr(feature = "utoipa", schema(example = "research agent"))]
    pub principal_name: String,
    /// What was asked for.
    pub asked: Asked,
    /// Why.
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "The weekly report reads the knowledge base.")
    )]
    pub reason: String,
    /// How far it has come.
    pub status: AccessRequestStatus,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// When it was decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_at: Option<DateTime<Utc>>,
    /// Who decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<String>,
    /// What the administrator said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A page of requests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct AccessRequestPage {
    /// Newest first.
    #[cfg_attr(feature = "utoipa", schema(max_items = 200))]
    pub items: Vec<AccessRequest>,
    /// Send it as `cursor` for the next page; absent on the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// What becomes of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum AccessVerdict {
    /// What was asked for is granted or allowed.
    Grant,
    /// It is declined.
    Decline,
}

/// The decision about a request.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct DecideAccessRequest {
    /// What becomes of it.
    pub verdict: AccessVerdict,
    /// Shown to the asker; at most 500 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "Until the end of the month.", max_length = 500)
    )]
    pub note: Option<String>,
}
