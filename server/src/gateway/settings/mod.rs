//! The use case "change a project's settings": check, commit, load.

use std::sync::Arc;

use serde_json::{Value, json};
use toolgate_api::settings::{AlertThresholds, BusEntrance, ProjectSettings};
use toolgate_api::{Diagnostic, ErrorCode};
use toolgate_core::definition::names::label_fault;
use toolgate_core::definition::source;
use toolgate_core::pointer;
use toolgate_core::policy::decision::{EVERY_STATE, UNDEFINED_STATE};
use toolgate_core::principal::PrincipalRef;
use toolgate_core::session::place::MAX_START_STATES;
use toolgate_core::snapshot::ProjectSnapshot;
use toolgate_executors::EgressPolicy;
use toolgate_executors::egress::parse_exact;

use super::document;
use super::record::Requester;
use super::server_snapshot::ProjectState;
use crate::gateway::{Gateway, Problem};

/// The longest address.
const MAX_URL: usize = 2048;
/// The largest threshold of an alert.
const MAX_THRESHOLD: u32 = 1_000_000;
/// Targets of the bus, and agents in its roster.
const MAX_TARGETS: usize = 16;
const MAX_AGENTS: usize = 1000;
/// Principals whose announcements count at once.
const MAX_ANNOUNCERS: usize = 100;
/// Tools that are listed beside the search, and bytes of the name of one.
const MAX_PINNED: usize = 100;
const MAX_TOOL_NAME: usize = 128;
/// Characters of a token of a subject.
const MAX_TOKEN: usize = 64;

/// Replaces the settings; their new revision, and what may be a mistake in them. `expected` is the revision they were made
/// from, if it matters.
pub async fn replace(
    gateway: &Arc<Gateway>,
    project: &ProjectState,
    settings: &ProjectSettings,
    expected: Option<i64>,
    requester: &Requester<'_>,
) -> Result<(i64, Vec<Diagnostic>), Problem> {
    let errors = faults(settings, &gateway.egress);
    if !errors.is_empty() {
        return Err(Problem::new(
            ErrorCode::InvalidRequest,
            "The settings are invalid; nothing was saved. `errors` names each fault.",
        )
        .errors(errors));
    }
    let recorded = (named(&project.settings), named(settings));
    let revision = document::replace(gateway, project, settings, expected, requester, recorded).await?;
    Ok((revision, warnings(settings, &project.snapshot)))
}

/// The settings in the record. The name of the secret is none itself; under `secret` it would be taken for one.
fn named(settings: &ProjectSettings) -> Value {
    let mut value = json!(settings);
    if let Some(webhook) = value.get_mut("webhook").and_then(Value::as_object_mut)
        && let Some(name) = webhook.remove("secret")
    {
        webhook.insert("signed_with".to_owned(), name);
    }
    value
}

/// Start states that no session would find a tool by, and pinned tools that are not there.
fn warnings(settings: &ProjectSettings, snapshot: &ProjectSnapshot) -> Vec<Diagnostic> {
    let states = settings.start_states.iter().flatten().enumerate();
    let states = states
        .filter(|(_, state)| *state != UNDEFINED_STATE && !snapshot.knows_state(state))
        .map(|(at, state)| {
            Diagnostic::warning(format!("no tool and no declaration names the state \"{state}\""))
                .hint("check its spelling, or declare it")
                .at_pointer(format!("/start_states/{at}"))
        });
    let pinned = settings.mcp_pinned.iter().enumerate();
    let pinned = pinned
        .filter(|(_, name)| snapshot.tool(name).is_none())
        .map(|(at, name)| {
            Diagnostic::warning(format!("the project has no tool \"{name}\""))
                .hint("check its spelling; it is listed once the tool is there")
                .at_pointer(format!("/mcp_pinned/{at}"))
        });
    states.chain(pinned).collect()
}

/// Every fault, with its place.
pub(super) fn faults(settings: &ProjectSettings, egress: &EgressPolicy) -> Vec<Diagnostic> {
    let mut faults = Vec::new();
    if let Some(url) = &settings.agent_endpoint {
        faults.extend(url_fault("/agent_endpoint", url, egress));
    }
    if let Some(webhook) = &settings.webhook {
        faults.extend(url_fault("/webhook/url", &webhook.url, egress));
        if !source::is_name(&webhook.secret) {
            faults.push(
                Diagnostic::error(
                    "the name of a secret has 1-128 letters, digits and _, and begins with no digit",
                )
                .at_pointer("/webhook/secret"),
            );
        }
    }
    faults.extend(threshold_faults(&settings.alerts));
    if let Some(states) = &settings.start_states {
        faults.extend(start_state_faults(states));
    }
    if let Some(entrance) = &settings.bus_entrance {
        faults.extend(entrance_faults(entrance));
    }
    faults.extend(announcer_faults(&settings.trusted_announcers));
    faults.extend(pinned_faults(&settings.mcp_pinned));
    faults
}

