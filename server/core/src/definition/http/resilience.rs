//! How an upstream is treated: tries, pauses, calls at a time, and answers that serve again.

use toolgate_api::tool_types::{BREAKER, CACHE, RETRY};

use crate::definition::destination;
use crate::definition::fields;
use crate::definition::model::{HttpBreaker, HttpCache, HttpRetry};
use crate::definition::node::{Cursor, Data};
use crate::definition::report::{Report, listed};

/// What may be tried again after.
const STATUSES: [i64; 8] = [408, 409, 425, 429, 500, 502, 503, 504];
/// Methods whose repetition changes nothing more (RFC 9110 section 9.2.2).
const IDEMPOTENT: [&str; 6] = ["GET", "HEAD", "OPTIONS", "QUERY", "PUT", "DELETE"];
/// Methods that change nothing (RFC 9110 section 9.2.1).
const SAFE: [&str; 4] = ["GET", "HEAD", "OPTIONS", "QUERY"];
const MAX_ATTEMPTS: i64 = 6;
const MAX_BACKOFF_MS: i64 = 10_000;

/// Reads `retry`.
pub(in crate::definition) fn retry(
    options: &Cursor<'_>,
    method: Option<&str>,
    report: &mut Report,
) -> Option<HttpRetry> {
    let cursor = options.get("retry")?;
    if !fields::map(&cursor, "retry", report) {
        return None;
    }
    fields::known_fields(&cursor, RETRY, "retry", report);
    let Some(attempts) = cursor.get("attempts") else {
        report.error(
            &cursor.spot,
            "retry has no \"attempts\"",
            "write attempts: 3, or attempts: 1 for a single try",
        );
        return None;
    };
    let attempts = count(&attempts, "attempts", MAX_ATTEMPTS, report)?;
    let on = cursor.get("on").and_then(|at| statuses(&at, report));
    let backoff_ms = cursor
        .get("backoff_ms")
        .and_then(|at| fields::integer(&at, "backoff_ms", 1, MAX_BACKOFF_MS, report))
        .and_then(|pause| u64::try_from(pause).ok());
    let header = cursor.get("idempotency_header").and_then(|at| {
        let name = fields::word(&at, "idempotency_header", 128, report)?;
        destination::header_name(&name, &at.spot, report).then_some(name)
    });
    if attempts > 1
        && cursor.get("idempotency_header").is_none()
        && !IDEMPOTENT.contains(&method.unwrap_or("GET"))
    {
        report.error(
            &cursor.spot,
            format!(
                "a {} that is sent twice may act twice",
                method.unwrap_or_default()
            ),
            "name the header by which the upstream knows a repetition: idempotency_header: Idempotency-Key",
        );
    }
    Some(HttpRetry {
        attempts,
        on,
        backoff_ms,
        idempotency_header: header,
    })
}

fn statuses(cursor: &Cursor<'_>, report: &mut Report) -> Option<Vec<u16>> {
    if !matches!(cursor.node.data, Data::List(_)) {
        report.error(
            &cursor.spot,
            format!("\"on\" must be a list of statuses, not {}", cursor.node.kind()),
            "write [502, 503]",
        );
        return None;
    }
    let mut statuses = Vec::new();
    for item in cursor.items() {
        let status = fields::integer(&item, "on", 100, 599, report)?;
        if !STATUSES.contains(&status) {
            report.error(
                &item.spot,
                format!("trying again does not help after {status}"),
                format!(
                    "statuses are {}",
                    listed(STATUSES.map(|status| status.to_string()))
                ),
            );
            return None;
        }
        let status = u16::try_from(status).ok()?;
        if !statuses.contains(&status) {
            statuses.push(status);
        }
    }
    Some(statuses)
}

/// Reads `breaker`.
pub(in crate::definition) fn breaker(options: &Cursor<'_>, report: &mut Report) -> Option<HttpBreaker> {
    let cursor = options.get("breaker")?;
    if !fields::map(&cursor, "breaker", report) {
        return None;
    }
    fields::known_fields(&cursor, BREAKER, "breaker", report);
    Some(HttpBreaker {
        failures: cursor
            .get("failures")
            .and_then(|at| count(&at, "failures", 1000, report)),
        open_s: cursor
            .get("open_s")
            .and_then(|at| count(&at, "open_s", 3600, report)),
    })
}

/// Reads `concurrency`.
pub(in crate::definition) fn concurrency(options: &Cursor<'_>, report: &mut Report) -> Option<u32> {
    options
        .get("concurrency")
        .and_then(|at| count(&at, "concurrency", 1000, report))
}

/// Reads `cache`.
pub(in crate::definition) fn cache(
    options: &Cursor<'_>,
    method: Option<&str>,
    report: &mut Report,
) -> Option<HttpCache> {
    let cursor = options.get("cache")?;
    if !fields::map(&cursor, "cache", report) {
        return None;
    }
    fields::known_fields(&cursor, CACHE, "cache", report);
    if !SAFE.contains(&method.unwrap_or("GET")) {
        report.error(
            &cursor.spot,
            "only the answers of methods that change nothing can serve again",
            format!("methods are {}", listed(SAFE)),
        );
    }
    let Some(at) = cursor.get("ttl_s") else {
        report.error(&cursor.spot, "cache has no \"ttl_s\"", "write ttl_s: 60");
        return None;
    };
    count(&at, "ttl_s", 86_400, report).map(|ttl_s| HttpCache { ttl_s })
}

fn count(cursor: &Cursor<'_>, key: &str, most: i64, report: &mut Report) -> Option<u32> {
    fields::integer(cursor, key, 1, most, report).and_then(|count| u32::try_from(count).ok())
}
