//! What something sealed is bound to, so that it cannot be moved to another place in the database.

use toolgate_core::ids::{ProjectUid, UserId};

/// A secret: its project and its name.
#[must_use]
pub fn secret(project: ProjectUid, name: &str) -> Vec<u8> {
    [b"secret\0", project.0.as_bytes().as_slice(), name.as_bytes()].concat()
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
