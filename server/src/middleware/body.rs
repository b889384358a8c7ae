//! How much body a request may have, and how long it may take to arrive.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use bytes::{Buf, Bytes};
use http::{HeaderMap, header};
use hyper::body::{Body as _, Frame, SizeHint};
use thiserror::Error;
use tokio::time::{Instant, Sleep, sleep_until};

/// Why a body was not read to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum BodyFault {
    /// More bytes than the limit.
    #[error("the body is too large")]
    TooLarge,
    /// It did not arrive in time.
    #[error("the body did not arrive in time")]
    TooSlow,
}

/// Where the fault of a body is left, for whoever answers: handlers only see that reading failed.
#[derive(Debug, Clone, Default)]
pub(super) struct FaultCell(Arc<AtomicU8>);

impl FaultCell {
    fn set(&self, fault: BodyFault) {
        self.0.store(1 + fault as u8, Ordering::Relaxed);
    }

    pub(super) fn get(&self) -> Option<BodyFault> {
        match self.0.load(Ordering::Relaxed) {
            0 => None,
            1 => Some(BodyFault::TooLarge),
            _ => Some(BodyFault::TooSlow),
        }
    }
}

/// Whether a request says itself that its body is too large.
pub(super) fn declares_too_much(headers: &HeaderMap, limit: usize) -> bool {
    let declared = headers
        .get(header::CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    declared.is_some_and(|length| length > limit as u64)
}

/// Bounds a body; `None` when there is none to bound.
pub(super) fn bound(body: &mut Body, limit: usize, timeout: Duration) -> Option<FaultCell> {
    if body.is_end_stream() {
        return None;
    }
    let fault = FaultCell::default();
    let inner = std::mem::take(body);
    let deadline = Instant::now() + timeout;
    *body = Body::new(Bounded {
        inner,
        left: limit,
        deadline,
        timer: None,
        fault: fault.clone(),
    });
    Some(fault)
}

struct Bounded {
    inner: Body,
    left: usize,
    deadline: Instant,
    /// Only made when the body has to be waited for.
    timer: Option<Pin<Box<Sleep>>>,
    fault: FaultCell,
}

impl Bounded {
    fn fail(&self, fault: BodyFault) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        self.fault.set(fault);
        Poll::Ready(Some(Err(axum::Error::new(fault))))
    }
}

impl hyper::body::Body for Bounded {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = &mut *self;
        match Pin::new(&mut this.inner).poll_frame(cx) {
            Poll::Ready(Some(Ok(frame))) => {
                match this.left.checked_sub(frame.data_ref().map_or(0, Buf::remaining)) {
                    Some(left) => this.left = left,
                    None => return this.fail(BodyFault::TooLarge),
                }
                // One that trickles in may always have something ready.
                if this.timer.is_some() && Instant::now() >= this.deadline {
                    return this.fail(BodyFault::TooSlow);
                }
                Poll::Ready(Some(Ok(frame)))
            }
            // It is all there, and its end is told in a moment.
            Poll::Pending if this.inner.is_end_stream() => Poll::Pending,
            Poll::Pending => {
                let deadline = this.deadline;
                let timer = this.timer.get_or_insert_with(|| Box::pin(sleep_until(deadline)));
                match timer.as_mut().poll(cx) {
                    Poll::Ready(()) => this.fail(BodyFault::TooSlow),
                    Poll::Pending => Poll::Pending,
                }
            }
            ended => ended,
        }
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
