//! What goes into the store and comes out of it. Typed ids outside, raw columns inside the modules that own them.

mod alerts;
mod usage;

use chrono::{DateTime, Utc};
use serde_json::Value;
use toolgate_api::audit::{AuditOutcome, AuditRecord};
use toolgate_api::calls::CallContext;
use toolgate_api::limits::ProjectLimits;
use toolgate_api::permissions::GrantTerms;
use toolgate_api::policy_tests::StoredPolicyTest;
use toolgate_api::settings::ProjectSettings;
use toolgate_api::{ErrorCode, JsonText};
use toolgate_core::definition::{ServiceDefinition, ToolDefinition};
use toolgate_core::ids::{CallId, KeyId, ProjectId, ProjectUid, SessionId, ToolName, UserId};
use toolgate_core::principal::PrincipalRef;
use toolgate_core::snapshot::LabelInput;

use crate::labels::LabelChange;

pub use self::alerts::{AlertDeliveries, AlertFilter, DueAlert, NO_PROJECT, NewAlert};
pub use self::usage::{GroupUseRow, Took, UsageDelta, UsageKind, UsageTotal};

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
    /// For people.
    pub display_name: Option<String>,
    /// PHC string (argon2id).
    pub password_hash: String,
    /// Tokens of an earlier generation are worth nothing.
    pub token_generation: i64,
    /// Whether everything in every project is allowed.
    pub system_admin: bool,
    /// Since when it may not sign in.
    pub disabled_at: Option<DateTime<Utc>>,
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// The version of the directory that changed it last.
    pub revision: i64,
}

/// What to change of a user; what is `None` stays.
#[derive(Debug, Clone, Default)]
pub struct UserChange {
    /// For people; `Some(None)` takes it away.
    pub display_name: Option<Option<String>>,
    /// Since when it may not sign in; `Some(None)` lets it again. Setting a time ends its tokens.
    pub disabled_at: Option<Option<DateTime<Utc>>>,
    /// Whether everything in every project is allowed.
    pub system_admin: Option<bool>,
}

/// What a principal holds in a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantRow {
    /// The project.
    pub project: ProjectUid,
    /// Who.
    pub principal: PrincipalRef,
    /// The role, the groups and how long they are granted.
    pub terms: GrantTerms,
    /// The name of who granted it.
    pub granted_by: String,
    /// When.
    pub granted_at: DateTime<Utc>,
    /// The version of the directory that wrote it: never the same for two grants.
    pub revision: i64,
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
    /// The secret before the last rotation.
    pub previous: Option<PreviousSecret>,
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// The name of who created it.
    pub created_by: String,
    /// When its secret was replaced last.
    pub rotated_at: Option<DateTime<Utc>>,
    /// When it stops working by itself.
    pub expires_at: Option<DateTime<Utc>>,
    /// When it was revoked.
    pub revoked_at: Option<DateTime<Utc>>,
    /// The version of the directory that changed it last.
    pub revision: i64,
}

/// A secret that was replaced and still works for a while.
#[derive(Clone, PartialEq, Eq)]
pub struct PreviousSecret {
    /// Its lookup part.
    pub prefix: String,
    /// SHA-256 of the whole key text.
    pub digest: [u8; 32],
    /// Until when it works.
    pub until: DateTime<Utc>,
}

/// A new secret for a key.
#[derive(Clone)]
pub struct KeyRotation {
    /// The lookup part.
    pub prefix: String,
    /// SHA-256 of the whole key text.
    pub digest: [u8; 32],
    /// Until when the old one works.
    pub previous_until: DateTime<Utc>,
    /// When.
    pub at: DateTime<Utc>,
}

