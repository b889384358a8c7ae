//! Signing in, and who one is.

use serde::{Deserialize, Serialize};

/// What a person types to sign in.
#[derive(Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct LoginRequest {
    /// The user's name.
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "admin", min_length = 1, max_length = 64)
    )]
    pub username: String,
    /// The user's password.
    #[cfg_attr(feature = "utoipa", schema(example = "correct horse battery staple", format = Password, min_length = 1, max_length = 1024))]
    pub password: String,
    /// A code of the second factor, or a recovery code, where the user has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "492039", max_length = 32))]
    pub code: Option<String>,
}

impl std::fmt::Debug for LoginRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LoginRequest")
            .field("username", &self.username)
            .finish_non_exhaustive()
    }
}

/// A token for the API, after a successful sign-in.
#[derive(Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct LoginResponse {
    /// Send it as `Authorization: Bearer <access_token>`.
    pub access_token: String,
    /// Always `Bearer`.
    #[cfg_attr(feature = "utoipa", schema(example = "Bearer"))]
    pub token_type: String,
    /// Seconds until the token expires.
    #[cfg_attr(feature = "utoipa", schema(example = 3600, minimum = 1))]
    pub expires_in: u32,
}

/// A way to sign in besides a password: an OpenID Connect provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct SignInWay {
    /// Its id: a browser signs in there by `/auth/sign-in/{id}`.
    #[cfg_attr(feature = "utoipa", schema(example = "corp"))]
    pub id: String,
    /// Its name for people.
    #[cfg_attr(feature = "utoipa", schema(example = "Example Corp"))]
    pub title: String,
}

/// The ways to sign in besides a password.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct SignInWays {
    /// In the order of the configuration.
    #[cfg_attr(feature = "utoipa", schema(max_items = 100))]
    pub items: Vec<SignInWay>,
}

/// What kind of principal a caller is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum PrincipalKind {
    /// A person with a password.
    User,
    /// An agent or a machine with a service key.
    ServiceKey,
    /// A subject of an external token issuer.
    External,
}

/// What a principal may do in a project. Roles manage; calling tools needs granted groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Everything in the project, keys and deletion included.
    Owner,
    /// Reads everything but the record, changes tools.
    Editor,
    /// Reads everything, the record included; changes nothing.
    Auditor,
    /// Reads definitions; changes nothing.
    Viewer,
    /// Sees and calls the tools of its granted groups, nothing else.
    Agent,
}

/// What a caller may do in a project, besides calling tools: that takes granted groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ProjectPermission {
    /// See that the project exists, list the callable tools, resolve and call.
    Use,
    /// Read whole definitions and their revisions.
    ReadDefinitions,
    /// Create, replace, delete and restore tools.
    EditDefinitions,
    /// Read the record: who, what, when and how it ended.
    ReadAudit,
    /// Read what was passed along too: arguments and context.
    ReadPayloads,
    /// Create, list and revoke keys.
    ManageKeys,
    /// See who holds what.
    ReadAccess,
    /// Give and take roles and groups.
    ManageAccess,
    /// Change groups, states, conditions, policy tests, limits and settings.
    ManagePolicy,
    /// Set and remove secrets.
    ManageSecrets,
    /// Delete the project.
    DeleteProject,
}

impl ProjectPermission {
    /// Every permission.
    pub const ALL: [Self; 11] = [
        Self::Use,
        Self::ReadDefinitions,
        Self::EditDefinitions,
        Self::ReadAudit,
        Self::ReadPayloads,
        Self::ManageKeys,
        Self::ReadAccess,
        Self::ManageAccess,
        Self::ManagePolicy,
        Self::ManageSecrets,
        Self::DeleteProject,
    ];
}

/// A caller's place in one project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct Membership {
    /// The project.
    #[cfg_attr(feature = "utoipa", schema(example = "demo"))]
    pub project_id: String,
    /// The role in it.
    pub role: Role,
    /// The granted groups; `*` means all.
    #[cfg_attr(feature = "utoipa", schema(example = json!(["default", "knowledge"]), max_items = 1000))]
    pub groups: Vec<String>,
    /// What the caller may do in it: what is not listed is refused.
    #[cfg_attr(feature = "utoipa", schema(example = json!(["use", "read_definitions"]), max_items = 100))]
    pub permissions: Vec<ProjectPermission>,
}

/// Who the caller is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct Me {
    /// The principal's id.
    #[cfg_attr(feature = "utoipa", schema(example = "0199f7c2-5a8e-7c31-b7f8-0c5b2f6a9e11"))]
    pub id: String,
    /// What it is.
    pub kind: PrincipalKind,
    /// A name for people.
    #[cfg_attr(feature = "utoipa", schema(example = "admin"))]
    pub name: String,
    /// Whether the caller may do everything in every project.
    pub system_admin: bool,
    /// Whether the caller is a user who signs in with a second factor.
    #[serde(default)]
    pub second_factor: bool,
    /// The id of the provider at which the caller signs in; absent for one who signs in with a password.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "corp"))]
    pub sign_in_way: Option<String>,
    /// Where the caller belongs.
    #[cfg_attr(feature = "utoipa", schema(max_items = 10000))]
    pub projects: Vec<Membership>,
}
