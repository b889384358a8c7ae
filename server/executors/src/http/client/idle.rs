//! Connections that wait for their next request.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use hyper::client::conn::{http1, http2};
use tokio::time::{Instant, sleep};

use super::{Connection, Content};

/// Connections of HTTP/1 that are kept per origin.
const PER_ORIGIN: usize = 128;
/// How long one is kept.
const KEPT: Duration = Duration::from_secs(60);

/// The idle connections of all origins.
#[derive(Default)]
pub(super) struct Idle {
    origins: Mutex<Origins>,
}

#[derive(Default)]
struct Origins {
    /// By host and port: those without TLS, and those with it.
    connections: [HashMap<Box<str>, Arc<Connections>>; 2],
    /// Whether a task drops what was kept for too long.
    swept: bool,
}

/// The idle connections to an origin.
#[derive(Default)]
pub(super) struct Connections(Mutex<Kept>);

#[derive(Default)]
struct Kept {
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
    /// Those to an origin.
    pub(super) fn to(self: &Arc<Self>, https: bool, authority: &str) -> Arc<Connections> {
        let mut origins = lock(&self.origins);
        if !origins.swept {
            origins.swept = true;
            tokio::spawn(sweep(Arc::downgrade(self)));
        }
        let connections = &mut origins.connections[usize::from(https)];
        match connections.get(authority) {
            Some(found) => Arc::clone(found),
            None => Arc::clone(connections.entry(authority.into()).or_default()),
        }
    }
}

impl Connections {
    /// Finds one.
    pub(super) fn take(&self) -> Found {
        let mut kept = lock(&self.0);
        let now = Instant::now();
        if let Some((sender, used)) = &mut kept.http2 {
            if !sender.is_closed() {
                *used = now;
                return Found::Ready(Connection::Http2(sender.clone()));
            }
            kept.http2 = None;
        }
        // The last ones are the most likely to live still, and those before them may age until they are dropped.
        let mut index = kept.http1.len();
        while index > 0 {
            index -= 1;
            let (sender, since) = &kept.http1[index];
            if sender.is_closed() || now - *since >= KEPT {
                kept.http1.remove(index);
            } else if sender.is_ready() {
                return Found::Ready(Connection::Http1(kept.http1.remove(index).0));
            }
        }
        if kept.http1.is_empty() {
            Found::Nothing
        } else {
            Found::Soon
        }
    }

    /// Keeps one whose answer was read.
    pub(super) fn put(&self, sender: http1::SendRequest<Content>) {
        let mut kept = lock(&self.0);
        kept.http1.push((sender, Instant::now()));
        if kept.http1.len() > PER_ORIGIN {
            kept.http1.remove(0);
        }
    }

    /// Keeps one that all requests share.
    pub(super) fn share(&self, sender: http2::SendRequest<Content>) {
        lock(&self.0).http2 = Some((sender, Instant::now()));
    }

    /// Drops what was kept for too long or is closed; whether anything is left.
    fn sweep(&self, now: Instant) -> bool {
        let mut kept = lock(&self.0);
        kept.http1
            .retain(|(sender, since)| !sender.is_closed() && now - *since < KEPT);
        kept.http2
            .take_if(|(sender, used)| sender.is_closed() || now - *used >= KEPT);
        !kept.http1.is_empty() || kept.http2.is_some()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Drops what is kept for too long, until nothing is left.
async fn sweep(idle: Weak<Idle>) {
    loop {
        sleep(KEPT / 2).await;
        let Some(idle) = idle.upgrade() else { return };
        let mut origins = lock(&idle.origins);
        let now = Instant::now();
        for connections in &mut origins.connections {
            // Whoever holds one may be about to put something in.
            connections.retain(|_, one| one.sweep(now) || Arc::strong_count(one) > 1);
        }
        if origins.connections.iter().all(HashMap::is_empty) {
            origins.swept = false;
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use hyper_util::rt::TokioIo;
    use tokio::io::{AsyncReadExt, DuplexStream, duplex};

    use super::*;

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
        idle.to(false, "a.example").put(sender);
        // The clock goes on by itself: this waits until the connection is closed.
        assert_eq!(far.read(&mut [0]).await.expect("an end"), 0);
        assert!(lock(&idle.origins).connections[0].is_empty());
        assert!(!lock(&idle.origins).swept, "the next one is looked after again");
    }

    #[tokio::test]
    async fn the_last_one_is_taken_first_and_a_closed_one_never() {
        let idle = Connections::default();
        let (first, _first) = connection().await;
        let (second, far) = connection().await;
        let (third, _third) = connection().await;
        for sender in [first, third] {
            idle.put(sender);
        }
        drop(far);
        let mut second = second;
        while second.ready().await.is_ok() {
            tokio::task::yield_now().await;
        }
        idle.put(second);
        assert!(matches!(idle.take(), Found::Ready(_)));
        assert_eq!(lock(&idle.0).http1.len(), 1, "the closed one is gone");
        assert!(matches!(idle.take(), Found::Ready(_)));
        assert!(matches!(idle.take(), Found::Nothing));
    }

    #[tokio::test]
    async fn each_origin_has_its_own() {
        let idle = Arc::new(Idle::default());
        let (sender, _far) = connection().await;
        idle.to(true, "a.example").put(sender);
        for (https, authority) in [(false, "a.example"), (true, "b.example"), (true, "a.example:444")] {
            assert!(
                matches!(idle.to(https, authority).take(), Found::Nothing),
                "{authority}"
            );
        }
        assert!(matches!(idle.to(true, "a.example").take(), Found::Ready(_)));
    }

    #[tokio::test]
    async fn an_origin_keeps_a_bounded_number() {
        let idle = Connections::default();
        let mut far = Vec::new();
        for _ in 0..PER_ORIGIN + 2 {
            let (sender, other) = connection().await;
            far.push(other);
            idle.put(sender);
        }
        assert_eq!(lock(&idle.0).http1.len(), PER_ORIGIN);
    }
}
