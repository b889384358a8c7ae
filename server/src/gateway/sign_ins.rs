//! From where users sign in: who is known at an address is not kept out by guesses from elsewhere.

use std::net::IpAddr;

use chrono::{DateTime, TimeDelta, Utc};
use toolgate_core::ids::UserId;
use uuid::Uuid;

use crate::auth::guesses::Attempt;
use crate::gateway::Gateway;
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
