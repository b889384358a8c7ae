//! Passwords that are tried, and from where: who is known at an address is not kept out by guesses from elsewhere.

use std::net::IpAddr;

use chrono::{DateTime, TimeDelta, Utc};
use secrecy::SecretString;
use toolgate_api::ErrorCode;
use toolgate_core::ids::UserId;
use toolgate_store::rows::UserRow;
use uuid::Uuid;

use crate::auth::guesses::Attempt;
use crate::gateway::{Gateway, Problem};
use crate::network::ClientNetwork;

/// How long it is kept that a user has signed in from somewhere.
pub const KEPT: TimeDelta = TimeDelta::days(180);

/// Lets a sign-in try. When there were too many failures, the user's own addresses decide.
///
/// # Errors
/// Seconds to wait.
pub async fn attempt(
    gateway: &Gateway,
    name: &str,
    user: Option<UserId>,
    address: Option<IpAddr>,
    now: DateTime<Utc>,
) -> Result<Attempt, u32> {
    let wait = match gateway.sign_ins.attempt(name, address, now) {
        Ok(attempt) => return Ok(attempt),
        Err(wait) => wait,
    };
    let Some(address) = address else { return Err(wait) };
    // Looked for whether there is such a user or not, so that an answer takes as long.
    let user = user.unwrap_or(UserId(Uuid::nil()));
    let network = ClientNetwork::of(address).to_string();
    match gateway.store.has_signed_in_from(user, &network).await {
        Ok(true) => gateway.sign_ins.attempt_where_known(name, address, now),
        Ok(false) => Err(wait),
        Err(error) => {
            tracing::warn!(cause = %error, "from where a user has signed in could not be read");
            Err(wait)
        }
    }
}

/// Keeps that a user has signed in from an address. A sign-in does not fail because that could not be kept.
pub async fn keep(gateway: &Gateway, user: UserId, address: Option<IpAddr>) {
    let Some(address) = address else { return };
    let network = ClientNetwork::of(address).to_string();
    if let Err(error) = gateway
        .store
        .note_sign_in(user, &network, gateway.clock.now())
        .await
    {
        tracing::warn!(cause = %error, "from where a user has signed in could not be kept");
    }
}

/// A password that was tried. It counts as a wrong one until its attempt is said to have succeeded.
pub struct Tried {
    /// Whether it is the right one.
    pub matches: bool,
    /// What counts against the guesser.
    pub attempt: Attempt,
}

/// Tries a password.
///
/// # Errors
/// 429 after too many wrong ones; 503 when too many are tried at once.
pub async fn try_password(
    gateway: &Gateway,
    address: Option<IpAddr>,
    username: &str,
    user: Option<&UserRow>,
    given: SecretString,
) -> Result<Tried, Problem> {
    let now = gateway.clock.now();
    let attempt = attempt(gateway, username, user.map(|user| user.id), address, now).await;
    let attempt = attempt.map_err(|seconds| {
        gateway.observer.refused_sign_in(address, now);
        too_many("passwords", seconds)
    })?;
    let stored = user.map(|user| user.password_hash.as_str());
    match gateway.passwords.verify(stored, given).await {
        Ok(matches) => Ok(Tried { matches, attempt }),
        Err(error) => {
            // What could not be tried does not count.
            gateway.sign_ins.succeeded(&attempt, now);
            Err(error.into())
        }
    }
}

/// Whether a password is the right one.
///
/// # Errors
/// As [`try_password`].
pub async fn verify_password(
    gateway: &Gateway,
    address: Option<IpAddr>,
    username: &str,
    user: Option<&UserRow>,
    given: SecretString,
) -> Result<bool, Problem> {
    let tried = try_password(gateway, address, username, user, given).await?;
    if tried.matches {
        gateway.sign_ins.succeeded(&tried.attempt, gateway.clock.now());
    }
    Ok(tried.matches)
}

/// The refusal of one who has tried too many wrong passwords or codes.
#[must_use]
pub fn too_many(what: &str, seconds: u32) -> Problem {
    let detail = format!("Too many wrong {what} were tried. Try again in {seconds} s.");
    Problem::new(ErrorCode::RateLimited, detail).retry_after(seconds)
}
