//! An upstream that answers when the test says so, so that calls run at the same time in a known order.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::Query;
use axum::http::StatusCode;
use tokio::sync::{mpsc, oneshot};

use crate::support::serve;

type Held = Arc<Mutex<HashMap<String, oneshot::Sender<u16>>>>;

/// Holds requests by their `q` until they are let go.
pub(crate) struct Gate {
    /// `http://127.0.0.1:PORT`
    pub(crate) base: String,
    held: Held,
    arrivals: mpsc::UnboundedReceiver<String>,
}

impl Gate {
    pub(crate) async fn start() -> Self {
        let held = Held::default();
        let (arrived, arrivals) = mpsc::unbounded_channel();
        let inside = Arc::clone(&held);
        let hold = move |Query(query): Query<HashMap<String, String>>| {
            let (held, arrived) = (Arc::clone(&inside), arrived.clone());
            async move {
                let q = query.get("q").cloned().unwrap_or_default();
                let (release, released) = oneshot::channel();
                held.lock().expect("no panic").insert(q.clone(), release);
                let _ended = arrived.send(q.clone());
                let status = released.await.unwrap_or(500);
                (
                    StatusCode::from_u16(status).expect("a status"),
                    axum::Json(serde_json::json!({"q": q})),
                )
            }
        };
        let base = serve(Router::new().fallback(hold)).await;
        Self { base, held, arrivals }
    }

    /// Waits until the next request is held; its `q`.
    pub(crate) async fn arrival(&mut self) -> String {
        self.arrivals.recv().await.expect("the upstream runs")
    }

    /// Whether no further request has arrived.
    pub(crate) fn is_quiet(&mut self) -> bool {
        self.arrivals.try_recv().is_err()
    }

    /// Lets a request go with a status.
    pub(crate) fn release(&self, q: &str, status: u16) {
        let release = self.held.lock().expect("no panic").remove(q).expect("it is held");
        release.send(status).expect("it waits");
    }
}
