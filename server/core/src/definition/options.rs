//! `options`: argument layers, environment variables, time limit and the request.

use std::collections::BTreeMap;

use serde_json::Map;
use toolgate_api::tool_types;

use super::UploadContext;
use super::destination;
use super::fields;
use super::http::{self, places};
use super::jina;
use super::jina_arguments;
use super::model::{ArgOptions, Options};
use super::names;
use super::node::{Cursor, Data};
use super::parameters::Declared;
use super::report::{Report, Spot, listed, shown, yaml};
use super::shared_options;
use super::static_answer;
use super::template;

/// What every tool takes. Types have keys of their own, and some that several of them share.
const COMMON: [&str; 3] = ["args", "envs", "timeout_ms"];
/// The spelling of `jina` before there was one.
const LEGACY_JINA: &str = "openapi";
/// Longest time one call may take, in milliseconds.
const MAX_TIMEOUT_MS: i64 = 300_000;

/// Reads the options of a tool.
pub(super) fn read(cursor: &Cursor<'_>, context: &UploadContext<'_>, report: &mut Report) -> Options {
    if !fields::map(cursor, "options", report) {
        return Options::default();
    }
    keys(cursor, report);
    let jina = fields::one_of(cursor, &["jina", LEGACY_JINA], report).and_then(|(spelling, at)| {
        if spelling == LEGACY_JINA {
            report.warning(
                &at.spot,
                "\"openapi\" is the former spelling of \"jina\"",
                "write jina",
            );
        }
        jina::read(&at, context, report).map(Box::new)
    });
    let http = cursor.get("http").and_then(|at| {
        if cursor.get("jina").is_some() {
            report.error(
                &at.spot,
                "a tool has either \"jina\" or \"http\"",
                "keep one of them",
            );
        }
        http::read(&at, context, report).map(Box::new)
    });
    let timeout_ms = cursor
        .get("timeout_ms")
        .and_then(|at| fields::integer(&at, "timeout_ms", 1, MAX_TIMEOUT_MS, report))
        .and_then(|limit| u64::try_from(limit).ok());
    let static_answer = cursor
        .get("static")
        .and_then(|at| static_answer::read(&at, timeout_ms, report))
        .map(Box::new);
    let shared = shared_options::read(cursor, http.as_deref(), report);
    Options {
        args: cursor
            .get("args")
            .map_or_else(ArgOptions::default, |at| args(&at, report)),
        envs: cursor
            .get("envs")
            .map_or_else(BTreeMap::new, |at| envs(&at, context, report)),
        timeout_ms,
        jina,
        http,
        static_answer,
        ..shared
    }
}

/// Environment variables by parameter name, each of which definitions may use.
pub(super) fn envs(
    cursor: &Cursor<'_>,
    context: &UploadContext<'_>,
    report: &mut Report,
) -> BTreeMap<String, String> {
    let envs = fields::string_map(cursor, "envs", report);
    for (parameter, spot, value) in cursor.entries() {
        if parameter.trim().is_empty() {
            report.error(&spot, "a parameter's name must not be empty", "");
        }
        if let Some(name) = envs.get(parameter) {
            names::env(name, &value.spot, context.env_allowed, report);
        }
    }
    envs
}

fn keys(cursor: &Cursor<'_>, report: &mut Report) {
    let own = tool_types::ALL.iter().flat_map(|kind| kind.options);
    let of_types = own.chain(tool_types::SHARED_OPTIONS).map(|field| field.name);
    let known: Vec<&str> = COMMON.into_iter().chain(of_types).collect();
    for (key, spot, _) in cursor.entries() {
        let hint = match key {
            LEGACY_JINA => continue,
            _ if known.contains(&key) => continue,
            "timeout" | "timeout_s" => "write timeout_ms, in milliseconds",
            "defaults" | "fixed" => "put it under args",
            _ => {
                fields::unknown_key(key, &spot, &known, "options", report);
                continue;
            }
        };
        report.error(&spot, format!("unknown key {} in options", shown(key)), hint);
    }
}

fn args(cursor: &Cursor<'_>, report: &mut Report) -> ArgOptions {
    if !fields::map(cursor, "args", report) {
        return ArgOptions::default();
    }
    fields::known_keys(cursor, &["defaults", "fixed"], "args", report);
    let mut layer = |key: &str| {
        let Some(at) = cursor.get(key) else {
            return Map::new();
        };
        let layer = fields::object(&at, key, report);
        for (name, spot, value) in at.entries() {
            if name.trim().is_empty() {
                report.error(&spot, "a parameter's name must not be empty", "");
            }
            string_values(name, &value, report);
        }
        layer
    };
    ArgOptions {
        defaults: layer("defaults"),
        fixed: layer("fixed"),
    }
}

