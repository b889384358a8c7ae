//! Why a credential was refused: one text for the outside, the cause for the log.

use std::fmt;

use thiserror::Error;

/// A refused credential. Shown, it is the same text for every cause, so that a caller learns nothing by trying.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthError(Refusal);

impl AuthError {
    /// What the log may say. It never contains any part of the credential.
    #[must_use]
    pub const fn cause(&self) -> Refusal {
        self.0
    }
}

impl From<Refusal> for AuthError {
    fn from(cause: Refusal) -> Self {
        Self(cause)
    }
}

impl fmt::Display for AuthError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the credential is not valid, has expired or was revoked")
    }
}

impl std::error::Error for AuthError {}

/// The exact cause of a refusal, for the log, counters and tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Error)]
pub enum Refusal {
    /// Longer than any credential of ours or of an issuer we accept.
    #[error("the credential is too long")]
    TooLong,
    /// Neither a service key nor three base64url parts with JSON objects in them.
    #[error("the credential is not well-formed: {0}")]
    Malformed(&'static str),
    /// The token of another server.
    #[error("the token's issuer is not trusted")]
    UnknownIssuer,
    /// An algorithm that is not pinned to the token's key.
    #[error("the token's algorithm is not allowed for its key")]
    WrongAlgorithm,
    /// A `crit` header; no extension is understood.
    #[error("the token demands header extensions that are not understood")]
    Critical,
    /// Another `typ` than access tokens of this issuer have.
    #[error("the token is of another type")]
    WrongType,
    /// The `kid` names no key that may verify tokens now.
    #[error("the token's key is not known")]
    UnknownKeyId,
    /// The issuer's keys could not be fetched and none are kept.
    #[error("the issuer's keys are not available")]
    KeysUnavailable,
    /// The signature does not match.
    #[error("the token's signature is wrong")]
    BadSignature,
    /// A claim is missing or has a wrong type or value.
    #[error("the token's claims are not acceptable: {0}")]
    BadClaims(&'static str),
    /// Meant for another audience.
    #[error("the token is for another audience")]
    WrongAudience,
    /// For another message on the bus.
    #[error("the token is for another message")]
    WrongMessage,
    /// `exp` has come.
    #[error("the credential has expired")]
    Expired,
    /// `nbf` or `iat` is in the future.
    #[error("the token is not valid yet")]
    NotYetValid,
    /// Given back before it expired.
    #[error("the credential was revoked")]
    Revoked,
    /// The subject does not exist any more.
    #[error("the token's user does not exist")]
    UnknownUser,
    /// The subject may not sign in at present.
    #[error("the token's user is disabled")]
    Disabled,
    /// No service key has this prefix.
    #[error("the service key is not known")]
    UnknownKey,
    /// The prefix is known, the secret is not the one.
    #[error("the service key's secret is wrong")]
    WrongSecret,
}

impl Refusal {
    /// A short, stable label for counters; there are as many as variants.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::TooLong => "too_long",
            Self::Malformed(_) => "malformed",
            Self::UnknownIssuer => "unknown_issuer",
            Self::WrongAlgorithm => "wrong_algorithm",
            Self::Critical => "critical",
            Self::WrongType => "wrong_type",
            Self::UnknownKeyId => "unknown_key_id",
            Self::KeysUnavailable => "keys_unavailable",
            Self::BadSignature => "bad_signature",
            Self::BadClaims(_) => "bad_claims",
            Self::WrongAudience => "wrong_audience",
            Self::WrongMessage => "wrong_message",
            Self::Expired => "expired",
            Self::NotYetValid => "not_yet_valid",
            Self::Revoked => "revoked",
            Self::UnknownUser => "unknown_user",
            Self::Disabled => "disabled",
            Self::UnknownKey => "unknown_key",
            Self::WrongSecret => "wrong_secret",
        }
    }
}
