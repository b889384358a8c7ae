//! One connection's time limits: for a head to arrive, for being idle, for taking an answer.
//!
//! hyper's own timer would allocate and register again for every request. This stream keeps one timer and looks at it
//! only when there is nothing to read: a request that arrives in one piece never touches it.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http::Version;
use hyper::body::{Body, Frame, SizeHint};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep_until};

/// How an HTTP/2 connection begins.
const PREFACE: &[u8] = b"PRI ";

/// The activity of one connection, as its requests report it.
#[derive(Debug, Default)]
pub(super) struct Activity {
    running: AtomicUsize,
    begun: AtomicU64,
    multiplexed: AtomicBool,
    closing: AtomicBool,
}

impl Activity {
    /// From now on nothing is waited for: a connection without a running request ends when it is polled next.
    pub(super) fn close(&self) {
        self.closing.store(true, Ordering::Relaxed);
    }

    /// Whether no request has begun yet.
    pub(super) fn is_silent(&self) -> bool {
        self.begun.load(Ordering::Relaxed) == 0
    }

    pub(super) fn begin(self: &Arc<Self>, version: Version) -> ActivityGuard {
        if version == Version::HTTP_2 {
            self.multiplexed.store(true, Ordering::Relaxed);
        }
        self.begun.fetch_add(1, Ordering::Relaxed);
        self.running.fetch_add(1, Ordering::Relaxed);
        ActivityGuard(Arc::clone(self))
    }
}

/// One request of a connection, until its answer's body is gone.
#[derive(Debug)]
pub(super) struct ActivityGuard(Arc<Activity>);

impl Drop for ActivityGuard {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What a connection waits for while no request runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wait {
    /// The rest of a head, or the first one.
    Head { begun: u64 },
    /// The next request.
    Next { begun: u64 },
}

/// A TCP stream that fails with `TimedOut` when the client is too slow.
#[derive(Debug)]
pub(super) struct TimedStream {
    tcp: TcpStream,
    activity: Arc<Activity>,
    header_timeout: Duration,
    idle_timeout: Duration,
    /// How many requests had begun when bytes of a further one arrived.
    head_after: Option<u64>,
    waiting: Option<(Wait, Instant)>,
    timer: Option<Pin<Box<Sleep>>>,
    stalled: Option<Pin<Box<Sleep>>>,
}

impl TimedStream {
    pub(super) fn new(
        tcp: TcpStream,
        activity: Arc<Activity>,
        header_timeout: Duration,
        idle_timeout: Duration,
    ) -> Self {
        let (head_after, waiting, timer, stalled) = (None, None, None, None);
        Self {
            tcp,
            activity,
            header_timeout,
            idle_timeout,
            head_after,
            waiting,
            timer,
            stalled,
        }
    }

    /// Notes that bytes came while no request was running: a head has begun.
    fn note_bytes(&mut self, bytes: &[u8]) {
        if self.activity.running.load(Ordering::Relaxed) > 0 {
            return;
        }
        if self.head_after.is_none() && bytes.starts_with(PREFACE) {
            self.activity.multiplexed.store(true, Ordering::Relaxed);
        }
        self.head_after = Some(self.activity.begun.load(Ordering::Relaxed));
    }

    /// Fails when the client has been too slow; otherwise wakes the task when it will have been.
    fn check(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        if self.activity.running.load(Ordering::Relaxed) > 0 {
            self.waiting = None;
            return Ok(());
        }
        let begun = self.activity.begun.load(Ordering::Relaxed);
        // Frames of HTTP/2 need not be heads: only idleness is limited there.
        let multiplexed = self.activity.multiplexed.load(Ordering::Relaxed);
        // HTTP/2 says goodbye by itself, and an answer may still be on its way out.
        if self.activity.closing.load(Ordering::Relaxed) && !multiplexed && self.stalled.is_none() {
            return Err(io::Error::new(
                io::ErrorKind::ConnectionAborted,
                "the server stops",
            ));
        }
        let in_head = !multiplexed && (begun == 0 || self.head_after == Some(begun));
        let wait = if in_head {
            Wait::Head { begun }
        } else {
            Wait::Next { begun }
        };
        let timeout = if in_head {
            self.header_timeout
        } else {
            self.idle_timeout
        };
        let deadline = match self.waiting {
            Some((same, deadline)) if same == wait => deadline,
            _ => {
                let deadline = Instant::now() + timeout;
                self.waiting = Some((wait, deadline));
                deadline
            }
        };
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(deadline)));
        if timer.deadline() > deadline {
            timer.as_mut().reset(deadline);
        }
        // A timer of an earlier wait may end first; then it is set to this one.
        while timer.as_mut().poll(cx).is_ready() {
            if Instant::now() >= deadline {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "the client was too slow"));
            }
            timer.as_mut().reset(deadline);
        }
        Ok(())
    }

    /// The same for a client that does not take its answer.
    fn written<T>(&mut self, cx: &mut Context<'_>, result: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if result.is_ready() {
            self.stalled = None;
            return result;
        }
        let timeout = self.idle_timeout;
        let timer = self
            .stalled
            .get_or_insert_with(|| Box::pin(sleep_until(Instant::now() + timeout)));
        ready!(timer.as_mut().poll(cx));
        Poll::Ready(Err(io::Error::new(
            io::ErrorKind::TimedOut,
            "the client does not take its answer",
        )))
    }
}

impl AsyncRead for TimedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let before = buf.filled().len();
        match Pin::new(&mut this.tcp).poll_read(cx, buf) {
            Poll::Ready(result) => {
                if buf.filled().len() > before {
                    this.note_bytes(&buf.filled()[before..]);
                }
                Poll::Ready(result)
            }
            Poll::Pending => match this.check(cx) {
                Ok(()) => Poll::Pending,
                Err(error) => Poll::Ready(Err(error)),
            },
        }
    }
}

impl AsyncWrite for TimedStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.tcp).poll_write(cx, buf);
        self.written(cx, result)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.tcp).poll_write_vectored(cx, bufs);
        self.written(cx, result)
    }

    fn is_write_vectored(&self) -> bool {
        self.tcp.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.tcp).poll_flush(cx))?;
        // An answer has just gone out, and nothing may ask to read before the next request: idleness begins here.
        Poll::Ready(self.check(cx))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_shutdown(cx)
    }
}

/// A body that keeps something alive until it is gone.
#[derive(Debug)]
pub(super) struct Guarded<G> {
    body: axum::body::Body,
    _guard: G,
}

impl<G> Guarded<G> {
    pub(super) fn new(body: axum::body::Body, guard: G) -> Self {
        Self { body, _guard: guard }
    }
}

impl<G: Unpin> Body for Guarded<G> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
