//! The servers of the bus ask who may connect (auth callout of NATS): a program shows the id of a service key as its user name
//! and the key's secret as its password, and gets the permissions that [`permissions`] derives from what the key may do.
//!
//! The secret is part of the connection, never of a message that a stream could keep. A key that is revoked is refused at the
//! next connection; a connection ends with its key, and after a day. Guide: `docs/bus-entrance.md`.

mod keys;
mod permissions;
mod tokens;

use std::sync::Arc;

use async_nats::{HeaderMap, Message};
use chrono::{DateTime, TimeDelta, Utc};
use futures_util::StreamExt;
use secrecy::ExposeSecret;
use toolgate_api::keys::KeyOnBus;
use toolgate_executors::Bus;
use toolgate_store::rows::KeyRow;

use self::keys::Keys;
use self::permissions::{Permissions, consumers};
use self::tokens::{Asked, Granted};
use super::header;
use crate::auth::identity::Credential;
use crate::config::Config;
use crate::gateway::Gateway;

/// The header with the curve key of the server that asks.
const XKEY: &str = "Nats-Server-Xkey";
/// The longest time of a connection: then its program has to prove itself again.
const LONGEST: TimeDelta = TimeDelta::hours(1);

/// Whether the servers of the bus ask this server.
#[must_use]
pub fn is_configured(config: &Config) -> bool {
    config.nats.auth_callout.issuer_seed.is_some()
}

/// Answers the servers of the bus until this server stops.
///
/// # Errors
/// The settings cannot be used, or the bus takes no subscription.
pub async fn run(gateway: Arc<Gateway>) -> anyhow::Result<()> {
    let (Some(bus), Some(keys)) = (&gateway.bus, Keys::of(&gateway.config.nats.auth_callout)?) else {
        return Ok(());
    };
    let requests = bus.authorizations().await;
    let mut requests = requests.map_err(|failure| anyhow::anyhow!("{}", failure.message))?;
    loop {
        let request = tokio::select! {
            () = gateway.shutdown.stopped() => return Ok(()),
            request = requests.next() => request,
        };
        let Some(request) = request else { return Ok(()) };
        if let Err(why) = answer(&gateway, bus, &keys, &request).await {
            tracing::warn!("a connection to the message bus could not be decided: {why}");
        }
    }
}

/// Answers one request. What is no request of a server gets no answer.
async fn answer(gateway: &Gateway, bus: &Bus, keys: &Keys, request: &Message) -> Result<(), String> {
    let Some(inbox) = request.reply.clone() else {
        return Err("the request has no inbox".to_owned());
    };
    let headers = request.headers.clone().unwrap_or_default();
    let server = header(&headers, XKEY);
    let text = keys.open(&request.payload, server)?;
    let asked = Asked::read(&text)?;
    let now = gateway.clock.now();
    let granted = match decide(gateway, bus, &asked, now).await {
        Ok((key, permissions)) => {
            let end = now + LONGEST;
            Ok(Granted {
                name: key.name.clone(),
                account: keys.account.clone(),
                expires_at: key.expires_at.map_or(end, |expires| expires.min(end)),
                permissions,
            })
        }
        Err(why) => {
            tracing::info!(
                user = asked.user.chars().take(64).collect::<String>(),
                address = asked.address,
                "a connection to the message bus was refused: {why}"
            );
            // Why is for the operator: a stranger learns nothing.
            Err("the user or the password is wrong, or the key may not use the message bus")
        }
    };
    let id = gateway.clock.new_id();
    let response = tokens::response(&keys.issuer, &asked, granted, id, now)?;
    let sealed = keys.seal(response.as_bytes(), server)?;
    let sent = bus
        .answer(inbox.to_string(), HeaderMap::new(), sealed.into())
        .await;
    sent.map_err(|failure| failure.message)
}

/// The key that a program has shown, and what it may do on the bus.
async fn decide(
    gateway: &Gateway,
    bus: &Bus,
    asked: &Asked,
    now: DateTime<Utc>,
) -> Result<(Arc<KeyRow>, Permissions), String> {
    let snapshot = gateway.snapshots.now();
    let identity = gateway
        .authenticator
        .authenticate(&snapshot.directory, asked.password.expose_secret(), now)
        .await
        .map_err(|error| error.to_string())?;
    let Credential::Key { key } = identity.credential else {
        return Err("the password is no service key".to_owned());
    };
    if asked.user != key.id.to_string() {
        return Err("the user name is not the id of the key".to_owned());
    }
    let opens = |may: &&KeyOnBus| may.calls || may.services || !may.workers.is_empty();
    let may = key.bus.as_ref().filter(opens);
    let may = may.ok_or("the key may not use the message bus")?;
    let project = snapshot
        .projects()
        .find(|project| project.row.uid == key.project)
        .ok_or("the project of the key does not exist")?;
    let permissions = Permissions::of(key.id, may, project, bus.rules());
    // Programs may not make them: streams are shared, and consumers can deliver to any subject.
    let made = bus.prepare(&project.row.id, &consumers(may, project)).await;
    made.map_err(|failure| failure.message)?;
    Ok((key, permissions))
}
