//! `options.http.result`: what becomes of an answer.

use super::fields;
use super::model::HttpResult;
use super::node::{Cursor, Data};
use super::report::{Report, shown};
use super::request_fields::media_type;
use crate::selector::Selector;

const KEYS: [&str; 4] = ["accept", "select", "next", "max_bytes"];
/// Media types to ask for.
const MAX_ACCEPT: usize = 10;
const LEAST_BYTES: i64 = 100;
const MOST_BYTES: i64 = 10 << 20;

/// Reads it.
pub(super) fn read(cursor: &Cursor<'_>, report: &mut Report) -> Option<HttpResult> {
    if !fields::map(cursor, "result", report) {
        return None;
    }
    fields::known_keys(cursor, &KEYS, "result", report);
    Some(HttpResult {
        accept: cursor
            .get("accept")
            .map_or_else(Vec::new, |at| accept(&at, report)),
        select: path(cursor, "select", report),
        next: path(cursor, "next", report),
        max_bytes: cursor
            .get("max_bytes")
            .and_then(|at| fields::integer(&at, "max_bytes", LEAST_BYTES, MOST_BYTES, report))
            .and_then(|bytes| u64::try_from(bytes).ok()),
    })
}

fn accept(cursor: &Cursor<'_>, report: &mut Report) -> Vec<String> {
    if !matches!(cursor.node.data, Data::List(_)) {
        report.error(
            &cursor.spot,
            format!("\"accept\" must be a list, not {}", cursor.node.kind()),
            "write [application/json]",
        );
    }
    if cursor.items().count() > MAX_ACCEPT {
        report.error(&cursor.spot, format!("more than {MAX_ACCEPT} media types"), "");
    }
    cursor
        .items()
        .take(MAX_ACCEPT)
        .filter_map(|item| media_type(&item, "accept", report))
        .collect()
}

fn path(cursor: &Cursor<'_>, key: &str, report: &mut Report) -> Option<String> {
    let at = cursor.get(key)?;
    let text = fields::string(&at, key, report)?;
    match Selector::parse(&text) {
        Ok(_) => Some(text),
        Err(why) => {
            report.error(
                &at.spot,
                format!("{} is not a JSONPath that can be used: {why}", shown(&text)),
                "write $.items[*].name, for example (RFC 9535)",
            );
            None
        }
    }
}
