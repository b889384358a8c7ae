//! What an HTTP status of an upstream means for the caller.

use std::time::SystemTime;

use http::{HeaderMap, StatusCode, header};
use toolgate_api::ErrorCode;

use crate::failure::Failure;

/// The failure that a status stands for, without the upstream's own words.
pub(crate) fn failure(status: StatusCode, headers: &HeaderMap) -> Failure {
    let number = status.as_u16();
    let (code, what) = match number {
        401 | 403 => (ErrorCode::UpstreamAuth, "refused the credential or its rights"),
        402 => (
            ErrorCode::UpstreamQuota,
            "asks for payment: the account has no credit left",
        ),
        429 => (ErrorCode::UpstreamRateLimited, "asks to slow down"),
        408 | 425 | 500..=599 => (ErrorCode::UpstreamUnavailable, "failed"),
        400..=499 => (ErrorCode::UpstreamRejected, "refused the request"),
        _ => (ErrorCode::UpstreamInvalid, "answered something unexpected"),
    };
    let mut failure = Failure::new(code, format!("the upstream {what} (HTTP {number})"));
    failure.upstream_status = Some(number);
    // These two say that the upstream will never do it, not that it cannot now.
    failure.retryable &= !matches!(number, 501 | 505);
    if matches!(
        code,
        ErrorCode::UpstreamRateLimited | ErrorCode::UpstreamUnavailable
    ) {
        failure.retry_after_s = retry_after(headers, SystemTime::now());
    }
    failure
}

/// Seconds of a `Retry-After` header, which holds seconds or a date (RFC 9110 section 10.2.3). A date is compared with
/// the upstream's own `Date` when it sent one, so that its clock need not agree with `now`.
pub(crate) fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<u32> {
    let text = headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim();
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(text.parse().unwrap_or(u32::MAX));
    }
    let at = httpdate::parse_http_date(text).ok()?;
    let from = headers
        .get(header::DATE)
        .and_then(|date| date.to_str().ok())
        .and_then(|date| httpdate::parse_http_date(date).ok())
        .unwrap_or(now);
    let left = at.duration_since(from).unwrap_or_default();
    Some(u32::try_from(left.as_millis().div_ceil(1000)).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use http::HeaderValue;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(400, ErrorCode::UpstreamRejected, false)]
    #[case(401, ErrorCode::UpstreamAuth, false)]
    #[case(402, ErrorCode::UpstreamQuota, false)]
    #[case(403, ErrorCode::UpstreamAuth, false)]
    #[case(404, ErrorCode::UpstreamRejected, false)]
    #[case(405, ErrorCode::UpstreamRejected, false)]
    #[case(408, ErrorCode::UpstreamUnavailable, true)]
    #[case(409, ErrorCode::UpstreamRejected, false)]
    #[case(410, ErrorCode::UpstreamRejected, false)]
    #[case(413, ErrorCode::UpstreamRejected, false)]
    #[case(422, ErrorCode::UpstreamRejected, false)]
    #[case(425, ErrorCode::UpstreamUnavailable, true)]
    #[case(429, ErrorCode::UpstreamRateLimited, true)]
    #[case(451, ErrorCode::UpstreamRejected, false)]
    #[case(500, ErrorCode::UpstreamUnavailable, true)]
    #[case(501, ErrorCode::UpstreamUnavailable, false)]
    #[case(503, ErrorCode::UpstreamUnavailable, true)]
    #[case(505, ErrorCode::UpstreamUnavailable, false)]
    #[case(304, ErrorCode::UpstreamInvalid, false)]
    fn statuses(#[case] status: u16, #[case] code: ErrorCode, #[case] retryable: bool) {
        let failure = failure(StatusCode::from_u16(status).expect("a status"), &HeaderMap::new());
        assert_eq!(
            (failure.code, failure.retryable, failure.upstream_status),
            (code, retryable, Some(status))
        );
    }

    #[rstest]
    #[case::seconds("120", None, Some(120))]
    #[case::zero("0", None, Some(0))]
    #[case::huge("99999999999999", None, Some(u32::MAX))]
    #[case::date("Sun, 06 Nov 1994 08:49:47 GMT", None, Some(10))]
    #[case::past_date("Sun, 06 Nov 1994 08:00:00 GMT", None, Some(0))]
    #[case::date_of_another_clock(
        "Sat, 06 Nov 2094 08:49:47 GMT",
        Some("Sat, 06 Nov 2094 08:49:40 GMT"),
        Some(7)
    )]
    #[case::negative("-5", None, None)]
    #[case::words("soon", None, None)]
    #[case::empty("", None, None)]
    fn retry_after_forms(#[case] value: &str, #[case] date: Option<&str>, #[case] expected: Option<u32>) {
        let mut headers = HeaderMap::new();
        headers.insert(
            header::RETRY_AFTER,
            HeaderValue::from_str(value).expect("a value"),
        );
        if let Some(date) = date {
            headers.insert(header::DATE, HeaderValue::from_str(date).expect("a value"));
        }
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        assert_eq!(retry_after(&headers, now), expected);
    }
}
