//! Answers that serve further calls (`cache`).
//!
//! The key is everything that would be sent, with its credential, and the definition it is made from: what differs in any
//! of these, such as a caller's name among the arguments, never shares an answer. Calls that would send the same
//! request at the same time wait for one.

use std::sync::Arc;
use std::time::Duration;

use moka::Expiry;
use moka::future::Cache;
use sha2::{Digest, Sha256};
use toolgate_core::ids::ProjectId;

use crate::executor::{Key, Reply};
use crate::failure::Failure;
use crate::guard::Uses;
use crate::invocation::Execution;

/// Bytes of all answers together.
const MAX_BYTES: u64 = 64 * 1024 * 1024;
/// Bytes of one answer; larger ones are not kept.
const MAX_ANSWER: usize = 4 * 1024 * 1024;
/// What an entry costs beside its answer.
const OVERHEAD: usize = 256;

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
        fetch: impl Future<Output = Result<Reply, Failure>>,
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

/// The key of a call. `tool` is another number for another revision of a tool; `sent` is what its executor would send.
pub(crate) fn key(tool: u64, project: &ProjectId, sent: &Key) -> Key {
    let mut hash = Sha256::new();
    hash.update(tool.to_le_bytes());
    hash.update(sent);
    hash.update(project.as_str());
    hash.finalize().into()
}
