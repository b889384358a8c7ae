//! `options.jina`: the preset for Jina's search and reader (tool development guide, section 4).

use std::collections::BTreeMap;

use toolgate_api::tool_types::JINA;
use url::Url;

use super::UploadContext;
use super::destination;
use super::fields;
use super::model::{JinaMode, JinaOptions};
use super::names;
use super::nearest::nearest;
use super::node::Cursor;
use super::report::{Report, shown};

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
    if let (Some(mode), Some(hosts)) = (mode, base_url.as_deref().and_then(mode_of))
        && mode != hosts
    {
        let [mode, hosts] = [mode, hosts].map(word);
        report.error(
            &cursor.find("/base_url").spot,
            format!("mode: {mode} is not what this host is for"),
            format!("write mode: {hosts}, or leave base_url out"),
        );
    }
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
        headers: headers(cursor, report),
    })
}

fn keys(cursor: &Cursor<'_>, report: &mut Report) {
    let known: Vec<&str> = JINA.iter().map(|field| field.name).collect();
    for (key, spot, _) in cursor.entries() {
        let hint = match key {
            _ if known.contains(&key) => continue,
            "timeout" | "timeout_s" | "timeout_ms" => "write options.timeout_ms, in milliseconds",
            "defaults" => "write options.args.defaults",
            "envs" => "write options.envs",
            "auth" => "write auth_env: <NAME>",
            "api_key" | "key" | "token" => "name the environment variable with the key under auth_env",
            _ => {
                fields::unknown_key(key, &spot, &known, "jina", report);
                continue;
            }
        };
        report.error(&spot, format!("unknown key {} in jina", shown(key)), hint);
    }
}

/// What one of Jina's hosts is for; `None` for any other host.
fn mode_of(base_url: &str) -> Option<JinaMode> {
    match Url::parse(base_url).ok()?.host_str()? {
        "s.jina.ai" | "eu.s.jina.ai" => Some(JinaMode::Search),
        "r.jina.ai" | "eu.r.jina.ai" => Some(JinaMode::Reader),
        _ => None,
    }
}

fn word(mode: JinaMode) -> &'static str {
    match mode {
        JinaMode::Search => "search",
        JinaMode::Reader => "reader",
    }
}

/// Constant headers, but for those that other keys say.
fn headers(cursor: &Cursor<'_>, report: &mut Report) -> BTreeMap<String, String> {
    let Some(at) = cursor.get("headers") else {
        return BTreeMap::new();
    };
    for (name, spot, _) in at.entries() {
        if name.eq_ignore_ascii_case("accept") && cursor.get("accept").is_some() {
            report.error(
                &spot,
                "the header Accept has two owners: accept and headers",
                "a place has one owner; keep one of them",
            );
        }
        if name.eq_ignore_ascii_case("content-type") {
            report.error(
                &spot,
                "the header Content-Type is that of the body, which is JSON",
                "remove it",
            );
        }
    }
    destination::headers(
        &at,
        "name an environment variable under jina.auth_env instead",
        report,
    )
}

fn mode(cursor: &Cursor<'_>, base_url: Option<&str>, report: &mut Report) -> Option<JinaMode> {
    let Some(at) = cursor.get("mode") else {
        let mode = base_url.and_then(mode_of);
        if mode.is_none() {
            report.error(
                &cursor.spot,
                "jina has no \"mode\"",
                "write mode: search or mode: reader",
            );
        }
        return mode;
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
