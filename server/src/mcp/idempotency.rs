//! The idempotency key of a call: in its header, or in `_meta` for clients that cannot send a header with each call.

use axum::http::HeaderMap;
use serde_json::Value;
use toolgate_api::ErrorCode;

use crate::api::calls::idempotency_key;
use crate::gateway::Problem;
use crate::gateway::call::{KeyText, unusable_key};

/// The key of a request; `in_meta` is `toolgate/idempotency_key`.
///
/// # Errors
/// `malformed_request` when it cannot be used, or when there are two.
pub(super) fn key(headers: &HeaderMap, in_meta: Option<&Value>) -> Result<Option<KeyText>, Problem> {
    let header = idempotency_key(headers)?;
    let Some(in_meta) = in_meta else {
        return Ok(header);
    };
    let key = in_meta.as_str().and_then(KeyText::parse);
    let key = key.ok_or_else(|| unusable_key("`toolgate/idempotency_key` in `_meta`"))?;
    match header {
        Some(header) if header != key => Err(Problem::new(
            ErrorCode::MalformedRequest,
            "`Idempotency-Key` and `toolgate/idempotency_key` in `_meta` are different keys. Send one of them.",
        )),
        _ => Ok(Some(key)),
    }
}
