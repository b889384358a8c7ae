//! The arguments of a Jina tool: one spelling for each, none over a constant header, each with a place in the request.

use std::collections::HashMap;

use super::model::{JinaMode, JinaOptions, Options};
use super::parameters::Declared;
use super::report::{Report, Spot, shown};
use crate::http_mapping::jina;

/// Checks the arguments of a tool with `options.jina`. `spot` is the position of an argument in the definition.
pub(super) fn check(
    options: &Options,
    preset: &JinaOptions,
    declared: &Declared<'_>,
    spot: &dyn Fn(&str) -> Spot,
    report: &mut Report,
) {
    let args = &options.args;
    let given = args.fixed.keys().chain(args.defaults.keys()).map(String::as_str);
    let by_get = match preset.mode {
        JinaMode::Search => preset.method.as_deref() != Some("POST"),
        JinaMode::Reader => preset.method.as_deref() == Some("GET"),
    };
    let mut spellings: HashMap<String, &str> = HashMap::new();
    let environment = options.envs.keys().map(|name| (name.as_str(), true));
    let names = declared.names().chain(given).map(|name| (name, false));
    for (name, from_environment) in names.chain(environment) {
        let key = jina::key(name);
        let is_subject = key == jina::subject(preset.mode);
        let first = *spellings.entry(key).or_insert(name);
        if first != name {
            report.error(
                &spot(name),
                format!(
                    "{} and {} are two names of one argument",
                    shown(first),
                    shown(name)
                ),
                format!("write {} only", shown(first)),
            );
        } else if let Some(header) = jina::overwritten(preset.headers.keys().map(String::as_str), name) {
            report.error(
                &spot(name),
                format!(
                    "{} and the constant header {header} are two names of one argument",
                    shown(name)
                ),
                "keep one of them",
            );
        } else if by_get && is_subject && from_environment {
            report.error(
                &spot(name),
                format!(
                    "{} would be part of the address, where secrets leak into logs",
                    shown(name)
                ),
                "write jina.method: POST",
            );
        } else if by_get
            && preset.mode == JinaMode::Reader
            && !is_subject
            && !from_environment
            && jina::option_header(name).is_none()
        {
            report.error(
                &spot(name),
                format!("the reader has no option {} with method GET", shown(name)),
                "write jina.method: POST, or remove it",
            );
        }
    }
}
