//! Rows of secrets, sealed.

use chrono::{DateTime, Utc};
use toolgate_core::ids::ProjectUid;

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

/// The same value, sealed again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resealed {
    /// The key it is sealed under.
    pub key_id: String,
    /// Nonce, ciphertext and tag.
    pub sealed: Vec<u8>,
}

/// A secret that was sealed again.
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
