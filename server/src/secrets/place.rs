//! What something sealed is bound to, so that it cannot be moved to another place in the database.

use toolgate_core::ids::{ProjectUid, UserId};
use uuid::Uuid;

/// A secret: its project and its name.
#[must_use]
pub fn secret(project: ProjectUid, name: &str) -> Vec<u8> {
    [b"secret\0", project.0.as_bytes().as_slice(), name.as_bytes()].concat()
}

/// A connected account: its project and its id.
#[must_use]
pub fn account(project: ProjectUid, id: Uuid) -> Vec<u8> {
    [b"account\0", project.0.as_bytes().as_slice(), id.as_bytes()].concat()
}

/// A person on the way to connect an account: the digest of the `state`.
#[must_use]
pub fn account_flow(digest: &[u8; 32]) -> Vec<u8> {
    [b"account flow\0", digest.as_slice()].concat()
}

/// A signing key: its key id.
#[must_use]
pub fn signing_key(kid: &str) -> Vec<u8> {
    [b"signing key\0", kid.as_bytes()].concat()
}

/// The secret of a second factor: its user.
#[must_use]
pub fn second_factor(user: UserId) -> Vec<u8> {
    [b"second factor\0", user.0.as_bytes().as_slice()].concat()
}
