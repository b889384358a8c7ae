//! `result`: what becomes of an answer.

use toolgate_api::tool_types::RESULT;

use super::request_fields::media_type;
use crate::definition::fields;
use crate::definition::model::{Beyond, HttpResult};
use crate::definition::node::{Cursor, Data};
use crate::definition::report::{Report, shown};
use crate::selector::Selector;

/// Media types to ask for.
const MAX_ACCEPT: usize = 10;
const LEAST_BYTES: i64 = 100;
const MOST_BYTES: i64 = 10 << 20;
const SHORTEST_LIFE: i64 = 60;
const LONGEST_LIFE: i64 = 7 * 24 * 3600;

/// Reads it.
pub(in crate::definition) fn read(cursor: &Cursor<'_>, report: &mut Report) -> Option<HttpResult> {
    if !fields::map(cursor, "result", report) {
        return None;
    }
    fields::known_fields(cursor, RESULT, "result", report);
    let beyond = cursor.get("beyond").and_then(|at| beyond(&at, report));
    if beyond == Some(Beyond::Keep) && cursor.get("max_bytes").is_none() {
        report.error(
            &cursor.spot,
            "\"beyond\" says what is done with results of more than \"max_bytes\", which is not there",
            "write max_bytes: 65536, for example",
        );
    }
    if let (Some(at), None | Some(Beyond::Cut)) = (cursor.get("keep_s"), beyond) {
        report.error(
            &at.spot,
            "nothing is kept",
            "write beyond: keep, or leave keep_s out",
        );
    }
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
        beyond: beyond.unwrap_or_default(),
        keep_s: cursor
            .get("keep_s")
            .and_then(|at| fields::integer(&at, "keep_s", SHORTEST_LIFE, LONGEST_LIFE, report))
            .and_then(|seconds| u32::try_from(seconds).ok()),
    })
}

fn beyond(cursor: &Cursor<'_>, report: &mut Report) -> Option<Beyond> {
    let text = fields::string(cursor, "beyond", report)?;
    match text.as_str() {
        "cut" => Some(Beyond::Cut),
        "keep" => Some(Beyond::Keep),
        _ => {
            report.error(
                &cursor.spot,
                format!("\"beyond\" must be cut or keep, not {}", shown(&text)),
                "write beyond: keep, to keep what is larger than max_bytes whole",
            );
            None
        }
    }
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
