//! How values look in columns: the same in both databases.

use std::borrow::Cow;

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde::de::DeserializeOwned;
use toolgate_api::ErrorCode;
use toolgate_api::access_requests::AccessRequestStatus;
use toolgate_api::alerts::{AlertDelivery, AlertRule};
use toolgate_api::audit::{AuditAction, AuditOutcome};
use toolgate_api::auth::{PrincipalKind, Role};
use toolgate_api::imports::DescriptionFormat;
use toolgate_api::notifications::NotificationKind;
use toolgate_api::presence::AnnouncerKind;

use crate::error::{Result, StoreError};
use crate::rows::UsageKind;

/// Microseconds since 1970 UTC; what is finer is cut off.
pub(crate) fn micros(at: DateTime<Utc>) -> i64 {
    at.timestamp_micros()
}

/// The time of a column.
pub(crate) fn time(micros: i64) -> Result<DateTime<Utc>> {
    DateTime::from_timestamp_micros(micros)
        .ok_or_else(|| StoreError::corrupt(format!("{micros} is not a time")))
}

/// A value as JSON text.
pub(crate) fn to_json<T: Serialize>(value: &T) -> Result<String> {
    serde_json::to_string(value).map_err(|error| StoreError::Refused {
        source: sqlx::Error::Encode(Box::new(error)).into(),
    })
}

/// A value from JSON text; `what` names the column of the text.
pub(crate) fn from_json<T: DeserializeOwned>(text: &str, what: impl FnOnce() -> String) -> Result<T> {
    serde_json::from_str(text).map_err(|error| StoreError::corrupt(format!("{}: {error}", what())))
}

/// A digest from its column.
pub(crate) fn digest(bytes: &[u8]) -> Result<[u8; 32]> {
    bytes
        .try_into()
        .map_err(|_| StoreError::corrupt(format!("a digest of {} bytes", bytes.len())))
}

/// Text that both databases keep: PostgreSQL refuses the character U+0000, which callers may send.
pub(crate) fn text(given: &str) -> Cow<'_, str> {
    if given.contains('\0') {
        Cow::Owned(given.replace('\0', "\u{fffd}"))
    } else {
        Cow::Borrowed(given)
    }
}

/// The pattern of `LIKE ... ESCAPE '\\'` for texts that have this one in them, in small letters.
pub(crate) fn containing(given: &str) -> String {
    let mut pattern = String::from("%");
    for c in text(given).to_lowercase().chars() {
        if matches!(c, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern.push('%');
    pattern
}

/// As [`text`], for a text that is owned.
pub(crate) fn owned_text(given: String) -> String {
    if given.contains('\0') {
        given.replace('\0', "\u{fffd}")
    } else {
        given
    }
}

/// An enum that is a word in its column.
pub(crate) trait Word: Copy + 'static {
    /// The word.
    fn word(self) -> &'static str;
    /// The value of a word.
    fn from_word(word: &str) -> Result<Self>;
}

macro_rules! words {
    ($($name:ident { $($variant:ident = $word:literal),* $(,)? })*) => {$(
        impl Word for $name {
            fn word(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }
            fn from_word(word: &str) -> Result<Self> {
                match word {
                    $($word => Ok(Self::$variant),)*
                    _ => Err(unknown(stringify!($name), word)),
                }
            }
        }
    )*};
}

words! {
    Role { Owner = "owner", Editor = "editor", Auditor = "auditor", Viewer = "viewer", Agent = "agent" }
    AuditAction {
        Call = "call",
        Test = "test",
        Resolve = "resolve",
        Explain = "explain",
        Replay = "replay",
        Cancel = "cancel",
        AgentRequest = "agent_request",
        McpRead = "mcp_read",
        Session = "session",
        Access = "access",
        Policy = "policy",
        Definition = "definition",
        Settings = "settings",
        Secret = "secret",
        Project = "project",
        Alert = "alert",
        Import = "import",
        Export = "export",
    }
    AuditOutcome {
        Open = "open",
        Succeeded = "succeeded",
        Failed = "failed",
        Denied = "denied",
        Interrupted = "interrupted",
    }
    DescriptionFormat { Swagger2 = "swagger2", Openapi30 = "openapi30", Openapi31 = "openapi31", Openapi32 = "openapi32", Mcp = "mcp", Announced = "announced" }
    AnnouncerKind { ToolService = "tool_service", Worker = "worker" }
    NotificationKind {
        Alert = "alert",
        Quarantine = "quarantine",
        AccessRequest = "access_request",
        AccessDecision = "access_decision",
        KeyExpiry = "key_expiry",
    }
    AccessRequestStatus { Open = "open", Granted = "granted", Declined = "declined" }
    PrincipalKind { User = "user", ServiceKey = "service_key", External = "external" }
    AlertRule {
        EscalationAttempts = "escalation_attempts",
        FirstGroupUse = "first_group_use",
        InvalidTransitions = "invalid_transitions",
        CallsAfterWideGrant = "calls_after_wide_grant",
        KeyAddresses = "key_addresses",
        RefusedCredentials = "refused_credentials",
        UpstreamFailures = "upstream_failures",
    }
    AlertDelivery { None = "none", Pending = "pending", Delivered = "delivered", Failed = "failed" }
    UsageKind { Project = "project", Tool = "tool", Group = "group", Principal = "principal", Entrance = "entrance" }
}

impl Word for ErrorCode {
    fn word(self) -> &'static str {
        self.as_str()
    }

    fn from_word(word: &str) -> Result<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|code| code.as_str() == word)
            .ok_or_else(|| unknown("ErrorCode", word))
    }
}

fn unknown(kind: &str, word: &str) -> StoreError {
    StoreError::corrupt(format!("{word:?} is not a value of {kind}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_the_wire() {
        fn check<T: Word + Serialize>(values: &[T]) {
            for &value in values {
                assert_eq!(serde_json::to_value(value).expect("a word"), value.word());
            }
        }
        check(&[
            Role::Owner,
            Role::Editor,
            Role::Auditor,
            Role::Viewer,
            Role::Agent,
        ]);
        check(&[
            AuditAction::Call,
            AuditAction::Test,
            AuditAction::Resolve,
            AuditAction::Explain,
            AuditAction::Replay,
            AuditAction::Cancel,
            AuditAction::AgentRequest,
            AuditAction::McpRead,
            AuditAction::Session,
            AuditAction::Access,
            AuditAction::Policy,
            AuditAction::Definition,
            AuditAction::Settings,
            AuditAction::Secret,
            AuditAction::Project,
            AuditAction::Alert,
            AuditAction::Import,
            AuditAction::Export,
        ]);
        check(&[
            AuditOutcome::Open,
            AuditOutcome::Succeeded,
            AuditOutcome::Failed,
            AuditOutcome::Denied,
        ]);
        check(&[AuditOutcome::Interrupted]);
        check(&[
            PrincipalKind::User,
            PrincipalKind::ServiceKey,
            PrincipalKind::External,
        ]);
        check(ErrorCode::ALL);
        check(&AlertRule::ALL);
        check(&[
            AlertDelivery::None,
            AlertDelivery::Pending,
            AlertDelivery::Delivered,
            AlertDelivery::Failed,
        ]);
        assert!(Role::from_word("king").is_err());
    }
}
