//! Files that callers give by their address.

use std::sync::Arc;

use serde_json::{Map, Value};
use tokio::sync::SemaphorePermit;
use tokio::time::Instant;

use super::{Executors, QUEUE_FOR, left_alone, place};
use crate::egress::Origins;
use crate::failure::Failure;
use crate::guard::{Slot, retry_after_s};
use crate::http::files;
use crate::prepared::{Prepared, Template};

/// Calls with such files at the same time: each may hold as many bytes as an answer may have, several times.
pub(super) const AT_ONCE: usize = 16;

impl Executors {
    /// Fetches them, and puts their content into the arguments. What is returned is to be held until the call has ended;
    /// `None` when there is no such file.
    pub(super) async fn fetch_files<'a>(
        &'a self,
        slot: &Slot,
        prepared: &Prepared,
        template: &Template,
        arguments: &mut Map<String, Value>,
        origins: Option<Arc<Origins>>,
        start: Instant,
    ) -> Result<Option<SemaphorePermit<'a>>, Failure> {
        let linked = template.linked_files(arguments);
        if linked.is_empty() {
            return Ok(None);
        }
        // There is no use in fetching what will not be sent.
        if let Some(left) = slot.breaker.open_for(start).filter(|left| !left.is_zero()) {
            return Err(left_alone(retry_after_s(left)));
        }
        let deadline = start + prepared.timeout;
        let place = place(&self.files, deadline.min(start + QUEUE_FOR), "tools with files").await?;
        let limit = self.config.max_response_bytes;
        files::resolve(&self.sender, linked, origins, limit, deadline).await?;
        Ok(Some(place))
    }
}
