//! What can be wrong with limits.

use std::collections::HashSet;

use toolgate_api::Diagnostic;
use toolgate_api::limits::{Limit, LimitSubject, ProjectLimits};

use crate::definition::names::label_fault;
use crate::principal::PrincipalRef;

/// The most limits of a project.
const MOST: usize = 100;
/// The longest name of a limit, and of a tool or a group in it.
const LONGEST_NAME: usize = 64;
const LONGEST_SUBJECT: usize = 128;

/// Every fault, with its place; none: the limits can be stored.
#[must_use]
pub fn check(limits: &ProjectLimits) -> Vec<Diagnostic> {
    let mut faults = Vec::new();
    if limits.limits.len() > MOST {
        faults.push(Diagnostic::error(format!("at most {MOST} limits")).at_pointer("/limits"));
    }
    let mut names = HashSet::new();
    for (at, limit) in limits.limits.iter().enumerate().take(MOST) {
        let mut fault = |place: &str, message: &str| {
            faults.push(Diagnostic::error(message).at_pointer(format!("/limits/{at}{place}")));
        };
        if !is_name(&limit.name) {
            fault(
                "/name",
                "a name has 1-64 letters, digits, '.', '_' and '-', and begins with a letter or digit",
            );
        } else if !names.insert(limit.name.as_str()) {
            fault("/name", "another limit has this name");
        }
        one(limit, &mut fault);
    }
    faults
}

fn one(limit: &Limit, fault: &mut impl FnMut(&str, &str)) {
    if limit.requests.is_none() && limit.concurrency.is_none() {
        fault("", "a limit has \"requests\", \"concurrency\" or both");
    }
    if let Some(rate) = limit.requests {
        if !(1..=1_000_000).contains(&rate.count) {
            fault("/requests/count", "must be from 1 to 1000000");
        }
        if !(1..=86_400).contains(&rate.per_s) {
            fault("/requests/per_s", "must be from 1 to 86400 seconds");
        }
    }
    if limit
        .concurrency
        .is_some_and(|most| !(1..=10_000).contains(&most))
    {
        fault("/concurrency", "must be from 1 to 10000");
    }
    match &limit.subject {
        LimitSubject::Principal { principal } if PrincipalRef::parse(principal).is_none() => fault(
            "/subject/principal",
            "write user:<id>, service_key:<id> or external:<issuer>|<subject>",
        ),
        LimitSubject::Tool { tool } if !is_subject(tool) => {
            fault("/subject/tool", "a tool's name has 1-128 characters");
        }
        LimitSubject::Group { group } => {
            if let Some(why) = label_fault(group) {
                fault("/subject/group", &why);
            } else if group == "*" {
                fault("/subject/group", "\"*\" is no group; limit the project instead");
            }
        }
        _ => {}
    }
}

fn is_name(name: &str) -> bool {
    name.len() <= LONGEST_NAME
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'))
}

fn is_subject(name: &str) -> bool {
    (1..=LONGEST_SUBJECT).contains(&name.chars().count()) && !name.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_fault_is_named_with_its_place() {
        let limit = |more: serde_json::Value| {
            let mut limit = json!({"name": "a", "subject": {"kind": "project"}, "concurrency": 1});
            for (key, value) in more.as_object().expect("an object") {
                limit[key] = value.clone();
            }
            limit
        };
        let rows = [
            (limit(json!({})), vec![]),
            (limit(json!({"name": "a b"})), vec!["/limits/0/name"]),
            (limit(json!({"name": ""})), vec!["/limits/0/name"]),
            (limit(json!({"name": "-a"})), vec!["/limits/0/name"]),
            (limit(json!({"concurrency": null})), vec!["/limits/0"]),
            (limit(json!({"concurrency": 0})), vec!["/limits/0/concurrency"]),
            (
                limit(json!({"requests": {"count": 0, "per_s": 86_401}})),
                vec!["/limits/0/requests/count", "/limits/0/requests/per_s"],
            ),
            (
                limit(json!({"subject": {"kind": "principal", "principal": "user:me"}})),
                vec!["/limits/0/subject/principal"],
            ),
            (
                limit(json!({"subject": {"kind": "tool", "tool": ""}})),
                vec!["/limits/0/subject/tool"],
            ),
            (
                limit(json!({"subject": {"kind": "group", "group": "*"}})),
                vec!["/limits/0/subject/group"],
            ),
        ];
        for (limit, expected) in rows {
            let limits = serde_json::from_value(json!({"limits": [limit]})).expect("limits");
            let found: Vec<String> = check(&limits)
                .into_iter()
                .filter_map(|fault| fault.pointer)
                .collect();
            assert_eq!(found, expected, "{limit}");
        }
        let twice = serde_json::from_value(json!({"limits": [limit(json!({})), limit(json!({}))]}));
        let found = check(&twice.expect("limits"));
        assert_eq!(found[0].pointer.as_deref(), Some("/limits/1/name"));
    }
}
