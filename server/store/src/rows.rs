//! What goes into the store and comes out of it. Typed ids outside, raw columns inside the modules that own them.

use chrono::{DateTime, Utc};
use serde_json::Value;
use toolgate_api::ErrorCode;
use toolgate_api::audit::{AuditAction, AuditOutcome, AuditRecord};
use toolgate_api::auth::Role;
use toolgate_core::definition::{ServiceDefinition, ToolDefinition};
use toolgate_core::ids::{CallId, KeyId, ProjectId, ProjectUid, ToolName, UserId};

/// A project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectRow {
    /// Never used again.
    pub uid: ProjectUid,
    /// The slug, unique among living projects.
    pub id: ProjectId,
    /// For people.
    pub name: String,
    /// When it was created.
    pub created_at: DateTime<Utc>,
}

/// A user who signs in with a password.
#[derive(Clone, PartialEq, Eq)]
pub struct UserRow {
    /// The id.
    pub id: UserId,
    /// Unique, compared exactly.
    pub username: String,
    /// PHC string (argon2id).
    pub password_hash: String,
    /// Whether everything in every project is allowed.
    pub system_admin: bool,
    /// When it was created.
    pub created_at: DateTime<Utc>,
}

/// What a user holds in a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantRow {
    /// The project.
    pub project: ProjectUid,
    /// The user.
    pub user: UserId,
    /// What it may manage.
    pub role: Role,
    /// What it may ask for when calling.
    pub groups: Vec<String>,
}

/// A service key. The secret itself is never stored.
#[derive(Clone, PartialEq, Eq)]
pub struct KeyRow {
    /// The id.
    pub id: KeyId,
    /// The project it belongs to.
    pub project: ProjectUid,
    /// For people.
    pub name: String,
    /// The lookup part: what stands before the secret, unique.
    pub prefix: String,
    /// SHA-256 of the whole key text.
    pub digest: [u8; 32],
    /// What it may manage.
    pub role: Role,
    /// What it may ask for when calling.
    pub groups: Vec<String>,
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// The name of who created it.
    pub created_by: String,
    /// When it stops working by itself.
    pub expires_at: Option<DateTime<Utc>>,
    /// When it was revoked.
    pub revoked_at: Option<DateTime<Utc>>,
}

/// A key that signs access tokens.
#[derive(Clone, PartialEq, Eq)]
pub struct SigningKeyRow {
    /// The key id of the JWS header.
    pub kid: String,
    /// PKCS#8 (version 2) of the Ed25519 key pair.
    pub pkcs8: Vec<u8>,
    /// The newest key that is not retired signs.
    pub created_at: DateTime<Utc>,
    /// From then on it signs nothing; it verifies until its last token has expired.
    pub retired_at: Option<DateTime<Utc>>,
}

/// A token that was given back before it expired.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RevokedTokenRow {
    /// The token's `jti`.
    pub jti: String,
    /// When it would have expired; the row may be dropped afterwards.
    pub expires_at: DateTime<Utc>,
}

/// Everyone and everything that can identify itself, in one consistent read.
#[derive(Clone, Default)]
pub struct DirectoryRows {
    /// The version this is.
    pub version: i64,
    /// All users.
    pub users: Vec<UserRow>,
    /// All grants in living projects.
    pub grants: Vec<GrantRow>,
    /// All keys of living projects, revoked ones included.
    pub keys: Vec<KeyRow>,
    /// All signing keys.
    pub signing_keys: Vec<SigningKeyRow>,
    /// All revoked tokens that have not expired.
    pub revoked_tokens: Vec<RevokedTokenRow>,
}

/// A tool at its current revision.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolRow {
    /// The definition.
    pub definition: ToolDefinition,
    /// Counts from 1 over the tool's whole life, deletions included.
    pub revision: i64,
    /// When this revision was made.
    pub updated_at: DateTime<Utc>,
    /// Who made it.
    pub updated_by: String,
}

/// A tool service as it is now.
#[derive(Debug, Clone, PartialEq)]
pub struct ServiceRow {
    /// The definition.
    pub definition: ServiceDefinition,
    /// Counts from 1.
    pub revision: i64,
}

