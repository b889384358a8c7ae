//! Rows of who can identify themselves and what they hold.

use chrono::{DateTime, Utc};
use toolgate_api::keys::KeyOnBus;
use toolgate_api::permissions::GrantTerms;
use toolgate_core::ids::{KeyId, ProjectUid, UserId};
use toolgate_core::principal::PrincipalRef;
use uuid::Uuid;

use super::connections::ConnectionRow;

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
    /// Since when it signs in with a second factor.
    pub second_factor_at: Option<DateTime<Utc>>,
    /// Whether it has to.
    pub second_factor_required: bool,
    /// Who it is at an OpenID Connect provider, if it signs in at one.
    pub identity: Option<UserIdentity>,
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// The version of the directory that changed it last.
    pub revision: i64,
}

/// Who a user is at an OpenID Connect provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserIdentity {
    /// The `iss` of the provider's ID tokens.
    pub issuer: String,
    /// Their `sub`.
    pub subject: String,
}

/// What to change of a user; what is `None` stays.
#[derive(Debug, Clone, Default)]
pub struct UserChange {
    /// For people; `Some(None)` removes it.
    pub display_name: Option<Option<String>>,
    /// Since when it may not sign in; `Some(None)` lets it again. Setting a time ends its tokens.
    pub disabled_at: Option<Option<DateTime<Utc>>>,
    /// Whether everything in every project is allowed.
    pub system_admin: Option<bool>,
    /// Whether it has to sign in with a second factor.
    pub second_factor_required: Option<bool>,
    /// Who it is at an OpenID Connect provider.
    pub identity: Option<UserIdentity>,
}

/// The shared secret of a user's one-time passwords.
#[derive(Clone)]
pub struct SecondFactorRow {
    /// The key that it is sealed under; `None` when it is plain.
    pub key_id: Option<String>,
    /// The secret, sealed or plain.
    pub secret: Vec<u8>,
    /// Since when it counts; `None` until the user has shown a code.
    pub confirmed_at: Option<DateTime<Utc>>,
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
    /// The lookup part: the prefix of the secret, unique.
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
    /// What a program may do that connects to the message bus with it.
    pub bus: Option<KeyOnBus>,
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

/// A sign-in whose token has not expired.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignInRow {
    /// The token's `jti`.
    pub id: Uuid,
    /// Who.
    pub user: UserId,
    /// The user's token generation when the token was signed.
    pub generation: i64,
    /// The provider at which the user signed in; `None`: with a password.
    pub way: Option<String>,
    /// The client's address.
    pub address: Option<String>,
    /// The browser or program.
    pub browser: Option<String>,
    /// When.
    pub created_at: DateTime<Utc>,
    /// When the token expires.
    pub expires_at: DateTime<Utc>,
}

/// Everyone and everything that can identify itself, in one consistent read.
#[derive(Clone, Default)]
pub struct DirectoryRows {
    /// The version this is.
    pub version: i64,
    /// All users.
    pub users: Vec<UserRow>,
    /// All grants in projects that are not deleted.
    pub grants: Vec<GrantRow>,
    /// All keys of projects that are not deleted, revoked ones included.
    pub keys: Vec<KeyRow>,
    /// All connections.
    pub connections: Vec<ConnectionRow>,
    /// All signing keys.
    pub signing_keys: Vec<SigningKeyRow>,
    /// All revoked tokens that have not expired.
    pub revoked_tokens: Vec<RevokedTokenRow>,
}
