//! Names of tools, groups, states and environment variables.

use std::collections::HashSet;

use super::fields;
use super::node::{Cursor, Data};
use super::report::{Report, Spot, listed, shown, yaml};
use super::source::{self, ValueSource};
use crate::ids::ToolName;
use crate::readable;

/// Names that orchestrators keep for their own tools (tool development guide, section 3.2).
pub const RESERVED: [&str; 6] = [
    "delegate_async",
    "launch_principal",
    "ask_expert",
    "fork_join",
    "provision_agent",
    "submit_result",
];

/// Longest name of a group or state, in characters.
const LONGEST: usize = 128;
/// Groups of one tool.
pub const MAX_GROUPS: usize = 100;

/// Checks a tool's name.
pub(super) fn tool_name(text: &str, spot: &Spot, report: &mut Report) -> Option<ToolName> {
    if RESERVED.contains(&text) {
        report.error(
            spot,
            format!("the name {} is reserved", shown(text)),
            format!("choose a name other than {}", listed(RESERVED)),
        );
        return None;
    }
    id(text, "tool name", spot, report)
}

/// Checks the id of a tool service.
pub(super) fn id(text: &str, what: &str, spot: &Spot, report: &mut Report) -> Option<ToolName> {
    let parsed = ToolName::parse(text);
    if parsed.is_err() {
        let better = suggestion(text);
        let hint = match better {
            Some(better) => format!("write {}; for example {better:?}", ToolName::RULE),
            None => format!("write {}", ToolName::RULE),
        };
        report.error(spot, format!("{} is not a valid {what}", shown(text)), hint);
    }
    parsed.ok()
}

/// A valid name that looks like the text: `Knowledge Graph Query` gives `knowledge-graph-query`.
fn suggestion(text: &str) -> Option<String> {
    let words: Vec<String> = text
        .split(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '.' | '_' | '-'))
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_lowercase)
        .collect();
    let joined = words.join("-");
    ToolName::parse(joined).ok().map(String::from)
}

/// Why a text cannot be the name of a group or state; `None` when it can.
#[must_use]
pub fn label_fault(text: &str) -> Option<String> {
    readable::name_fault(text, LONGEST)
}

/// The name of a group or state.
fn label(cursor: &Cursor<'_>, key: &str, report: &mut Report) -> Option<String> {
    let text = fields::string(cursor, key, report)?;
    let Some(fault) = label_fault(&text) else {
        return Some(text);
    };
    report.error(&cursor.spot, format!("{key:?} {fault}"), "");
    None
}

/// What a list of names holds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Named {
    Groups,
    States,
}

/// A list of group or state names. Null and a bare string are refused, because guessing would change who may call
/// the tool.
pub(super) fn list(cursor: &Cursor<'_>, key: &str, named: Named, report: &mut Report) -> Option<Vec<String>> {
    match &cursor.node.data {
        Data::List(_) => {}
        Data::Null => {
            let absent = match named {
                Named::Groups => "for the group \"default\"",
                Named::States => "for every state",
            };
            report.error(
                &cursor.spot,
                format!("{key:?} must not be null"),
                format!("leave it out {absent}, or write [] for none"),
            );
            return None;
        }
        Data::Text(text) => {
            report.error(
                &cursor.spot,
                format!("{key:?} must be a list of names, not a string"),
                format!("write [{}]", yaml(text)),
            );
            return None;
        }
        _ => {
            report.error(
                &cursor.spot,
                format!("{key:?} must be a list of names, not {}", cursor.node.kind()),
                "write [first, second]",
            );
            return None;
        }
    }
    let before = report.errors();
    if named == Named::Groups && cursor.items().count() > MAX_GROUPS {
        report.error(
            &cursor.spot,
            format!("{key:?} must not have more than {MAX_GROUPS} names"),
            "keep the narrowest: asking for a parent group covers its children",
        );
        return None;
    }
    let mut seen = HashSet::new();
    let mut names = Vec::new();
    for item in cursor.items() {
        let Some(name) = label(&item, key, report) else {
            continue;
        };
        if named == Named::Groups && name == "*" {
            report.warning(
                &item.spot,
                "\"*\" as a tool's group is an ordinary name",
                "only a request or a grant of \"*\" reaches it; name the groups the tool is for",
            );
        }
        if seen.insert(name.clone()) {
            names.push(name);
        } else {
            report.warning(
                &item.spot,
                format!("{} occurs in {key:?} twice", shown(&name)),
                "remove one",
            );
        }
    }
    (report.errors() == before).then_some(names)
}

/// The state after success. An empty one is no move.
pub(super) fn state(cursor: &Cursor<'_>, report: &mut Report) -> Option<String> {
    match &cursor.node.data {
        Data::Null => {
            report.error(
                &cursor.spot,
                "\"state\" must not be null",
                "leave it out if the state shall not move",
            );
            None
        }
        Data::Text(text) if text.is_empty() => {
            report.warning(
                &cursor.spot,
                "an empty \"state\" does not move the state",
                "leave it out; write \"undefined\" to go back to the first state",
            );
            None
        }
        _ => {
            let state = label(cursor, "state", report)?;
            if state == "*" {
                report.warning(
                    &cursor.spot,
                    "\"*\" as the next state is an ordinary name",
                    "name one state",
                );
            }
            Some(state)
        }
    }
}

/// Checks the name of an environment variable and that definitions may use it, or the name of a secret (`secret:NAME`).
pub(super) fn env(text: &str, spot: &Spot, allowed: &dyn Fn(&str) -> bool, report: &mut Report) -> bool {
    if let ValueSource::Secret(name) = ValueSource::of(text) {
        if !source::is_name(name) {
            report.error(
                spot,
                format!("{} is not a name of a secret", shown(name)),
                "write secret:NAME; the name has letters, digits and '_', and begins with no digit",
            );
            return false;
        }
        return true;
    }
    if !source::is_name(text) {
        report.error(
            spot,
            format!("{} is not a name of an environment variable", shown(text)),
            "write the variable's name, not its value: letters, digits and '_'; or secret:NAME for a secret of the project",
        );
    } else if !allowed(text) {
        report.error(
            spot,
            format!("definitions may not use the environment variable {text}"),
            format!("an administrator can allow it: add {text} to TOOLGATE_TOOL_ENV"),
        );
    } else {
        return true;
    }
    false
}
