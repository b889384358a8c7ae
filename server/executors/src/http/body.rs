//! Reading an answer's body without trusting its size.

use std::io::Read;

use bytes::{Bytes, BytesMut};
use flate2::read::MultiGzDecoder;
use http::{HeaderMap, Response, header};
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use toolgate_api::ErrorCode;

use super::parts::Watch;
use super::send::Answer;
use crate::failure::Failure;

/// How much of an error's body is read; more than enough for what people write into errors.
const ERROR_BYTES: usize = 64 * 1024;
/// Larger compressed bodies are inflated off the async threads.
const INFLATE_INLINE: usize = 32 * 1024;

/// Reads and decompresses the body. An error status keeps its status even when its body is too large or broken.
///
/// # Errors
/// `upstream_invalid` when it is larger than `limit` bytes before or after decompression, or wrongly encoded;
/// `upstream_unavailable` when the connection broke off.
pub(crate) async fn read(response: Response<Incoming>, limit: usize) -> Result<Answer, Failure> {
    read_watched(response, limit, None).await
}

/// The same, while something looks at the bytes as they come.
///
/// # Errors
/// As [`read`].
pub(super) async fn read_watched(
    response: Response<Incoming>,
    limit: usize,
    mut watch: Option<Watch<'_>>,
) -> Result<Answer, Failure> {
    let (head, body) = response.into_parts();
    let is_error = head.status.is_client_error() || head.status.is_server_error();
    let limit = if is_error { limit.min(ERROR_BYTES) } else { limit };
    let read = async {
        let raw = collect(body, limit, watch.as_mut()).await?;
        decode(raw, &head.headers, limit).await
    };
    let body = match read.await {
        Ok(body) => body,
        Err(_) if is_error => Bytes::new(),
        Err(failure) => {
            return Err(Failure {
                upstream_status: Some(head.status.as_u16()),
                ..failure
            });
        }
    };
    Ok(Answer {
        status: head.status,
        headers: head.headers,
        body,
    })
}

async fn collect(
    mut body: Incoming,
    limit: usize,
    mut watch: Option<&mut Watch<'_>>,
) -> Result<Bytes, Failure> {
    if body.size_hint().lower() > limit as u64 {
        return Err(too_large(limit));
    }
    let mut first: Option<Bytes> = None;
    let mut all = BytesMut::new();
    let mut len = 0;
    // Its end need not be waited for where its length says that it is complete.
    while !body.is_end_stream() {
        let Some(frame) = body.frame().await else { break };
        let frame = frame.map_err(|_| {
            Failure::new(
                ErrorCode::UpstreamUnavailable,
                "the upstream's answer broke off before its end",
            )
        })?;
        let Ok(data) = frame.into_data() else { continue };
        if let Some(watch) = &mut watch {
            watch.saw(&data);
        }
        len += data.len();
        if len > limit {
            return Err(too_large(limit));
        }
        // Most answers are one frame, which need not be copied.
        match first.take() {
            None if all.is_empty() => first = Some(data),
            None => all.extend_from_slice(&data),
            Some(before) => {
                all.extend_from_slice(&before);
                all.extend_from_slice(&data);
            }
        }
    }
    Ok(first.unwrap_or_else(|| all.freeze()))
}

async fn decode(raw: Bytes, headers: &HeaderMap, limit: usize) -> Result<Bytes, Failure> {
    let encodings: Vec<String> = headers
        .get_all(header::CONTENT_ENCODING)
        .iter()
        .flat_map(|value| value.to_str().unwrap_or("?").split(','))
        .map(|encoding| encoding.trim().to_ascii_lowercase())
        .filter(|encoding| !encoding.is_empty() && encoding != "identity")
        .collect();
    match encodings.as_slice() {
        [] => Ok(raw),
        // Answers without a body may still name the encoding that a body would have had.
        _ if raw.is_empty() => Ok(raw),
        [one] if one == "gzip" || one == "x-gzip" => {
            if raw.len() <= INFLATE_INLINE {
                return inflate(&raw, limit);
            }
            tokio::task::spawn_blocking(move || inflate(&raw, limit))
                .await
                .unwrap_or_else(|_| Err(Failure::new(ErrorCode::Internal, "decompressing was interrupted")))
        }
        _ => Err(Failure::new(
            ErrorCode::UpstreamInvalid,
            "the upstream's answer has a content encoding other than gzip, which was not asked for",
        )),
    }
}

fn inflate(raw: &[u8], limit: usize) -> Result<Bytes, Failure> {
    let mut plain = Vec::with_capacity(raw.len().saturating_mul(4).min(limit));
    let mut reader = MultiGzDecoder::new(raw).take(limit as u64 + 1);
    reader.read_to_end(&mut plain).map_err(|_| {
        Failure::new(
            ErrorCode::UpstreamInvalid,
            "the upstream's answer says it is gzip and is not, or breaks off",
        )
    })?;
    if plain.len() > limit {
        return Err(too_large(limit));
    }
    Ok(plain.into())
}

fn too_large(limit: usize) -> Failure {
    Failure::new(
        ErrorCode::UpstreamInvalid,
        format!("the upstream's answer is larger than {limit} bytes"),
    )
}
