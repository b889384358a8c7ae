//! Policy tests as they are uploaded: one, a list of them, or a map `policy_tests: [...]`; one document or several.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use serde_json::Value;
use toolgate_api::ErrorCode;
use toolgate_api::calls::CallContext;
use toolgate_api::explain::DecisionEffect;
use toolgate_api::policy_tests::{Expectation, PolicyTest};
use toolgate_api::problem::Diagnostic;

use super::node::{Cursor, Data};
use super::report::{Report, Spot, listed, shown, yaml};
use super::{TextFormat, decode, fields, json, yaml};
use crate::policy_tests::{MAX_TESTS, check};

const MAP_KEY: &str = "policy_tests";
const KEYS: [&str; 10] = [
    "name",
    "principal",
    "granted",
    "group",
    "state",
    "tool",
    "at",
    "context",
    "expect",
    "note",
];
const CONTEXT_KEYS: [&str; 9] = [
    "channel_id",
    "agent_id",
    "agent_turn_id",
    "step_id",
    "tool_call_id",
    "parent_step_id",
    "trace_id",
    "turn_epoch",
    "context_box_id",
];

/// Reads and checks an upload of policy tests.
///
/// # Errors
/// Every fault of it, in the order of the text, with line, column and a hint.
pub fn parse_policy_tests(text: &[u8], format: TextFormat) -> Result<Vec<PolicyTest>, Vec<Diagnostic>> {
    let mut report = Report::default();
    let documents = match decode(text, &mut report) {
        Some(text) if format == TextFormat::Yaml => yaml::read(text, &mut report),
        Some(text) => json::read(text, &mut report),
        None => Vec::new(),
    };
    let mut cursors = Vec::new();
    for document in &documents {
        collect(&Cursor::root(document), &mut cursors, &mut report);
    }
    // An empty list is an upload of nothing, which can mean "remove all"; an empty text is a slip.
    if documents.is_empty() && report.errors() == 0 {
        report.error(
            &Spot::text(1, 1),
            "the upload contains no policy test",
            "write a list of tests, or [] for none",
        );
    }
    if let Some(cursor) = cursors.get(MAX_TESTS) {
        report.error(
            &cursor.spot,
            format!("more than {MAX_TESTS} policy tests"),
            "a project keeps no more; remove some",
        );
        cursors.truncate(MAX_TESTS);
    }
    let mut lines = HashMap::new();
    let mut tests = Vec::new();
    for cursor in &cursors {
        let Some(test) = read(cursor, &mut report) else {
            continue;
        };
        let spot = cursor.find("/name").spot;
        let line = spot.place.map(|place| place.line);
        if let Some(first) = lines.insert(test.name.clone(), line) {
            report.error(
                &spot,
                format!("duplicate policy test {}", shown(&test.name)),
                first.map_or_else(String::new, |line| format!("it is in line {line} already")),
            );
        }
        tests.push(test);
    }
    report.finish().map(|_warnings| tests)
}

fn collect<'n>(document: &Cursor<'n>, cursors: &mut Vec<Cursor<'n>>, report: &mut Report) {
    let list = match &document.node.data {
        Data::List(_) => Some(document.clone()),
        Data::Map(_) => document.get(MAP_KEY),
        _ => None,
    };
    let Some(list) = list else {
        cursors.push(document.clone());
        return;
    };
    if document.is_map() {
        fields::known_keys(document, &[MAP_KEY], "the upload", report);
    }
    if matches!(list.node.data, Data::List(_)) {
        cursors.extend(list.items());
    } else {
        report.error(
            &list.spot,
            format!("{MAP_KEY:?} must be a list, not {}", list.node.kind()),
            "begin each test with \"- name:\"",
        );
    }
}

/// One test; `None` when it has a fault, which is reported.
fn read(cursor: &Cursor<'_>, report: &mut Report) -> Option<PolicyTest> {
    if !cursor.is_map() {
        report.error(
            &cursor.spot,
            format!("a policy test is a map, not {}", cursor.node.kind()),
            "write name, granted or principal, group, state, tool and expect, one in each line",
        );
        return None;
    }
    let before = report.errors();
    fields::known_keys(cursor, &KEYS, "a policy test", report);
    let name = required(cursor, "name", report);
    let tool = required(cursor, "tool", report);
    let expect = expectation(cursor, report);
    let test = PolicyTest {
        name: name.unwrap_or_default(),
        principal: text(cursor, "principal", report),
        granted: names(cursor, "granted", report),
        group: names(cursor, "group", report),
        state: text(cursor, "state", report),
        tool: tool.unwrap_or_default(),
        at: time(cursor, report),
        context: context(cursor, report),
        expect: expect.unwrap_or(Expectation {
            effect: DecisionEffect::Deny,
            code: None,
        }),
        note: text(cursor, "note", report),
    };
    if report.errors() > before {
        return None;
    }
    for fault in check(&test) {
        let spot = cursor.find(fault.pointer.as_deref().unwrap_or_default()).spot;
        report.error(&spot, fault.message, fault.hint.unwrap_or_default());
    }
    (report.errors() == before).then_some(test)
}

