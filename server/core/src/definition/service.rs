//! A tool service's descriptor (tool services specification, "Tool Service Configuration").

use std::collections::{BTreeMap, HashSet};

use super::UploadContext;
use super::fields;
use super::kinds::TOOL_KEYS;
use super::model::{ConfigParam, ServiceDefinition};
use super::names;
use super::node::{Cursor, Data};
use super::options;
use super::queue::Queue;
use super::report::{Report, Spot, shown};
use crate::ids::ToolName;

pub(super) const REQUEST: [&str; 2] = ["request-queue", "request_queue"];
pub(super) const RESPONSE: [&str; 2] = ["response-queue", "response_queue"];
pub(super) const PARAMS: [&str; 2] = ["config-params", "config_params"];
const CONCURRENT: [&str; 2] = ["max-concurrent", "max_concurrent"];
const KEYS: [&str; 10] = [
    "id",
    "request-queue",
    "request_queue",
    "response-queue",
    "response_queue",
    "config-params",
    "config_params",
    "max-concurrent",
    "max_concurrent",
    "envs",
];

/// The id of a service: the key it is written under, else `id`.
pub(super) fn id(cursor: &Cursor<'_>, key: Option<(&str, &Spot)>, report: &mut Report) -> Option<ToolName> {
    let inner = cursor
        .get("id")
        .and_then(|at| Some((fields::string(&at, "id", report)?, at.spot)));
    match (key, inner) {
        (Some((key, spot)), inner) => {
            if let Some((inner, at)) = inner
                && inner != key
            {
                report.warning(
                    &at,
                    format!("the service's id is its key {}", shown(key)),
                    "remove \"id\", or make it equal",
                );
            }
            names::id(key, "service id", spot, report)
        }
        (None, Some((inner, at))) => names::id(&inner, "service id", &at, report),
        (None, None) => {
            if cursor.get("id").is_none() {
                report.error(&cursor.spot, "the service has no \"id\"", "write id: <name>");
            }
            None
        }
    }
}

/// Reads a descriptor.
pub(super) fn read(
    cursor: &Cursor<'_>,
    id: Option<ToolName>,
    context: &UploadContext<'_>,
    report: &mut Report,
) -> Option<ServiceDefinition> {
    let before = report.errors();
    fields::known_keys(cursor, &KEYS, "a tool service", report);
    let mut queue = |spellings: &[&'static str; 2]| {
        fields::one_of(cursor, spellings, report).and_then(|(key, at)| queue_name(&at, key, context, report))
    };
    let request_queue = queue(&REQUEST);
    let response_queue = queue(&RESPONSE);
    let there = |spellings: &[&str; 2]| spellings.iter().any(|key| cursor.get(key).is_some());
    if there(&REQUEST) != there(&RESPONSE) {
        let missing = if there(&REQUEST) { RESPONSE[0] } else { REQUEST[0] };
        report.error(
            &cursor.spot,
            format!("the service has no {missing:?}"),
            "a bus service has a request-queue and a response-queue; any other service has neither",
        );
    }
    let subject = |queue: &Option<String>| Queue::parse(queue.as_deref()?).ok().map(|queue| queue.subject);
    if request_queue.is_some() && subject(&request_queue) == subject(&response_queue) {
        report.error(
            &cursor.spot,
            "requests and responses share one queue",
            "give the responses a queue of their own",
        );
    }
    let config_params =
        fields::one_of(cursor, &PARAMS, report).map_or_else(Vec::new, |(key, at)| params(&at, key, report));
    let max_concurrent = fields::one_of(cursor, &CONCURRENT, report)
        .and_then(|(key, at)| fields::integer(&at, key, 1, 10_000, report))
        .and_then(|most| u32::try_from(most).ok());
    let envs = cursor
        .get("envs")
        .map_or_else(BTreeMap::new, |at| options::envs(&at, context, report));
    let definition = ServiceDefinition {
        id: id?,
        request_queue,
        response_queue,
        config_params,
        max_concurrent,
        envs,
    };
    (report.errors() == before).then_some(definition)
}

/// A queue's name, whose subject the project may use.
fn queue_name(
    cursor: &Cursor<'_>,
    key: &str,
    context: &UploadContext<'_>,
    report: &mut Report,
) -> Option<String> {
    let name = fields::word(cursor, key, 512, report)?;
    let checked = Queue::parse(&name).and_then(|queue| match context.subjects {
        Some(rules) => rules.check(context.project, &queue),
        None => Ok(()),
    });
    match checked {
        Ok(()) => Some(name),
        Err(error) => {
            report.error(
                &cursor.spot,
                format!("{key:?} is invalid: {}", error.message),
                error.hint,
            );
            None
        }
    }
}

fn params(cursor: &Cursor<'_>, key: &str, report: &mut Report) -> Vec<ConfigParam> {
    if !matches!(cursor.node.data, Data::List(_)) {
        report.error(
            &cursor.spot,
            format!("{key:?} must be a list, not {}", cursor.node.kind()),
            "write [{name: collection, required: true}]",
        );
    }
    let mut seen = HashSet::new();
    let mut params = Vec::new();
    for item in cursor.items() {
        let Some((param, spot)) = param(&item, report) else {
            continue;
        };
        if TOOL_KEYS.contains(&param.name.as_str()) {
            report.error(
                &spot,
                format!("{} is a key of every tool", shown(&param.name)),
                "give the parameter another name",
            );
        } else if !seen.insert(param.name.clone()) {
            report.error(
                &spot,
                format!("duplicate parameter {}", shown(&param.name)),
                "keep one of them",
            );
        } else {
            params.push(param);
        }
    }
    params
}

/// `{name, required}`, or the bare name of an optional parameter.
fn param(item: &Cursor<'_>, report: &mut Report) -> Option<(ConfigParam, Spot)> {
    if matches!(item.node.data, Data::Text(_)) {
        let name = fields::word(item, "name", 128, report)?;
        return Some((
            ConfigParam {
                name,
                required: false,
            },
            item.spot.clone(),
        ));
    }
    if !fields::map(item, "config-params", report) {
        return None;
    }
    fields::known_keys(item, &["name", "required"], "a config parameter", report);
    let required = item
        .get("required")
        .and_then(|at| fields::boolean(&at, "required", report))
        .unwrap_or(false);
    let Some(at) = item.get("name") else {
        report.error(&item.spot, "the parameter has no \"name\"", "");
        return None;
    };
    let name = fields::word(&at, "name", 128, report)?;
    Some((ConfigParam { name, required }, at.spot))
}
