//! `options.jina`: the preset for Jina's search and reader (tool development guide, section 4).

use url::Url;

use super::UploadContext;
use super::destination;
use super::fields;
use super::model::{JinaMode, JinaOptions};
use super::names;
use super::nearest::nearest;
use super::node::Cursor;
use super::report::{Report, shown};

const KEYS: [&str; 7] = [
    "mode", "base_url", "path", "method", "auth_env", "accept", "headers",
];
const ACCEPT: [&str; 2] = ["application/json", "text/plain"];

/// Reads the preset.
pub(super) fn read(
    cursor: &Cursor<'_>,
    context: &UploadContext<'_>,
    report: &mut Report,
) -> Option<JinaOptions> {
    if !fields::map(cursor, "jina", report) {
        return None;
    }
    keys(cursor, report);
    let base_url = cursor
        .get("base_url")
        .and_then(|at| destination::base_url(&at, report));
    let mode = mode(cursor, base_url.as_deref(), report);
    let path = cursor.get("path").and_then(|at| {
        let text = fields::word(&at, "path", 1_000, report)?;
        if !text.starts_with('/') || text.contains(['?', '#', '{', '}', '\\']) || text.contains("//") {
            report.error(
                &at.spot,
                format!("{} is not a path", shown(&text)),
                "write /search",
            );
            return None;
        }
        if mode == Some(JinaMode::Reader) {
            report.warning(
                &at.spot,
                "the reader has no path",
                "remove it; the page's address is the argument \"url\"",
            );
        }
        Some(text)
    });
    let auth_env = cursor.get("auth_env").and_then(|at| {
        let name = fields::string(&at, "auth_env", report)?;
        names::env(&name, &at.spot, context.env_allowed, report).then_some(name)
    });
    let accept = cursor.get("accept").and_then(|at| {
        let text = fields::string(&at, "accept", report)?;
        if !ACCEPT.contains(&text.as_str()) {
            report.error(
                &at.spot,
                format!("\"accept\" cannot be {}", shown(&text)),
                "write application/json or text/plain",
            );
            return None;
        }
        Some(text)
    });
    Some(JinaOptions {
        mode: mode?,
        base_url,
        path,
        method: cursor
            .get("method")
            .and_then(|at| destination::method(&at, &["GET", "POST"], report)),
        auth_env,
        accept,
        headers: cursor.get("headers").map_or_else(Default::default, |at| {
            destination::headers(
                &at,
                "name an environment variable under jina.auth_env instead",
                report,
            )
        }),
    })
}

fn keys(cursor: &Cursor<'_>, report: &mut Report) {
    for (key, spot, _) in cursor.entries() {
        let hint = match key {
            _ if KEYS.contains(&key) => continue,
            "timeout" | "timeout_s" | "timeout_ms" => "write options.timeout_ms, in milliseconds",
            "defaults" => "write options.args.defaults",
            "envs" => "write options.envs",
            "auth" => "write auth_env: <NAME>",
            "api_key" | "key" | "token" => "name the environment variable with the key under auth_env",
            _ => {
                fields::unknown_key(key, &spot, &KEYS, "jina", report);
                continue;
            }
        };
        report.error(&spot, format!("unknown key {} in jina", shown(key)), hint);
    }
}

fn mode(cursor: &Cursor<'_>, base_url: Option<&str>, report: &mut Report) -> Option<JinaMode> {
    let Some(at) = cursor.get("mode") else {
        let host = base_url.and_then(|base| Url::parse(base).ok());
        return match host.as_ref().and_then(Url::host_str) {
            Some("s.jina.ai") => Some(JinaMode::Search),
            Some("r.jina.ai") => Some(JinaMode::Reader),
            _ => {
                report.error(
                    &cursor.spot,
                    "jina has no \"mode\"",
                    "write mode: search or mode: reader",
                );
                None
            }
        };
    };
    let text = fields::string(&at, "mode", report)?;
    match text.trim().to_ascii_lowercase().as_str() {
        "search" => Some(JinaMode::Search),
        "reader" | "read" | "crawl" => Some(JinaMode::Reader),
        other => {
            let hint = match nearest(other, ["search", "reader"]) {
                Some(near) => format!("did you mean {near:?}?"),
                None => "write search or reader".to_owned(),
            };
            report.error(&at.spot, format!("unknown mode {}", shown(&text)), hint);
            None
        }
    }
}