/// A key that signs access tokens.
#[derive(Clone, PartialEq, Eq)]
pub struct SigningKeyRow {
    /// The key id of the JWS header.
    pub kid: String,
    /// The key that `pkcs8` is sealed under; `None`: it is plain.
    pub key_id: Option<String>,
    /// PKCS#8 (version 2) of the Ed25519 key pair; when it is sealed: nonce, ciphertext and tag.
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
    /// What it declares about groups, by name.
    pub groups: Vec<LabelInput>,
    /// What it declares about states, by name.
    pub states: Vec<LabelInput>,
    /// What it expects of its decisions, by name.
    pub policy_tests: Vec<StoredPolicyTest>,
    /// What it sets for itself.
    pub settings: Revised<ProjectSettings>,
    /// How much of it may be used.
    pub limits: Revised<ProjectLimits>,
    /// Its secrets, sealed, by name.
    pub secrets: Vec<SecretRow>,
}

/// A secret of a project, sealed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretRow {
    /// The name.
    pub name: String,
    /// Grows with every value that is set.
    pub revision: i64,
    /// The key it is sealed under.
    pub key_id: String,
    /// Nonce, ciphertext and tag.
    pub sealed: Vec<u8>,
    /// When this value was set.
    pub set_at: DateTime<Utc>,
    /// Who set it.
    pub set_by: String,
    /// When a call last used it.
    pub last_used_at: Option<DateTime<Utc>>,
}

/// A secret to set.
#[derive(Debug, Clone)]
pub struct NewSecret<'a> {
    /// The project.
    pub project: ProjectUid,
    /// The name.
    pub name: &'a str,
    /// The key it is sealed under.
    pub key_id: &'a str,
    /// Nonce, ciphertext and tag.
    pub sealed: &'a [u8],
    /// The revision it replaces, 0 for none; `None` replaces whatever is there.
    pub expected: Option<i64>,
    /// Who.
    pub author: &'a str,
}

/// That a secret was used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretUse {
    /// The project.
    pub project: ProjectUid,
    /// The name.
    pub name: String,
    /// When.
    pub at: DateTime<Utc>,
}

/// The same value, sealed anew.
#[derive(Debug, Clone)]
pub struct Resealed {
    /// The key it is sealed under.
    pub key_id: String,
    /// Nonce, ciphertext and tag.
    pub sealed: Vec<u8>,
}

/// A secret that was sealed anew.
#[derive(Debug, Clone)]
pub struct ResealedSecret {
    /// The project.
    pub project: ProjectUid,
    /// The name.
    pub name: String,
    /// The revision that was read.
    pub revision: i64,
    /// How it is sealed now.
    pub new: Resealed,
}

/// A document that a project has one of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Revised<T> {
    /// The content.
    pub value: T,
    /// Counts from 1; 0 when none was ever stored and the content is the default.
    pub revision: i64,
}

/// A document in place of the one before.
#[derive(Debug, Clone)]
pub struct Replacement<'a, T> {
    /// The content.
    pub value: &'a T,
    /// The revision it was made from, 0 for none; `None` replaces whatever is there.
    pub expected: Option<i64>,
    /// Who.
    pub author: &'a str,
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
    /// What changes about groups and states beside the tools.
    pub labels: LabelChange,
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

/// Where a record stands: the number of its chain, shifted left by 40 bits, plus its position in the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordSeq(pub(crate) i64);

/// What is added when a call has ended.
#[derive(Debug, Clone)]
pub struct Completion {
    /// The project.
    pub project: ProjectUid,
    /// The call.
    pub id: CallId,
    /// The open record, as [`crate::RecordWriter::open`] gave it.
    pub record: RecordSeq,
    /// `Succeeded` or `Failed`.
    pub outcome: AuditOutcome,
    /// Why it failed.
    pub code: Option<ErrorCode>,
    /// The state it was decided against.
    pub state_before: String,
    /// The state afterwards; `state_before` unless it succeeded.
    pub state_after: String,
    /// Milliseconds from the decision to the end.
    pub duration_ms: i64,
    /// What the upstream reported.
    pub usage: Option<Value>,
    /// The move of its session, when it has one and its tool names a state.
    pub session: Option<SessionMove>,
    /// The answer to keep for a repeated request.
    pub settlement: Option<Settlement>,
}

