//! Sign-ins: passwords that are tried, and from where, and the sign-ins of a user that have not ended.
//!
//! Who is known at an address is not kept out by guesses from elsewhere.

mod program;

use std::net::IpAddr;
use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use secrecy::SecretString;
use serde_json::{Value, json};
use toolgate_api::ErrorCode;
use toolgate_core::ids::UserId;
use toolgate_core::principal::PrincipalRef;
use toolgate_store::rows::{SignInRow, UserRow};
use uuid::Uuid;

use super::access::{self, Actor};
use crate::auth::guesses::Attempt;
use crate::auth::token::IssuedToken;
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

/// From where and how a user signs in.
#[derive(Debug, Clone, Default)]
pub struct Place {
    /// The client's address.
    pub address: Option<IpAddr>,
    /// What the client says of itself (`User-Agent`).
    pub browser: Option<String>,
    /// The provider at which the user signs in; `None`: with a password.
    pub way: Option<String>,
}

/// Makes a token for a user who has just proven to be the one, and stores the sign-in. A sign-in does not fail because it could
/// not be stored: while the database is away an administrator can still see what is wrong.
///
/// # Errors
/// 500 when no token can be made.
pub async fn issue(gateway: &Gateway, user: UserId, place: Place) -> Result<IssuedToken, Problem> {
    let server_snapshot = gateway.snapshots.now();
    let (id, now) = (gateway.clock.new_id(), gateway.clock.now());
    let directory = &server_snapshot.directory;
    let issued = gateway
        .authenticator
        .issue(directory, user, id, now)
        .map_err(|error| Problem::internal(&error))?;
    let row = SignInRow {
        id,
        user,
        generation: directory.user(user).map_or(0, |user| user.token_generation),
        way: place.way,
        address: place.address.map(|address| address.to_canonical().to_string()),
        browser: place.browser.as_deref().and_then(program::name),
        created_at: now,
        expires_at: issued.expires_at,
    };
    if let Err(error) = gateway.store.add_sign_in(&row).await {
        tracing::warn!(cause = %error, "a sign-in could not be stored; it is not listed among those of its user");
    }
    keep(gateway, user, place.address).await;
    Ok(issued)
}

/// Ends one sign-in of a user, on the record.
///
/// # Errors
/// 404 when the user has no such sign-in.
pub async fn end(gateway: &Arc<Gateway>, actor: Actor<'_>, user: UserId, id: Uuid) -> Result<(), Problem> {
    let what = what(actor, "sign_in_ended", json!({"sign_in": id}));
    let openings = vec![access::server_opening(gateway, actor, &what)];
    let (store, now) = (gateway.store.clone(), gateway.clock.now());
    access::carry_out(gateway, openings, async move {
        match store.end_sign_in(user, id, now).await? {
            true => Ok(()),
            false => Err(Problem::not_found(format!("sign-in {id}"))),
        }
    })
    .await
}

/// Ends all sign-ins of a user but one, on the record; how many.
///
/// # Errors
/// When the record or the database is not available.
pub async fn end_others(
    gateway: &Arc<Gateway>,
    actor: Actor<'_>,
    user: UserId,
    kept: Uuid,
) -> Result<u64, Problem> {
    let what = what(actor, "other_sign_ins_ended", json!({}));
    let openings = vec![access::server_opening(gateway, actor, &what)];
    let (store, now) = (gateway.store.clone(), gateway.clock.now());
    access::carry_out(gateway, openings, async move {
        Ok(store.end_other_sign_ins(user, kept, now).await?)
    })
    .await
}

/// What is recorded about the end of sign-ins.
fn what(actor: Actor<'_>, change: &str, mut rest: Value) -> Value {
    let principal = &actor.identity.principal;
    rest["change"] = json!(change);
    rest["principal"] = json!(PrincipalRef::from(principal).to_string());
    rest["principal_name"] = json!(principal.name);
    rest
}

/// Keeps that a user has signed in from an address, as far as that is possible.
async fn keep(gateway: &Gateway, user: UserId, address: Option<IpAddr>) {
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
