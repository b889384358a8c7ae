//! Connections that wait for their next request.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use hyper::client::conn::{http1, http2};
use tokio::time::{Instant, sleep};

use super::{Connection, Content, Origin};

/// Connections of HTTP/1 that are kept per origin.
const PER_ORIGIN: usize = 128;
/// How long one is kept.
const KEPT: Duration = Duration::from_secs(60);

/// The idle connections of all origins.
#[derive(Default)]
pub(super) struct Idle {
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    origins: HashMap<Origin, Connections>,
    /// Whether a task drops what was kept for too long.
    swept: bool,
}

/// The connections to an origin.
#[derive(Default)]
struct Connections {
    /// Each waits for a request, or will in a moment, since when. The last one was used last.
    http1: Vec<(http1::SendRequest<Content>, Instant)>,
    /// The one that all requests share, and when it was taken last.
    http2: Option<(http2::SendRequest<Content>, Instant)>,
}

/// What there is for a request.
pub(super) enum Found {
    /// A connection that can take it now.
    Ready(Connection),
    /// One whose own task has yet to notice that its last answer was read.
    Soon,
    Nothing,
}

impl Idle {
    /// Finds a connection.
    pub(super) fn take(&self, origin: &Origin) -> Found {
        self.lock()
            .origins
            .get_mut(origin)
            .map_or(Found::Nothing, Connections::take)
    }

    /// Keeps one whose answer was read.
    pub(super) fn put(self: &Arc<Self>, origin: &Origin, sender: http1::SendRequest<Content>) {
        let dropped = self.at(origin, |connections| {
            connections.http1.push((sender, Instant::now()));
            (connections.http1.len() > PER_ORIGIN).then(|| connections.http1.remove(0))
        });
        drop(dropped);
    }

    /// Keeps one that all requests share.
    pub(super) fn share(self: &Arc<Self>, origin: &Origin, sender: &http2::SendRequest<Content>) {
        let shared = Some((sender.clone(), Instant::now()));
        let dropped = self.at(origin, |connections| {
            std::mem::replace(&mut connections.http2, shared)
        });
        drop(dropped);
    }

    fn at<T>(self: &Arc<Self>, origin: &Origin, change: impl FnOnce(&mut Connections) -> T) -> T {
        let mut kept = self.lock();
        if !kept.swept {
            kept.swept = true;
            tokio::spawn(sweep(Arc::downgrade(self)));
        }
        match kept.origins.get_mut(origin) {
            Some(connections) => change(connections),
            None => change(kept.origins.entry(origin.clone()).or_default()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Connections {
    fn take(&mut self) -> Found {
        let now = Instant::now();
        if let Some((sender, used)) = &mut self.http2 {
            if !sender.is_closed() {
                *used = now;
                return Found::Ready(Connection::Http2(sender.clone()));
            }
            self.http2 = None;
        }
        // The last ones are the most likely to live still, and those before them may age until they are dropped.
        let mut index = self.http1.len();
        while index > 0 {
            index -= 1;
            let (sender, since) = &self.http1[index];
            if sender.is_closed() || now - *since >= KEPT {
                self.http1.remove(index);
            } else if sender.is_ready() {
                return Found::Ready(Connection::Http1(self.http1.remove(index).0));
            }
        }
        if self.http1.is_empty() {
            Found::Nothing
        } else {
            Found::Soon
        }
    }

    /// Drops what was kept for too long or is closed; whether anything is left.
    fn sweep(&mut self, now: Instant) -> bool {
        self.http1
            .retain(|(sender, since)| !sender.is_closed() && now - *since < KEPT);
        self.http2 = self
            .http2
            .take()
            .filter(|(sender, used)| !sender.is_closed() && now - *used < KEPT);
        !self.http1.is_empty() || self.http2.is_some()
    }
}

/// Drops what is kept for too long, until nothing is left.
async fn sweep(idle: Weak<Idle>) {
    loop {
        sleep(KEPT / 2).await;
        let Some(idle) = idle.upgrade() else { return };
        let mut kept = idle.lock();
        let now = Instant::now();
        kept.origins.retain(|_, connections| connections.sweep(now));
        if kept.origins.is_empty() {
            kept.swept = false;
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use http::uri::Authority;
    use hyper_util::rt::TokioIo;
    use tokio::io::{AsyncReadExt, DuplexStream, duplex};

    use super::*;

    fn origin() -> Origin {
        Origin {
            https: false,
            authority: Authority::from_static("a.example"),
        }
    }

    async fn connection() -> (http1::SendRequest<Content>, DuplexStream) {
        let (near, far) = duplex(64);
        let (mut sender, connection) = http1::handshake(TokioIo::new(near)).await.expect("a handshake");
        tokio::spawn(connection);
        sender.ready().await.expect("an open connection");
        (sender, far)
    }

    #[tokio::test(start_paused = true)]
    async fn what_nobody_takes_is_closed_after_a_while() {
        let idle = Arc::new(Idle::default());
        let (sender, mut far) = connection().await;
        idle.put(&origin(), sender);
        // The clock goes on by itself: this waits until the connection is closed.
        assert_eq!(far.read(&mut [0]).await.expect("an end"), 0);
        assert!(idle.lock().origins.is_empty());
        assert!(matches!(idle.take(&origin()), Found::Nothing));
        assert!(!idle.lock().swept, "the next one is looked after again");
    }

    #[tokio::test]
    async fn the_last_one_is_taken_first_and_a_closed_one_never() {
        let idle = Arc::new(Idle::default());
        let (first, _first) = connection().await;
        let (second, far) = connection().await;
        let (third, _third) = connection().await;
        for sender in [first, third] {
            idle.put(&origin(), sender);
        }
        drop(far);
        let mut second = second;
        while second.ready().await.is_ok() {
            tokio::task::yield_now().await;
        }
        idle.put(&origin(), second);
        assert!(matches!(idle.take(&origin()), Found::Ready(_)));
        assert_eq!(
            idle.lock().origins[&origin()].http1.len(),
            1,
            "the closed one is gone"
        );
        assert!(matches!(idle.take(&origin()), Found::Ready(_)));
        assert!(matches!(idle.take(&origin()), Found::Nothing));
    }

    #[tokio::test]
    async fn an_origin_keeps_a_bounded_number() {
        let idle = Arc::new(Idle::default());
        let mut far = Vec::new();
        for _ in 0..PER_ORIGIN + 2 {
            let (sender, other) = connection().await;
            far.push(other);
            idle.put(&origin(), sender);
        }
        assert_eq!(idle.lock().origins[&origin()].http1.len(), PER_ORIGIN);
    }
}