/// A project with its definitions, in one consistent read.
#[derive(Debug, Clone, PartialEq)]
pub struct ProjectRows {
    /// The version this is.
    pub version: i64,
    /// The project.
    pub project: ProjectRow,
    /// Its living tools, by name.
    pub tools: Vec<ToolRow>,
    /// Its services, by id.
    pub services: Vec<ServiceRow>,
}

/// One revision of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct RevisionRow {
    /// The tool.
    pub name: ToolName,
    /// Counts from 1.
    pub revision: i64,
    /// Who made it.
    pub author: String,
    /// When.
    pub created_at: DateTime<Utc>,
    /// Why.
    pub note: Option<String>,
    /// The definition; `None` when this revision deleted the tool.
    pub definition: Option<ToolDefinition>,
}

/// A change of definitions, applied whole or not at all.
#[derive(Debug, Clone)]
pub struct Publication {
    /// The project.
    pub project: ProjectUid,
    /// The version the change was computed from; another one in the database is a conflict.
    pub expected_version: i64,
    /// The tools to store or, with `None`, to delete; each gets the revision after its last.
    pub tools: Vec<(ToolName, Option<ToolDefinition>)>,
    /// The services to store.
    pub services: Vec<ServiceDefinition>,
    /// Who.
    pub author: String,
    /// When.
    pub at: DateTime<Utc>,
    /// Why.
    pub note: Option<String>,
}

/// What is written before anything runs. `record.outcome` is `Open` for an admitted call; a denied call is written
/// whole by this alone.
#[derive(Debug, Clone)]
pub struct Opening {
    /// The project.
    pub project: ProjectUid,
    /// The record.
    pub record: AuditRecord,
}

/// What is added when a call has ended.
#[derive(Debug, Clone)]
pub struct Completion {
    /// The project.
    pub project: ProjectUid,
    /// The call.
    pub id: CallId,
    /// `Succeeded` or `Failed`.
    pub outcome: AuditOutcome,
    /// Why it failed.
    pub code: Option<ErrorCode>,
    /// The state afterwards.
    pub state_after: String,
    /// Milliseconds from the decision to the end.
    pub duration_ms: i64,
    /// What the upstream reported.
    pub usage: Option<Value>,
    /// The answer to keep for a repeated request.
    pub settlement: Option<Settlement>,
}

/// Which records to read. Everything given must match.
#[derive(Debug, Clone, Default)]
pub struct RecordFilter {
    /// The call's id.
    pub id: Option<CallId>,
    /// What was asked.
    pub action: Option<AuditAction>,
    /// Where the record stands.
    pub outcome: Option<AuditOutcome>,
    /// The error code.
    pub code: Option<ErrorCode>,
    /// The principal's id.
    pub principal_id: Option<String>,
    /// The tool's name.
    pub tool: Option<String>,
    /// At or after.
    pub since: Option<DateTime<Utc>>,
    /// Before.
    pub until: Option<DateTime<Utc>>,
}

/// Names one idempotent request: keys of different principals and projects are independent.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct IdempotencyKey {
    /// The project.
    pub project: ProjectUid,
    /// The principal's id.
    pub principal_id: String,
    /// What the client sent.
    pub key: String,
}

/// A claim on an idempotency key, made before the call.
#[derive(Debug, Clone)]
pub struct Claim {
    /// Which.
    pub key: IdempotencyKey,
    /// SHA-256 of the request.
    pub fingerprint: [u8; 32],
    /// The call that will run under it.
    pub call: CallId,
    /// When the claim may be forgotten.
    pub expires_at: DateTime<Utc>,
}

/// What became of a claim.
#[derive(Debug, Clone, PartialEq)]
pub enum Claimed {
    /// It is ours; the call may run.
    Fresh,
    /// The same request runs right now.
    InProgress,
    /// The key was used with another request.
    Mismatch,
    /// The same request has been answered: HTTP status and body.
    Answered(u16, Value),
    /// The same request was cut off by a restart; whether it ran is in the record.
    Interrupted(CallId),
}

/// The answer to keep for a claim.
#[derive(Debug, Clone)]
pub struct Settlement {
    /// Which.
    pub key: IdempotencyKey,
    /// The HTTP status.
    pub status: u16,
    /// The body.
    pub body: Value,
}
