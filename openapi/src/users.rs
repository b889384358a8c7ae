//! People who sign in with a password.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// What is needed to create a user.
#[derive(Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct CreateUser {
    /// What the user types to sign in: 1-64 letters, digits, `.`, `_`, `-`, `+` and `@`, starting with a letter or a digit.
    /// It stays as it is.
    #[cfg_attr(
        feature = "utoipa",
        schema(
            example = "ada",
            min_length = 1,
            max_length = 64,
            pattern = r"^[A-Za-z0-9][A-Za-z0-9._+@-]*$"
        )
    )]
    pub username: String,
    /// A name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "utoipa",
        schema(
            example = "Ada Lovelace",
            max_length = 100,
            pattern = r"^[^\x00-\x1f\x7f-\x9f]*$"
        )
    )]
    pub display_name: Option<String>,
    /// The first password, at least 12 characters and not easy to guess; one is made and shown once when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "correct horse battery staple", format = Password, min_length = 12, max_length = 1024))]
    pub password: Option<String>,
    /// Whether the user may do everything in every project.
    #[serde(default)]
    pub system_admin: bool,
}

/// A user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct User {
    /// The user's id.
    pub id: Uuid,
    /// The user as it is written in the paths of permissions.
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "user:0199f7c2-5a8e-7c31-b7f8-0c5b2f6a9e11")
    )]
    pub principal: String,
    /// What the user types to sign in.
    #[cfg_attr(feature = "utoipa", schema(example = "ada"))]
    pub username: String,
    /// A name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "Ada Lovelace"))]
    pub display_name: Option<String>,
    /// Whether the user may do everything in every project.
    pub system_admin: bool,
    /// Since when the user signs in with a second factor; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second_factor_at: Option<DateTime<Utc>>,
    /// Whether the user has to sign in with a second factor.
    pub second_factor_required: bool,
    /// The issuer of the OpenID Connect provider at which the user signs in; absent for one who signs in with a password.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "https://login.example.com"))]
    pub signs_in_at: Option<String>,
    /// When the user was disabled; absent while the user may sign in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disabled_at: Option<DateTime<Utc>>,
    /// When the user was created.
    pub created_at: DateTime<Utc>,
}

/// A new user, with the password if one was made.
#[derive(Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct CreatedUser {
    /// The password that was made; shown this once and not kept. Absent when one was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "tq3Zk0n7wVb2LxJc9RfHs5Ya"))]
    pub generated_password: Option<String>,
    /// The user as it will be listed.
    #[serde(flatten)]
    pub user: User,
}

/// A page of users.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct UserPage {
    /// The users, by user name.
    #[cfg_attr(feature = "utoipa", schema(max_items = 200))]
    pub items: Vec<User>,
    /// Send it as `cursor` for the next page; absent on the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// What to change; what is left out stays.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct UpdateUser {
    /// A name for people; `""` takes it away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "utoipa",
        schema(
            example = "Ada Lovelace",
            max_length = 100,
            pattern = r"^[^\x00-\x1f\x7f-\x9f]*$"
        )
    )]
    pub display_name: Option<String>,
    /// `true` ends all sign-ins and allows no new ones; `false` allows them again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disabled: Option<bool>,
    /// Whether the user may do everything in every project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_admin: Option<bool>,
    /// Whether the user has to sign in with a second factor. One who has none sets it up at the next sign-in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second_factor_required: Option<bool>,
}

/// A new password for a user.
#[derive(Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ResetPassword {
    /// The password, at least 12 characters and not easy to guess; one is made and shown once when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "correct horse battery staple", format = Password, min_length = 12, max_length = 1024))]
    pub password: Option<String>,
}

/// The password that was made.
#[derive(Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct PasswordWasReset {
    /// The password that was made; shown this once and not kept. Absent when one was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "tq3Zk0n7wVb2LxJc9RfHs5Ya"))]
    pub generated_password: Option<String>,
}

/// A new password for the caller's own user.
#[derive(Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ChangePassword {
    /// The password until now.
    #[cfg_attr(feature = "utoipa", schema(example = "tq3Zk0n7wVb2LxJc9RfHs5Ya", format = Password, min_length = 1, max_length = 1024))]
    pub current: String,
    /// The password from now on, at least 12 characters and not easy to guess.
    #[cfg_attr(feature = "utoipa", schema(example = "correct horse battery staple", format = Password, min_length = 12, max_length = 1024))]
    pub new: String,
}

/// Says the type's name and nothing of what is in it.
macro_rules! debug_without_secrets {
    ($($name:ident),*) => {$(
        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    )*};
}

debug_without_secrets!(
    CreateUser,
    CreatedUser,
    ResetPassword,
    PasswordWasReset,
    ChangePassword
);
