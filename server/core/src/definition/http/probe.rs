//! `options.http.probe`: a request that asks whether the upstream is healthy.

use toolgate_api::tool_types::PROBE;

use super::is_dots;
use crate::definition::destination;
use crate::definition::fields;
use crate::definition::model::HttpProbe;
use crate::definition::node::Cursor;
use crate::definition::report::{Report, shown};

const SHORTEST: i64 = 5;
const LONGEST: i64 = 3600;
/// Characters of a path, with its query.
const LONGEST_PATH: usize = 1000;

/// Reads it.
pub(super) fn read(http: &Cursor<'_>, report: &mut Report) -> Option<HttpProbe> {
    let cursor = http.get("probe")?;
    if !fields::map(&cursor, "probe", report) {
        return None;
    }
    fields::known_fields(&cursor, PROBE, "probe", report);
    let mut required = |key: &str, hint: &str| {
        let found = cursor.get(key);
        if found.is_none() {
            report.error(&cursor.spot, format!("probe has no {key:?}"), hint);
        }
        found
    };
    let at_path = required("path", "write path: /healthz");
    let at_interval = required("interval_s", "write interval_s: 30");
    let method = cursor
        .get("method")
        .and_then(|at| destination::method(&at, &["GET", "HEAD"], report));
    let path = at_path.and_then(|at| path(&at, report));
    let interval = at_interval.and_then(|at| fields::integer(&at, "interval_s", SHORTEST, LONGEST, report));
    Some(HttpProbe {
        path: path?,
        interval_s: u32::try_from(interval?).ok()?,
        method,
    })
}

fn path(cursor: &Cursor<'_>, report: &mut Report) -> Option<String> {
    let text = fields::string(cursor, "path", report)?;
    let path = text.split('?').next().unwrap_or_default();
    let fault = if !text.starts_with('/') {
        "must begin with /"
    } else if text.chars().count() > LONGEST_PATH {
        "is too long"
    } else if !text.bytes().all(|byte| byte.is_ascii_graphic()) || text.contains(['#', '\\', '{', '}']) {
        "takes no arguments, and must not contain blanks, backslashes or #"
    } else if path.split('/').any(is_dots) {
        "must not contain . or .. as a segment"
    } else {
        return Some(text);
    };
    report.error(
        &cursor.spot,
        format!("\"path\" of the probe {fault}: {}", shown(&text)),
        "write /healthz, for example",
    );
    None
}
