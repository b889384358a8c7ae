//! An issuer's keys, kept and refreshed.
//!
//! Unknown key ids cost nothing to invent, so they must not make this server hammer the issuer: one fetch at a time,
//! and none sooner than a minimum interval after the last attempt. An issuer that does not answer does not take known
//! keys away at once.

use std::sync::Arc;

use arc_swap::ArcSwapOption;
use chrono::{DateTime, TimeDelta, Utc};
use tokio::sync::{Mutex, OwnedMutexGuard};
use url::Url;

use super::Algorithm;
use super::fetch::{FetchError, JwksFetch};
use super::jwks::{self, ExternalKey, Keys};
use crate::auth::error::Refusal;

/// How long fetched keys are used without asking again.
pub(super) const MAX_AGE: TimeDelta = TimeDelta::minutes(10);
/// How long known keys are used when asking again fails.
pub(super) const STALE_IF_ERROR: TimeDelta = TimeDelta::hours(24);
/// The shortest time between two attempts to fetch.
pub(super) const MIN_INTERVAL: TimeDelta = TimeDelta::seconds(30);

pub(super) struct KeyCache {
    url: Url,
    allowed: Vec<Algorithm>,
    fetch: Arc<dyn JwksFetch>,
    set: ArcSwapOption<KeySet>,
    /// Held while fetching; the time of the last attempt.
    attempt: Arc<Mutex<Option<DateTime<Utc>>>>,
}

struct KeySet {
    keys: Keys,
    fetched_at: DateTime<Utc>,
}

impl KeySet {
    /// A clock that was set back far must not make keys fresh for ever, so the distance counts in both directions.
    fn within(&self, age: TimeDelta, now: DateTime<Utc>) -> bool {
        (now - self.fetched_at).abs() < age
    }
}

impl KeyCache {
    pub(super) fn new(url: Url, allowed: Vec<Algorithm>, fetch: Arc<dyn JwksFetch>) -> Self {
        Self {
            url,
            allowed,
            fetch,
            set: ArcSwapOption::empty(),
            attempt: Arc::default(),
        }
    }

    /// The key with this id, fetched if need be and allowed.
    pub(super) async fn key(
        self: &Arc<Self>,
        kid: &str,
        now: DateTime<Utc>,
    ) -> Result<Arc<ExternalKey>, Refusal> {
        if let Some(key) = self.known(kid, MAX_AGE, now) {
            return Ok(key);
        }
        let attempt = Arc::clone(&self.attempt);
        let guard = match self.known(kid, MAX_AGE + STALE_IF_ERROR, now) {
            // Another request is asking already: the old key serves until that is done.
            Some(key) => match attempt.try_lock_owned() {
                Ok(guard) => guard,
                Err(_) => return Ok(key),
            },
            None => attempt.lock_owned().await,
        };
        // The holder of the lock before may have brought the key.
        if self.known(kid, MAX_AGE, now).is_none() {
            self.refresh(guard, now).await;
        }
        match self.known(kid, MAX_AGE + STALE_IF_ERROR, now) {
            Some(key) => Ok(key),
            None if self.usable(now) => Err(Refusal::UnknownKeyId),
            None => Err(Refusal::KeysUnavailable),
        }
    }

    fn known(&self, kid: &str, age: TimeDelta, now: DateTime<Utc>) -> Option<Arc<ExternalKey>> {
        let set = self.set.load();
        set.as_ref()
            .filter(|set| set.within(age, now))?
            .keys
            .get(kid)
            .cloned()
    }

    fn usable(&self, now: DateTime<Utc>) -> bool {
        self.set
            .load()
            .as_ref()
            .is_some_and(|set| set.within(MAX_AGE + STALE_IF_ERROR, now))
    }

    async fn refresh(
        self: &Arc<Self>,
        mut attempt: OwnedMutexGuard<Option<DateTime<Utc>>>,
        now: DateTime<Utc>,
    ) {
        if attempt.is_some_and(|last| (now - last).abs() < MIN_INTERVAL) {
            return;
        }
        *attempt = Some(now);
        // On a task of its own: a caller that hangs up must not stop the fetch, or bad callers could keep the keys from
        // ever arriving. The guard goes with it.
        let cache = Arc::clone(self);
        let task = tokio::spawn(async move {
            match cache.load().await {
                Ok(keys) => cache.set.store(Some(Arc::new(KeySet {
                    keys,
                    fetched_at: now,
                }))),
                Err(error) => {
                    tracing::warn!(url = %cache.url, %error, "the keys of an external issuer could not be fetched");
                }
            }
            drop(attempt);
        });
        // A panic in there is reported by the runtime; the keys are then as they were.
        let _ = task.await;
    }

    async fn load(&self) -> Result<Keys, FetchError> {
        let document = self.fetch.fetch(&self.url).await?;
        if document.len() > super::MAX_DOCUMENT_BYTES {
            return Err(FetchError::TooLarge);
        }
        jwks::read(&document, &self.allowed).ok_or(FetchError::NotAKeySet)
    }
}
