//! Calls whose answers may come after this process has ended.

use std::fmt::Debug;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use serde_json::Value;
use uuid::Uuid;

use crate::bus::LargeCards;
use crate::failure::Failure;

/// Where a call is noted that any server of the same database can complete.
#[async_trait]
pub trait Ledger: LargeCards + Debug {
    /// The id of the call's project, which is never used again.
    fn project(&self) -> Uuid;

    /// Notes durably that the answer comes within a time, and what the executor needs to recognize it. An executor waits for
    /// this before it sends anything.
    ///
    /// # Errors
    /// When it could not be noted: nothing may be sent.
    async fn defer(&self, within: Duration, awaited: Value) -> Result<(), Failure>;

    /// Keeps a card that no message of the bus carries, for as long as cards are kept; answers with the id of its artifact.
    ///
    /// # Errors
    /// When it could not be kept.
    async fn keep_card(&self, card: Bytes) -> Result<Uuid, Failure>;
}
