//! Who is asking: from a bearer text to a checked [`Identity`](identity::Identity).
//!
//! Everything here is free of HTTP types and takes the time as an argument. The [`Directory`](directory::Directory) is
//! an immutable index over what the store knows of users, grants and keys; the
//! [`Authenticator`](authenticator::Authenticator) checks a credential against it. A credential that fails in any way
//! is refused: nothing falls back to another identity or to none.
//!
//! To add a kind of credential, write its check in a file of its own, give [`identity::Credential`] a variant and let
//! [`authenticator::Authenticator::authenticate`] choose it by the credential's shape.

pub mod api_key;
pub mod authenticator;
pub mod bus_token;
pub mod directory;
pub mod error;
pub mod external;
pub mod grants;
pub mod guesses;
pub mod identity;
mod jws;
pub mod oauth_secret;
pub mod password;
pub(crate) mod random;
pub mod recovery_code;
pub mod signing;
pub mod strength;
#[cfg(test)]
mod tests;
pub mod token;
