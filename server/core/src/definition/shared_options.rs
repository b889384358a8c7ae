//! Options of tools of several types: `retry`, `breaker`, `concurrency`, `cache` and `result`.
//!
//! `options.http` may have them too, where they were before other types had them.

use toolgate_api::tool_types::SHARED_OPTIONS;

use super::http::{resilience, result};
use super::model::{HttpOptions, Options};
use super::node::Cursor;
use super::report::Report;

/// Reads those in `options`; everything else of what is returned is empty. `http` is what `options.http` says.
pub(super) fn read(options: &Cursor<'_>, http: Option<&HttpOptions>, report: &mut Report) -> Options {
    let in_http = options.get("http");
    for field in SHARED_OPTIONS {
        let there = in_http.as_ref().and_then(|http| http.get(field.name));
        if let (Some(at), Some(_)) = (options.get(field.name), there) {
            report.error(
                &at.spot,
                format!(
                    "options.{0} and options.http.{0} are two places of one thing",
                    field.name
                ),
                format!("keep options.{}", field.name),
            );
        }
    }
    if in_http.is_none() {
        of_http_only(options, report);
    }
    let method = http.and_then(|http| http.method.as_deref());
    Options {
        retry: resilience::retry(options, method, report).map(Box::new),
        breaker: resilience::breaker(options, report),
        concurrency: resilience::concurrency(options, report),
        cache: resilience::cache(options, method, report),
        result: options
            .get("result")
            .and_then(|at| result::read(&at, report))
            .map(Box::new),
        ..Options::default()
    }
}

/// Reports keys that say something about an HTTP request where there is none of the tool's own.
fn of_http_only(options: &Cursor<'_>, report: &mut Report) {
    for (key, inner) in [("retry", "idempotency_header"), ("result", "accept")] {
        let at = options
            .get(key)
            .filter(Cursor::is_map)
            .and_then(|outer| outer.get(inner));
        if let Some(at) = at {
            report.error(
                &at.spot,
                format!("{inner:?} belongs to tools with options.http only"),
                "remove it",
            );
        }
    }
}
