//! The body of an answer.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::client::conn::http1;

use super::Content;
use super::idle::Connections;

/// A body that is read as it arrives. At its end its connection becomes idle; dropped before, it closes it.
pub(crate) struct Received {
    body: Incoming,
    /// A connection that serves this request alone, and where it goes afterwards.
    lease: Option<(http1::SendRequest<Content>, Arc<Connections>)>,
}

impl Received {
    /// Over a connection that serves this request alone.
    pub(super) fn leased(
        body: Incoming,
        sender: http1::SendRequest<Content>,
        idle: Arc<Connections>,
    ) -> Self {
        let mut received = Self {
            body,
            lease: Some((sender, idle)),
        };
        received.release_at_end();
        received
    }

    /// Over a connection that serves other requests too.
    pub(super) const fn shared(body: Incoming) -> Self {
        Self { body, lease: None }
    }

    fn release_at_end(&mut self) {
        if self.body.is_end_stream() {
            self.release();
        }
    }

    fn release(&mut self) {
        if let Some((sender, idle)) = self.lease.take() {
            idle.put(sender);
        }
    }
}

impl Body for Received {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<hyper::Result<Frame<Bytes>>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        match &frame {
            Some(Ok(_)) => self.release_at_end(),
            // A connection that broke off has closed itself and is not taken again.
            Some(Err(_)) => self.lease = None,
            None => self.release(),
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