/// Names of tools need not be those of tools that are there: definitions may come later.
fn pinned_faults(pinned: &[String]) -> Vec<Diagnostic> {
    let mut faults: Vec<Diagnostic> = pinned
        .iter()
        .enumerate()
        .filter(|(_, name)| name.is_empty() || name.len() > MAX_TOOL_NAME)
        .map(|(at, _)| {
            Diagnostic::error("is no name of a tool")
                .hint("write the name as its definition has it")
                .at_pointer(format!("/mcp_pinned/{at}"))
        })
        .collect();
    if pinned.len() > MAX_PINNED {
        faults.push(Diagnostic::error(format!("has more than {MAX_PINNED} tools")).at_pointer("/mcp_pinned"));
    }
    faults
}

fn announcer_faults(announcers: &[String]) -> Vec<Diagnostic> {
    let is_one = |text: &String| PrincipalRef::parse(text).is_some_and(|one| one.to_string() == *text);
    let mut faults: Vec<Diagnostic> = announcers
        .iter()
        .enumerate()
        .filter(|(_, text)| !is_one(text))
        .map(|(at, _)| {
            Diagnostic::error("is no principal")
                .hint("write service_key:{id}, user:{id} or external:{issuer}|{subject}")
                .at_pointer(format!("/trusted_announcers/{at}"))
        })
        .collect();
    if announcers.len() > MAX_ANNOUNCERS {
        faults.push(
            Diagnostic::error(format!("has more than {MAX_ANNOUNCERS} principals"))
                .at_pointer("/trusted_announcers"),
        );
    }
    faults
}

/// Whether a target can be a token of a subject.
#[must_use]
pub fn is_target(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    (1..=MAX_TOKEN).contains(&text.len()) && text.bytes().all(allowed)
}

/// Targets and worker targets become tokens of subjects.
fn entrance_faults(entrance: &BusEntrance) -> Vec<Diagnostic> {
    let mut faults = Vec::new();
    let mut token = |text: &str, pointer: String| {
        if !is_target(text) {
            faults.push(
                Diagnostic::error(format!("has 1-{MAX_TOKEN} letters, digits, _ and -")).at_pointer(pointer),
            );
        }
    };
    for (at, target) in entrance.targets.iter().enumerate() {
        token(target, format!("/bus_entrance/targets/{at}"));
    }
    for (agent, target) in &entrance.agents {
        token(target, pointer::of(["bus_entrance", "agents", agent]));
    }
    if entrance.targets.len() > MAX_TARGETS {
        faults.push(
            Diagnostic::error(format!("has more than {MAX_TARGETS} targets"))
                .at_pointer("/bus_entrance/targets"),
        );
    }
    if entrance.agents.len() > MAX_AGENTS {
        faults.push(
            Diagnostic::error(format!("has more than {MAX_AGENTS} agents"))
                .at_pointer("/bus_entrance/agents"),
        );
    }
    faults
}

fn start_state_faults(states: &[String]) -> Vec<Diagnostic> {
    let whole =
        |message: String, hint: &str| vec![Diagnostic::error(message).hint(hint).at_pointer("/start_states")];
    if states.is_empty() {
        return whole(
            "no session could begin anywhere".to_owned(),
            "name a state, or leave `start_states` out",
        );
    }
    if states.len() > MAX_START_STATES {
        return whole(format!("has more than {MAX_START_STATES} states"), "name fewer");
    }
    let fault = |at: usize, state: &String| {
        let fault = label_fault(state).or_else(|| {
            let is_any = state == EVERY_STATE;
            let again = states[..at].contains(state);
            if is_any {
                Some(
                    "means every state and is no name; leave `start_states` out to allow every state"
                        .to_owned(),
                )
            } else {
                again.then(|| "is named twice".to_owned())
            }
        })?;
        Some(Diagnostic::error(fault).at_pointer(format!("/start_states/{at}")))
    };
    states
        .iter()
        .enumerate()
        .filter_map(|(at, state)| fault(at, state))
        .collect()
}

/// Which rule an address breaks, if any.
fn url_fault(pointer: &str, text: &str, egress: &EgressPolicy) -> Option<Diagnostic> {
    let fault = |message: String| Some(Diagnostic::error(message).at_pointer(pointer));
    if text.len() > MAX_URL {
        return fault(format!("the address has more than {MAX_URL} bytes"));
    }
    let url = match parse_exact(text) {
        Ok(url) => url,
        Err(error) => return fault(error.to_string()),
    };
    if url.fragment().is_some() {
        return fault("an address that is sent to has no fragment (`#...`)".to_owned());
    }
    egress
        .permits(&url)
        .err()
        .and_then(|error| fault(error.to_string()))
}

