//! Who holds what in a project: grants of a role and of groups.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::auth::{PrincipalKind, Role};

/// A group in a grant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct GrantedGroup {
    /// The group's name; `*` means all. A parent covers its children.
    #[cfg_attr(
        feature = "utoipa",
        schema(
            example = "knowledge",
            min_length = 1,
            max_length = 128,
            pattern = r"^[^\s\x00-\x1f\x7f-\x9f]([^\x00-\x1f\x7f-\x9f]*[^\s\x00-\x1f\x7f-\x9f])?$"
        )
    )]
    pub group: String,
    /// Until when it is granted; as long as the grant when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "2030-01-01T00:00:00Z"))]
    pub expires_at: Option<DateTime<Utc>>,
}

/// What is granted to a principal in a project, in place of what was granted before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct GrantTerms {
    /// The role.
    pub role: Role,
    /// The groups it may ask for; each at most once, `[]` for none.
    #[cfg_attr(feature = "utoipa", schema(max_items = 1000))]
    pub groups: Vec<GrantedGroup>,
    /// When the grant (role and groups) expires; never when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "2030-06-01T00:00:00Z"))]
    pub expires_at: Option<DateTime<Utc>>,
}

/// A stored grant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct Permission {
    /// The principal, as it is written in paths: `user:<id>`, `service_key:<id>` or `external:<issuer>|<subject>`.
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "user:0199f7c2-5a8e-7c31-b7f8-0c5b2f6a9e11")
    )]
    pub principal: String,
    /// What kind of principal it is.
    pub kind: PrincipalKind,
    /// Its name for people.
    #[cfg_attr(feature = "utoipa", schema(example = "ada"))]
    pub name: String,
    /// The role.
    pub role: Role,
    /// The groups, by name; those that have expired are still listed.
    #[cfg_attr(feature = "utoipa", schema(max_items = 1000))]
    pub groups: Vec<GrantedGroup>,
    /// When the grant expires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<DateTime<Utc>>,
    /// Whether it is in force now.
    pub in_force: bool,
    /// The name of who granted it.
    #[cfg_attr(feature = "utoipa", schema(example = "admin"))]
    pub granted_by: String,
    /// When.
    pub granted_at: DateTime<Utc>,
}

/// Where a principal's place in a project comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum PermissionSource {
    /// A stored grant.
    Grant,
    /// The grant that was made with a service key.
    Key,
    /// The configuration of an external issuer, for all its subjects.
    Issuer,
    /// A system administrator manages every project, with a grant or without.
    SystemAdmin,
}

/// How a principal holds a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum HowGranted {
    /// By its name.
    Direct,
    /// By the name of a parent.
    Parent,
    /// By `*`.
    Any,
    /// Only when the claims of its token bring it.
    Claim,
    /// It was granted, and that has expired.
    Expired,
}

/// One group that a principal holds, held or may hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct PermissionCell {
    /// The group: one of the matrix's `groups`.
    #[cfg_attr(feature = "utoipa", schema(example = "knowledge/read"))]
    pub group: String,
    /// How it is granted.
    pub how: HowGranted,
    /// The name in the grant that covers it, when that is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "knowledge"))]
    pub via: Option<String>,
    /// When that ends or has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<DateTime<Utc>>,
}

/// One principal and what it holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct PermissionRow {
    /// The principal, as it is written in paths; `external:<issuer>|*` for all subjects of an issuer.
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "user:0199f7c2-5a8e-7c31-b7f8-0c5b2f6a9e11")
    )]
    pub principal: String,
    /// What kind of principal it is.
    pub kind: PrincipalKind,
    /// Unique within its kind.
    #[cfg_attr(feature = "utoipa", schema(example = "0199f7c2-5a8e-7c31-b7f8-0c5b2f6a9e11"))]
    pub id: String,
    /// Its name for people.
    #[cfg_attr(feature = "utoipa", schema(example = "ada"))]
    pub name: String,
    /// Where its place in the project comes from.
    pub source: PermissionSource,
    /// Its role now; absent when its grant has expired.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// When its grant expires, or the key itself if that is earlier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<DateTime<Utc>>,
    /// Whether it is a user who cannot sign in at present.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub disabled: bool,
    /// The ETag of its stored grant, to send as `If-Match`; absent when nothing is stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "\"r12\""))]
    pub etag: Option<String>,
    /// The groups it holds, held or may hold; one that is not here it does not hold.
    #[cfg_attr(feature = "utoipa", schema(max_items = 1001))]
    pub cells: Vec<PermissionCell>,
}

/// Principals against groups.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct PermissionMatrix {
    /// The columns, by name: `*`, the groups of tools, those that are declared and those that are granted.
    #[cfg_attr(feature = "utoipa", schema(example = json!(["*", "default", "knowledge"]), max_items = 1001))]
    pub groups: Vec<String>,
    /// Whether there are more groups than fit; ask with `group` for a part of them.
    pub more_groups: bool,
    /// The rows: users, keys and external subjects, each by name.
    #[cfg_attr(feature = "utoipa", schema(max_items = 200))]
    pub items: Vec<PermissionRow>,
    /// Send it as `cursor` for the next page; absent on the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// A user who could be granted something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct PermissionCandidate {
    /// The principal, as it is written in paths.
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "user:0199f7c2-5a8e-7c31-b7f8-0c5b2f6a9e11")
    )]
    pub principal: String,
    /// The user's name.
    #[cfg_attr(feature = "utoipa", schema(example = "ada"))]
    pub username: String,
    /// A name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "Ada Lovelace"))]
    pub display_name: Option<String>,
    /// Whether there is a grant already.
    pub granted: bool,
}

/// Users who could be granted something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct PermissionCandidates {
    /// By name; the first 20 that match.
    #[cfg_attr(feature = "utoipa", schema(max_items = 20))]
    pub items: Vec<PermissionCandidate>,
}

/// A group of a grant that was not asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct UnusedGroup {
    /// The group as it is granted.
    #[cfg_attr(feature = "utoipa", schema(example = "knowledge"))]
    pub group: String,
    /// When it, or a child of it, was last asked for; absent when never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_used_at: Option<DateTime<Utc>>,
}

/// A grant with groups that were not asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct UnusedGrant {
    /// The principal, as it is written in paths.
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "service_key:0199f7c2-5a8e-7c31-b7f8-0c5b2f6a9e11")
    )]
    pub principal: String,
    /// What kind of principal it is.
    pub kind: PrincipalKind,
    /// Its name for people.
    #[cfg_attr(feature = "utoipa", schema(example = "Research agent"))]
    pub name: String,
    /// The groups that were not asked for, by name.
    #[cfg_attr(feature = "utoipa", schema(max_items = 1000))]
    pub unused: Vec<UnusedGroup>,
    /// The grant as it is stored, with these groups.
    pub grant: GrantTerms,
    /// When it was granted or last changed.
    pub granted_at: DateTime<Utc>,
    /// The ETag of the grant, to send as `If-Match`.
    #[cfg_attr(feature = "utoipa", schema(example = "\"r12\""))]
    pub etag: String,
}

/// Grants with groups that were not asked for in a time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct UnusedGrants {
    /// Since when.
    pub since: DateTime<Utc>,
    /// The grants, by the name of the principal; at most 1000.
    #[cfg_attr(feature = "utoipa", schema(max_items = 1000))]
    pub items: Vec<UnusedGrant>,
    /// Whether there are more.
    pub more: bool,
}
