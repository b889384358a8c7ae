//! How much body a request may have, and how long it may take to arrive.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::body::Body;
use http::{HeaderMap, header};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Body as _;
use tower_http::timeout::{DeadlineBody, TimeoutError};

/// Why a body was not read to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BodyFault {
    /// More bytes than the limit.
    TooLarge,
    /// It did not arrive in time.
    TooSlow,
}

/// The fault of a body, for the layer around the handler: a handler only sees that reading failed.
#[derive(Debug, Clone, Default)]
pub(super) struct FaultCell(Arc<OnceLock<BodyFault>>);

impl FaultCell {
    pub(super) fn get(&self) -> Option<BodyFault> {
        self.0.get().copied()
    }

    fn note(&self, error: &axum::BoxError) {
        let fault = if error.is::<LengthLimitError>() {
            BodyFault::TooLarge
        } else if error.is::<TimeoutError>() {
            BodyFault::TooSlow
        } else {
            return;
        };
        let _ = self.0.set(fault);
    }
}

/// Whether a request says itself that its body is too large.
pub(super) fn declares_too_much(headers: &HeaderMap, limit: usize) -> bool {
    let declared = headers
        .get(header::CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    declared.is_some_and(|length| length > limit as u64)
}

/// Bounds a body, if there is one.
pub(super) fn bound(body: &mut Body, limit: usize, timeout: Duration) -> FaultCell {
    let fault = FaultCell::default();
    if !body.is_end_stream() {
        let noted = fault.clone();
        let bounded = Limited::new(DeadlineBody::new(timeout, std::mem::take(body)), limit);
        *body = Body::new(bounded.map_err(move |error| {
            noted.note(&error);
            error
        }));
    }
    fault
}