/// Moves a session from the version a call was admitted at to the next; it applies only to that version of a session that
/// has neither ended nor expired.
#[derive(Debug, Clone)]
pub struct SessionMove {
    /// The session.
    pub session: SessionId,
    /// Its version when the call was admitted.
    pub expected_version: i64,
    /// Its new state.
    pub to: String,
    /// The tool that moves it.
    pub tool: String,
    /// The call.
    pub call: CallId,
    /// When.
    pub at: DateTime<Utc>,
}

/// What a completion came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completed {
    /// The state afterwards, as it was recorded: the one before when the session had moved meanwhile.
    pub state_after: String,
    /// Whether the session had moved, ended or expired meanwhile, so that the move was not applied.
    pub state_conflict: bool,
    /// The session's version after its move; `None` when it was not moved.
    pub version: Option<i64>,
}

pub use toolgate_core::record::RecordFilter;

/// In which order records are read: that of their ids, which is that of their requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RecordOrder {
    /// The latest first.
    #[default]
    NewestFirst,
    /// The earliest first.
    OldestFirst,
}

/// Which part of the records that match to read.
#[derive(Debug, Clone, Copy)]
pub struct RecordRange {
    /// In which order.
    pub order: RecordOrder,
    /// What follows this one in that order.
    pub after: Option<CallId>,
    /// Only records with lower ids.
    pub before: Option<CallId>,
    /// Records of a page at most.
    pub limit: u32,
    /// Records that are looked at for a page at most; at least one is.
    pub scan: u32,
}

/// A page of records.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RecordPage {
    /// Those that match.
    pub records: Vec<AuditRecord>,
    /// What to go on after; `None` when there is nothing further. Not always the last of `records`.
    pub next: Option<CallId>,
}

/// Where a reader stands in a chain of the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChainPlace {
    /// The number of the chain.
    pub chain: i64,
    /// The position of the last entry that was read; 0 before the first.
    pub position: i64,
    /// No record up to this position was open by then; at most `position`.
    pub settled: i64,
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
    Answered(u16, JsonText),
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
    /// The body, as JSON.
    pub body: String,
    /// The body when the session had moved meanwhile; needed only with a [`SessionMove`].
    pub body_on_conflict: Option<String>,
}

/// A session: one workflow run of one principal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRow {
    /// The id.
    pub id: SessionId,
    /// The project.
    pub project: ProjectUid,
    /// Whose it is.
    pub principal: PrincipalRef,
    /// The principal's name when it was created.
    pub principal_name: String,
    /// For people.
    pub label: Option<String>,
    /// The groups its calls ask for; `None` is "absent", which is not `[]`.
    pub groups: Option<Vec<String>>,
    /// Where its calls come from.
    pub context: Option<CallContext>,
    /// The state now.
    pub state: String,
    /// Counts the moves, from 1.
    pub version: i64,
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// When it last moved.
    pub moved_at: DateTime<Utc>,
    /// From then on it cannot be used.
    pub expires_at: DateTime<Utc>,
    /// When it was ended.
    pub ended_at: Option<DateTime<Utc>>,
}

/// How many living sessions there may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionLimits {
    /// In one project.
    pub per_project: u32,
    /// Of one principal in one project.
    pub per_principal: u32,
}

/// Whether a session was stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionAdmission {
    /// It was.
    Created,
    /// The project has as many living sessions as it may have.
    ProjectFull,
    /// The principal has.
    PrincipalFull,
}

/// What came of ending a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionEnd {
    /// It was ended now.
    Ended,
    /// It had been ended before.
    Before,
    /// It is not at the expected version but at this one.
    Moved(i64),
    /// There is no such session.
    NotThere,
}

/// Which sessions to read. Everything given must match.
#[derive(Debug, Clone, Default)]
pub struct SessionFilter {
    /// Whose.
    pub principal: Option<PrincipalRef>,
    /// In which state.
    pub state: Option<String>,
    /// Only those that can be used at this time.
    pub living_at: Option<DateTime<Utc>>,
}

/// One move of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransitionRow {
    /// The session's version after it.
    pub version: i64,
    /// The call.
    pub call: CallId,
    /// The tool.
    pub tool: String,
    /// The state before.
    pub from: String,
    /// The state after.
    pub to: String,
    /// When.
    pub at: DateTime<Utc>,
}
