//! Answers that serve further calls (`options.http.cache`).
//!
//! The key is the whole request that would be sent, with its credential, and the definition it is made from: what differs
//! in any of these, such as a caller's name among the arguments, never shares an answer. Calls that would send the same
//! request at the same time wait for one.

use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, header};
use moka::Expiry;
use moka::future::Cache;
use secrecy::ExposeSecret;
use sha2::{Digest, Sha256};
use toolgate_core::ids::ProjectId;

use crate::failure::Failure;
use crate::guard::Uses;
use crate::http::plan::RequestPlan;
use crate::invocation::Execution;

/// Bytes of all answers together.
const MAX_BYTES: u64 = 64 * 1024 * 1024;
/// Bytes of one answer; larger ones are not kept.
const MAX_ANSWER: usize = 4 * 1024 * 1024;
/// What an entry costs beside its answer.
const OVERHEAD: usize = 256;

/// What a request is found by.
pub(crate) type Key = [u8; 32];

/// The answers that are kept now.
pub(crate) struct Answers(Cache<Key, Kept>);

#[derive(Clone)]
struct Kept {
    execution: Arc<Execution>,
    keep: Duration,
}

struct UntilItsEnd;

impl Expiry<Key, Kept> for UntilItsEnd {
    fn expire_after_create(&self, _: &Key, kept: &Kept, _: std::time::Instant) -> Option<Duration> {
        Some(kept.keep)
    }
}

/// What came back, and whether it may serve again.
pub(crate) struct Fetched {
    pub(crate) execution: Execution,
    pub(crate) may_be_kept: bool,
}

impl Answers {
    pub(crate) fn new() -> Self {
        let weigh =
            |_: &Key, kept: &Kept| u32::try_from(size(&kept.execution) + OVERHEAD).unwrap_or(u32::MAX);
        Self(
            Cache::builder()
                .max_capacity(MAX_BYTES)
                .weigher(weigh)
                .expire_after(UntilItsEnd)
                .build(),
        )
    }

    /// Bytes of all that is kept now, as far as they are counted yet.
    pub(crate) fn bytes(&self) -> u64 {
        self.0.weighted_size()
    }

    /// The answer to a request, fetched unless one is kept. Failures are never kept. What a kept answer cost was paid by
    /// the call that fetched it.
    ///
    /// # Errors
    /// What fetching fails with.
    pub(crate) async fn get(
        &self,
        key: Key,
        ttl: Duration,
        uses: &Uses,
        fetch: impl Future<Output = Result<Fetched, Failure>>,
    ) -> Result<Execution, Failure> {
        let mut fetched_now = false;
        let kept = self
            .0
            .try_get_with(key, async {
                uses.missed();
                let fetched = fetch.await?;
                fetched_now = true;
                let small = size(&fetched.execution) <= MAX_ANSWER;
                Ok::<_, Failure>(Kept {
                    keep: if fetched.may_be_kept && small {
                        ttl
                    } else {
                        Duration::ZERO
                    },
                    execution: Arc::new(fetched.execution),
                })
            })
            .await
            .map_err(|failure| (*failure).clone())?;
        let mut execution = Execution::clone(&kept.execution);
        if !fetched_now {
            uses.hit();
            execution.usage = None;
        }
        Ok(execution)
    }
}

/// Bytes of an answer. What is to be kept whole is part of it: each call that it serves keeps its own.
fn size(execution: &Execution) -> usize {
    let artifact = execution.artifact.as_ref();
    execution.result.get().len() + artifact.map_or(0, |artifact| artifact.content.len())
}

/// The key of a request. `definition` is another number for another definition; `client` stands for the client whose token
/// is presented.
pub(crate) fn key(
    definition: u64,
    project: &ProjectId,
    plan: &RequestPlan,
    client: Option<&[u8; 32]>,
) -> Key {
    let mut hash = Sha256::new();
    let mut add = |part: &[u8]| {
        hash.update(part.len().to_le_bytes());
        hash.update(part);
    };
    add(&definition.to_le_bytes());
    add(project.as_str().as_bytes());
    add(plan.first.method.as_str().as_bytes());
    add(plan.first.url.as_str().as_bytes());
    add(client.map_or(&[], |client| client.as_slice()));
    add(plan.first.body.as_deref().unwrap_or_default());
    if let Some(secret) = &plan.first.query_secret {
        add(secret.name.as_bytes());
        add(secret.value.expose_secret().as_bytes());
    }
    for (name, value) in &plan.first.headers {
        add(name.as_str().as_bytes());
        add(value.as_bytes());
    }
    hash.finalize().into()
}

/// Whether the upstream lets its answer serve again (RFC 9111 section 5.2.2).
pub(crate) fn may_be_kept(headers: &HeaderMap) -> bool {
    !headers
        .get_all(header::CACHE_CONTROL)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|directive| directive.trim().eq_ignore_ascii_case("no-store"))
}