fn threshold_faults(alerts: &AlertThresholds) -> impl Iterator<Item = Diagnostic> {
    let rows = [
        ("window_s", alerts.window_s, 10, 86_400),
        (
            "escalation_attempts",
            alerts.escalation_attempts,
            0,
            MAX_THRESHOLD,
        ),
        (
            "invalid_transitions",
            alerts.invalid_transitions,
            0,
            MAX_THRESHOLD,
        ),
        ("key_addresses", alerts.key_addresses, 0, MAX_THRESHOLD),
        ("first_group_use", alerts.first_group_use, 0, 1),
        (
            "calls_after_wide_grant",
            alerts.calls_after_wide_grant,
            0,
            MAX_THRESHOLD,
        ),
        (
            "refused_credentials",
            alerts.refused_credentials,
            0,
            MAX_THRESHOLD,
        ),
        ("upstream_failures", alerts.upstream_failures, 0, MAX_THRESHOLD),
    ];
    rows.into_iter()
        .filter(|&(_, value, least, most)| !(least..=most).contains(&value))
        .map(|(name, _, least, most)| {
            Diagnostic::error(format!("must be from {least} to {most}")).at_pointer(format!("/alerts/{name}"))
        })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn egress() -> EgressPolicy {
        EgressPolicy::parse(&[
            "https://agent.example.com".to_owned(),
            "http://127.0.0.1:9".to_owned(),
        ])
        .expect("a policy")
    }

    #[rstest]
    #[case::nothing(json!({}), &[])]
    #[case::listed(json!({"agent_endpoint": "https://agent.example.com/run?x=1"}), &[])]
    #[case::http(json!({"agent_endpoint": "http://127.0.0.1:9/run"}), &[])]
    #[case::unlisted(json!({"agent_endpoint": "https://evil.example/run"}), &[("/agent_endpoint", "not on the egress allow-list")])]
    #[case::user(json!({"agent_endpoint": "https://u:p@agent.example.com/"}), &[("/agent_endpoint", "user information")])]
    #[case::fragment(json!({"agent_endpoint": "https://agent.example.com/#x"}), &[("/agent_endpoint", "fragment")])]
    #[case::no_url(json!({"agent_endpoint": "agent"}), &[("/agent_endpoint", "cannot be read")])]
    #[case::hook(
        json!({"webhook": {"url": "ftp://x.example", "secret": "9 lives"}, "alerts": {"window_s": 9, "first_group_use": 2}}),
        &[("/webhook/url", "scheme"), ("/webhook/secret", "name of a secret"), ("/alerts/window_s", "from 10"), ("/alerts/first_group_use", "to 1")]
    )]
    #[case::announcers(
        json!({"trusted_announcers": ["service_key:0190c2a4-7b7e-7cc3-98c4-dc0c0c07398f", "external:https://idp|ci", "ci"]}),
        &[("/trusted_announcers/2", "no principal")]
    )]
    #[case::sessions(json!({"sessions": "required", "start_states": ["undefined", "größer"]}), &[])]
    #[case::no_start(json!({"start_states": []}), &[("/start_states", "begin anywhere")])]
    #[case::starts(
        json!({"start_states": ["a", "", "*", "a", "b\u{200b}", "\u{430}dmin"]}),
        &[("/start_states/1", "empty"), ("/start_states/2", "every state"), ("/start_states/3", "twice"),
          ("/start_states/4", "U+200B"), ("/start_states/5", "Cyrillic")]
    )]
    #[case::bus(
        json!({"bus_entrance": {"targets": ["toolgate", "a.b", ""], "agents": {"a": "worker_generic", "b": "*"}}}),
        &[("/bus_entrance/targets/1", "letters"), ("/bus_entrance/targets/2", "letters"), ("/bus_entrance/agents/b", "letters")]
    )]
    #[case::many_starts(json!({"start_states": vec!["a"; 101]}), &[("/start_states", "more than 100")])]
    fn every_fault_is_named_with_its_place(
        #[case] settings: serde_json::Value,
        #[case] expected: &[(&str, &str)],
    ) {
        let settings: ProjectSettings = serde_json::from_value(settings).expect("settings");
        let found = faults(&settings, &egress());
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for (fault, (pointer, says)) in found.iter().zip(expected) {
            assert_eq!(fault.pointer.as_deref(), Some(*pointer));
            assert!(fault.message.contains(says), "{fault:?}");
        }
    }
}
