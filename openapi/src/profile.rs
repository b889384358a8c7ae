//! The profile of the user who is signed in: sign-ins, and how the dashboard looks.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// A sign-in whose token has not expired.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct SignIn {
    /// Its id, the `jti` of its token.
    pub id: Uuid,
    /// Whether it is the sign-in of this request.
    pub current: bool,
    /// The id of the provider at which the user signed in; absent: with a password.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "corp"))]
    pub way: Option<String>,
    /// The client's IP address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "192.0.2.1", max_length = 64))]
    pub address: Option<String>,
    /// The browser or program, as far as it names itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "Firefox on Linux", max_length = 100))]
    pub browser: Option<String>,
    /// When.
    pub created_at: DateTime<Utc>,
    /// When its token expires.
    pub expires_at: DateTime<Utc>,
}

/// The sign-ins of a user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct SignIns {
    /// Newest first.
    #[cfg_attr(feature = "utoipa", schema(max_items = 200))]
    pub items: Vec<SignIn>,
}

/// How many sign-ins were ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct EndedSignIns {
    /// Their number.
    #[cfg_attr(feature = "utoipa", schema(example = 2, minimum = 0))]
    pub ended: u64,
}

/// The colours of the dashboard.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum PreferredTheme {
    /// As the system says.
    #[default]
    System,
    /// Always light.
    Light,
    /// Always dark.
    Dark,
    /// High contrast.
    Contrast,
}

/// The space around rows and controls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Density {
    /// The usual space.
    #[default]
    Comfortable,
    /// Less: more rows on a screen.
    Compact,
}

/// The language of the dashboard. What the API answers is English in each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum PreferredLanguage {
    /// The first of the browser's languages that there is, else English.
    #[default]
    Browser,
    /// English.
    En,
    /// German.
    De,
}

/// How the dashboard looks for a user.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Preferences {
    /// The colours.
    #[serde(default)]
    pub theme: PreferredTheme,
    /// The time zone of points in time, a name of the IANA database; `""`: UTC.
    #[serde(default)]
    #[cfg_attr(
        feature = "utoipa",
        schema(
            example = "Europe/Berlin",
            max_length = 64,
            pattern = r"^([A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+){0,2})?$"
        )
    )]
    pub time_zone: String,
    /// The space around rows and controls.
    #[serde(default)]
    pub density: Density,
    /// The language.
    #[serde(default)]
    pub language: PreferredLanguage,
}
