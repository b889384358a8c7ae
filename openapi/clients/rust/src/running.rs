//! What a process runs at the same time.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::AbortHandle;

/// The calls that run, bounded in number.
#[derive(Clone)]
pub(crate) struct Running {
    places: Arc<Semaphore>,
    most: u32,
    calls: Arc<Mutex<HashMap<String, AbortHandle>>>,
}

impl Running {
    pub(crate) fn new(most: u32) -> Self {
        Self {
            places: Arc::new(Semaphore::new(usize::try_from(most).unwrap_or(usize::MAX))),
            most,
            calls: Arc::default(),
        }
    }

    /// Waits for a place.
    pub(crate) async fn place(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.places).acquire_owned().await.ok()
    }

    /// Runs a call in its place.
    pub(crate) fn start(
        &self,
        id: String,
        place: OwnedSemaphorePermit,
        call: impl Future<Output = ()> + Send + 'static,
    ) {
        let calls = Arc::clone(&self.calls);
        let name = id.clone();
        // The entry is made before the call can end.
        let mut entries = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        let task = tokio::spawn(async move {
            let _place = place;
            let _entry = Entry { calls, name };
            call.await;
        });
        entries.insert(id, task.abort_handle());
    }

    /// Ends a call; nothing when it does not run here.
    pub(crate) fn cancel(&self, id: &str) {
        let calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(call) = calls.get(id) {
            call.abort();
        }
    }

    /// Waits until nothing runs.
    pub(crate) async fn finished(&self) {
        let _all = self.places.acquire_many(self.most).await;
    }
}

/// A call's entry, which goes with the call however it ends.
struct Entry {
    calls: Arc<Mutex<HashMap<String, AbortHandle>>>,
    name: String,
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.calls
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&self.name);
    }
}
