//! Where the arguments of an HTTP tool go: each has a place, and no place has two owners.

use super::request;
use crate::definition::http;
use crate::definition::model::{HttpOptions, Options};
use crate::definition::node::Cursor;
use crate::definition::parameters::Declared;
use crate::definition::report::{Report, Spot, shown};
use crate::http_mapping::media::MediaKind;
use crate::http_mapping::{Rest, Unmapped, places};

/// Checks the request of `options.http`, which is at `cursor`. `spot` is the position of an argument in the
/// definition.
pub(in crate::definition) fn check(
    cursor: &Cursor<'_>,
    options: &Options,
    request: &HttpOptions,
    declared: &Declared<'_>,
    spot: &dyn Fn(&str) -> Spot,
    report: &mut Report,
) {
    for conflict in places::conflicts(request) {
        report.error(
            &cursor.find(&conflict.pointer).spot,
            conflict.message,
            "a place has one owner; keep one of them",
        );
    }
    body_type(cursor, request, report);
    let args = &options.args;
    let given: Vec<&str> = [args.fixed.keys(), args.defaults.keys()]
        .into_iter()
        .flatten()
        .chain(options.envs.keys())
        .map(String::as_str)
        .collect();
    let unmapped = Unmapped::new(request, [].iter());
    let mut seen = std::collections::HashSet::new();
    for name in declared.names().chain(given).filter(|name| seen.insert(*name)) {
        if let Some(problem) = unmapped.refusal(name, true) {
            let hint = match unmapped.rest() {
                Rest::Nowhere => "map it to the query, a header or the body, or remove it",
                Rest::Query | Rest::Body => "map it to another name under query, or remove it",
            };
            report.error(&spot(name), format!("{} {problem}", shown(name)), hint);
        }
    }
    for name in options
        .envs
        .keys()
        .filter(|name| in_address(request, &unmapped, name))
    {
        report.error(
            &spot(name),
            format!(
                "{} would be part of the address, where secrets leak into logs",
                shown(name)
            ),
            "send it as a header, a cookie or in the body",
        );
    }
}

/// Whether an argument is part of the path or the query.
fn in_address(request: &HttpOptions, unmapped: &Unmapped, name: &str) -> bool {
    if let Some(exact) = &request.request {
        return request::in_address(exact).any(|argument| argument == name);
    }
    let in_path = http::path_parameters(&request.path).unwrap_or_default();
    let in_rest = unmapped.rest() == Rest::Query && !unmapped.maps(name);
    in_rest || in_path.contains(&name) || request.query.values().any(|argument| argument == name)
}

/// A constant `Content-Type` says how the short form writes its body.
fn body_type(cursor: &Cursor<'_>, request: &HttpOptions, report: &mut Report) {
    if !places::sends_body(request) {
        return;
    }
    for (name, value) in &request.headers {
        let written = matches!(MediaKind::of(value), Some(MediaKind::Json | MediaKind::Form));
        if name.eq_ignore_ascii_case("content-type") && !written {
            report.error(
                &cursor.find(&format!("/headers/{name}")).spot,
                format!(
                    "the body is written as JSON or as a form, not as {}",
                    shown(value)
                ),
                format!("write request: {{body: {{content_type: {value}, argument: <argument>}}}} instead"),
            );
        }
    }
}