fn required(cursor: &Cursor<'_>, key: &str, report: &mut Report) -> Option<String> {
    match cursor.get(key) {
        Some(value) => fields::string(&value, key, report),
        None => {
            report.error(
                &cursor.spot,
                format!("{key:?} is missing"),
                format!("add {key}: ..."),
            );
            None
        }
    }
}

/// A text that may be left out; `null` is the same as leaving it out, as in requests.
fn text(cursor: &Cursor<'_>, key: &str, report: &mut Report) -> Option<String> {
    let value = given(cursor, key)?;
    fields::string(&value, key, report)
}

fn given<'n>(cursor: &Cursor<'n>, key: &str) -> Option<Cursor<'n>> {
    cursor
        .get(key)
        .filter(|value| !matches!(value.node.data, Data::Null))
}

fn names(cursor: &Cursor<'_>, key: &str, report: &mut Report) -> Option<Vec<String>> {
    let value = given(cursor, key)?;
    if !matches!(value.node.data, Data::List(_)) {
        let hint = match &value.node.data {
            Data::Text(text) => format!("write [{}]", yaml(text)),
            _ => "write [first, second]".to_owned(),
        };
        report.error(
            &value.spot,
            format!("{key:?} must be a list of names, not {}", value.node.kind()),
            hint,
        );
        return None;
    }
    value
        .items()
        .map(|item| fields::string(&item, key, report))
        .collect()
}

fn time(cursor: &Cursor<'_>, report: &mut Report) -> Option<DateTime<Utc>> {
    let text = text(cursor, "at", report)?;
    let parsed = DateTime::parse_from_rfc3339(&text);
    if parsed.is_err() {
        report.error(
            &cursor.find("/at").spot,
            format!("{} is not a time", shown(&text)),
            "write it like 2027-03-28T01:30:00Z",
        );
    }
    parsed.ok().map(|time| time.to_utc())
}

fn context(cursor: &Cursor<'_>, report: &mut Report) -> Option<CallContext> {
    let value = given(cursor, "context")?;
    if !fields::map(&value, "context", report) {
        return None;
    }
    let before = report.errors();
    fields::known_keys(&value, &CONTEXT_KEYS, "\"context\"", report);
    for (key, _, entry) in value.entries() {
        match (&entry.node.data, key) {
            (Data::Null, _) => {}
            (_, "turn_epoch") => {
                fields::integer(&entry, key, 0, i64::from(u32::MAX), report);
            }
            _ => {
                fields::string(&entry, key, report);
            }
        }
    }
    if report.errors() > before {
        return None;
    }
    let parsed = serde_json::from_value(value.node.to_value());
    if let Err(error) = &parsed {
        report.error(&value.spot, error.to_string(), "");
    }
    parsed.ok()
}

/// `expect: allow`, `expect: deny`, or a map with `effect` and `code`.
fn expectation(cursor: &Cursor<'_>, report: &mut Report) -> Option<Expectation> {
    let Some(value) = cursor.get("expect") else {
        report.error(
            &cursor.spot,
            "\"expect\" is missing",
            "add expect: allow, expect: deny, or expect: {effect: deny, code: ...}",
        );
        return None;
    };
    if let Data::Text(word) = &value.node.data {
        let effect = effect(word, &value.spot, report)?;
        return Some(Expectation { effect, code: None });
    }
    if !fields::map(&value, "expect", report) {
        return None;
    }
    fields::known_keys(&value, &["effect", "code"], "\"expect\"", report);
    let word = required(&value, "effect", report)?;
    let effect = effect(&word, &value.find("/effect").spot, report)?;
    let code = match text(&value, "code", report) {
        None => None,
        Some(word) => Some(code(&word, &value.find("/code").spot, report)?),
    };
    Some(Expectation { effect, code })
}

fn effect(word: &str, spot: &Spot, report: &mut Report) -> Option<DecisionEffect> {
    match word {
        "allow" => Some(DecisionEffect::Allow),
        "deny" => Some(DecisionEffect::Deny),
        _ => {
            report.error(
                spot,
                format!("{} is neither allow nor deny", shown(word)),
                "write allow or deny",
            );
            None
        }
    }
}

fn code(word: &str, spot: &Spot, report: &mut Report) -> Option<ErrorCode> {
    let code = serde_json::from_value(Value::from(word)).ok();
    if code.is_none() {
        report.error(
            spot,
            format!("{} is no code", shown(word)),
            format!(
                "write one of {}",
                listed(crate::policy_tests::CODES.map(ErrorCode::as_str))
            ),
        );
    }
    code
}