/// Applies the rules for texts to every text in a value; keys of maps are names, not texts.
fn string_values(name: &str, value: &Cursor<'_>, report: &mut Report) {
    if let Data::Text(text) = &value.node.data {
        string_value(name, text, &value.spot, report);
    }
    value.items().for_each(|item| string_values(name, &item, report));
    value
        .entries()
        .for_each(|(key, _, inner)| string_values(key, &inner, report));
}

/// Rules for a text that the definition gives as an argument.
fn string_value(name: &str, text: &str, spot: &Spot, report: &mut Report) {
    for variable in template::variables(text) {
        if !template::VARIABLES.contains(&variable) {
            let known = listed(template::VARIABLES.map(|known| format!("{{{known}}}")));
            report.error(
                spot,
                format!("unknown template variable {{{variable}}}"),
                format!("known are {known}; write {{{{{variable}}}}} for the literal text"),
            );
        }
    }
    let is_secret = destination::is_secret_name(name) && !text.is_empty() && !text.contains('{');
    if is_secret || destination::looks_secret(text) {
        report.error(
            spot,
            format!(
                "{} looks like a secret, and definitions are no place for secrets",
                shown(name)
            ),
            format!(
                "name an environment variable under options.envs: {{{}: NAME_OF_VARIABLE}}",
                yaml(name)
            ),
        );
    }
}

/// Rules that need the options and the schema of the arguments together. Options that are not `whole` have faults that
/// were reported, so that it is not known where their arguments go.
pub(super) fn check(
    cursor: &Cursor<'_>,
    options: &Options,
    declared: &Declared<'_>,
    whole: bool,
    report: &mut Report,
) {
    let before = report.errors();
    let layers: [(&str, Vec<&String>); 3] = [
        ("/args/defaults", options.args.defaults.keys().collect()),
        ("/args/fixed", options.args.fixed.keys().collect()),
        ("/envs", options.envs.keys().collect()),
    ];
    for (pointer, names) in &layers {
        for name in names {
            if declared.knows(name) {
                continue;
            }
            let spot = spot(cursor, pointer, name);
            let message = format!("{} is no declared parameter", shown(name));
            if declared.closed() {
                report.error(
                    &spot,
                    message,
                    "add it to parameters.properties, or allow additionalProperties",
                );
            } else {
                report.warning(&spot, message, "add it to parameters.properties");
            }
        }
    }
    for name in options.envs.keys() {
        if options.args.fixed.contains_key(name) {
            report.error(
                &spot(cursor, "/envs", name),
                format!("{} is both fixed and an environment parameter", shown(name)),
                "keep one of them; the environment would always win",
            );
        }
    }
    for name in options.args.defaults.keys() {
        let winner = if options.args.fixed.contains_key(name) {
            "a fixed value"
        } else if options.envs.contains_key(name) {
            "an environment variable"
        } else {
            continue;
        };
        report.warning(
            &spot(cursor, "/args/defaults", name),
            format!(
                "the default of {} is never used: {winner} overwrites it",
                shown(name)
            ),
            "remove the default",
        );
    }
    let place = |name: &str| {
        let layer = layers
            .iter()
            .find(|(_, names)| names.iter().any(|other| *other == name));
        match layer {
            Some((pointer, _)) if !declared.names().any(|declared| declared == name) => {
                spot(cursor, pointer, name)
            }
            _ => declared.spot(name),
        }
    };
    if let Some(at) = cursor.get("static") {
        static_answer::check(&at, declared, report);
    }
    if let Some(jina) = &options.jina {
        jina_arguments::check(options, jina, declared, &place, report);
    }
    if let (Some(http), Some(at)) = (&options.http, cursor.get("http")) {
        for (name, spot) in http::arguments(&at, http) {
            let given = options.args.fixed.contains_key(&name)
                || options.args.defaults.contains_key(&name)
                || options.envs.contains_key(&name);
            if !given && !declared.knows(&name) {
                let known: Vec<&str> = declared.names().collect();
                let hint = match super::nearest::nearest(&name, known.iter().copied()) {
                    Some(near) => format!("did you mean {near:?}?"),
                    None => "add it to parameters.properties".to_owned(),
                };
                report.error(&spot, format!("{} is no declared parameter", shown(&name)), hint);
            }
        }
        if whole && report.errors() == before {
            places::check(&at, options, http, declared, &place, report);
        }
    }
}

fn spot(options: &Cursor<'_>, pointer: &str, name: &str) -> Spot {
    let step = name.replace('~', "~0").replace('/', "~1");
    options.find(&format!("{pointer}/{step}")).spot
}
