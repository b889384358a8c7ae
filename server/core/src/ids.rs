//! Every typed id. Raw strings and UUIDs live only at the edges: in wire types and in SQL rows.

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;
use uuid::Uuid;

/// Why a text is not an id.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{text:?} is not a valid {what}: {rule}")]
pub struct IdError {
    /// What it should have been.
    pub what: &'static str,
    /// What was given, shortened.
    pub text: String,
    /// The rule it breaks.
    pub rule: &'static str,
}

macro_rules! uuid_id {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub Uuid);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )*};
}

uuid_id! {
    /// One tool invocation, and its record (UUID version 7: sorts by time).
    CallId;
    /// A service key.
    KeyId;
    /// A user.
    UserId;
    /// What a user has let a client do in a project (UUID version 7: sorts by time).
    ConnectionId;
    /// One workflow run of one caller (UUID version 7: sorts by time).
    SessionId;
    /// A project through all its life: a slug may be used again after a project was deleted, this never is.
    ProjectUid;
}

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident, $what:literal, $rule:literal, $valid:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// The rule its text obeys, for error messages.
            pub const RULE: &'static str = $rule;

            /// Checks a text.
            pub fn parse(text: impl Into<String>) -> Result<Self, IdError> {
                let text = text.into();
                let valid: fn(&str) -> bool = $valid;
                if valid(&text) {
                    Ok(Self(text))
                } else {
                    Err(IdError { what: $what, text: text.chars().take(80).collect(), rule: $rule })
                }
            }

            /// The text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl TryFrom<String> for $name {
            type Error = IdError;
            fn try_from(text: String) -> Result<Self, IdError> {
                Self::parse(text)
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> String {
                id.0
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }
    };
}

text_id! {
    /// A project's slug.
    ProjectId, "project id",
    "1-63 lower-case letters, digits and single hyphens, starting with a letter, not ending with a hyphen",
    |text| {
        (1..=63).contains(&text.len())
            && text.starts_with(|first: char| first.is_ascii_lowercase())
            && !text.ends_with('-')
            && !text.contains("--")
            && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
    }
}

text_id! {
    /// The id of an import in its project. The id `new` is reserved: the dashboard makes a new import at its address.
    ImportId, "import id",
    "1-63 lower-case letters, digits and single hyphens, starting with a letter, not ending with a hyphen, and not \"new\"",
    |text| ProjectId::parse(text).is_ok() && text != "new"
}

text_id! {
    /// A tool's name, or that of a tool service (the character rule of the MCP specification 2026-07-28).
    ToolName, "tool name", "1-128 letters, digits, '.', '_' and '-'",
    |text| {
        (1..=128).contains(&text.len())
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'))
            && text.bytes().any(|b| b.is_ascii_alphanumeric())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_import_has_the_address_where_new_ones_are_made() {
        assert!(ImportId::parse("newer").is_ok());
        assert!(ImportId::parse("new").is_err());
    }

    #[test]
    fn project_ids_are_slugs() {
        for good in ["a", "demo", "demo-2", "a1-b2"] {
            assert!(ProjectId::parse(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "Demo",
            "1a",
            "a-",
            "-a",
            "a--b",
            "a_b",
            "ä",
            "a b",
            &"a".repeat(64),
        ] {
            assert!(ProjectId::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn tool_names_fit_a_path_segment() {
        for good in ["a", "web-search", "Web_Search.v2"] {
            assert!(ToolName::parse(good).is_ok(), "{good}");
        }
        for bad in ["", "..", "a/b", "a b", "ä", &"a".repeat(129)] {
            assert!(ToolName::parse(bad).is_err(), "{bad}");
        }
    }
}
