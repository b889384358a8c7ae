use std::time::Duration;

use toolgate_api::ErrorCode;
use toolgate_core::definition::model::ToolDefinition;
use toolgate_core::policy::Effect;

use super::{ExecutorKind, Metrics, executor_kind};

fn has(text: &str, line: &str) -> bool {
    text.lines().any(|found| found == line)
}

#[test]
fn decisions_are_counted_by_effect_and_code() {
    let metrics = Metrics::new();
    metrics.decision(Effect::Allow, None);
    metrics.decision(Effect::Allow, None);
    metrics.decision(Effect::Deny, Some(ErrorCode::InsufficientToolGroups));
    metrics.decision(Effect::Deny, Some(ErrorCode::ToolNotInState));
    let text = metrics.render();
    for line in [
        "toolgate_decisions_total{effect=\"allow\",code=\"ok\"} 2",
        "toolgate_decisions_total{effect=\"deny\",code=\"insufficient_tool_groups\"} 1",
        "toolgate_decisions_total{effect=\"deny\",code=\"tool_not_in_state\"} 1",
        "toolgate_escalation_attempts_total 1",
    ] {
        assert!(has(&text, line), "{line} is not in\n{text}");
    }
}

#[test]
fn calls_are_counted_and_timed_by_kind() {
    let metrics = Metrics::new();
    metrics.call(ExecutorKind::Http, None, 3);
    metrics.call(ExecutorKind::Http, Some(ErrorCode::Timeout), 30_000);
    let text = metrics.render();
    for line in [
        "toolgate_calls_total{outcome=\"succeeded\",code=\"ok\",kind=\"http\"} 1",
        "toolgate_calls_total{outcome=\"failed\",code=\"timeout\",kind=\"http\"} 1",
        "toolgate_call_duration_seconds_bucket{kind=\"http\",le=\"0.0025\"} 0",
        "toolgate_call_duration_seconds_bucket{kind=\"http\",le=\"0.005\"} 1",
        "toolgate_call_duration_seconds_bucket{kind=\"http\",le=\"30\"} 2",
        "toolgate_call_duration_seconds_count{kind=\"http\"} 2",
    ] {
        assert!(has(&text, line), "{line} is not in\n{text}");
    }
}

#[test]
fn every_code_and_kind_has_a_place_of_its_own() {
    let metrics = Metrics::new();
    for &code in ErrorCode::ALL {
        metrics.decision(Effect::Deny, Some(code));
        for kind in ExecutorKind::ALL {
            metrics.call(kind, Some(code), 1);
        }
    }
    let text = metrics.render();
    for &code in ErrorCode::ALL {
        assert!(
            has(
                &text,
                &format!("toolgate_decisions_total{{effect=\"deny\",code=\"{code}\"}} 1")
            ),
            "{code}"
        );
        for kind in ExecutorKind::ALL.map(ExecutorKind::as_str) {
            let labels = format!("outcome=\"failed\",code=\"{code}\",kind=\"{kind}\"");
            assert!(
                has(&text, &format!("toolgate_calls_total{{{labels}}} 1")),
                "{code} {kind}"
            );
        }
    }
}

#[test]
fn everything_rendered_is_described_and_has_our_prefix() {
    let metrics = Metrics::new();
    metrics.call(ExecutorKind::Jina, None, 1);
    metrics.http_request(
        &http::Method::GET,
        Some("/healthz"),
        200,
        Duration::from_millis(1),
    );
    let text = metrics.render();
    let mut seen = 0;
    for name in text
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE "))
        .filter_map(|line| line.split(' ').next())
    {
        assert!(name.starts_with("toolgate_"), "{name}");
        assert!(
            text.contains(&format!("# HELP {name} ")),
            "{name} is not described"
        );
        seen += 1;
    }
    assert!(seen >= 6, "{text}");
}

#[test]
fn which_executor_a_definition_leads_to() {
    let definition = |extra: serde_json::Value| -> ToolDefinition {
        let mut tool = serde_json::json!({"name": "t", "type": "openapi", "parameters": {"type": "object"}});
        tool.as_object_mut()
            .unwrap()
            .extend(extra.as_object().unwrap().clone());
        serde_json::from_value(tool).unwrap()
    };
    let rows = [
        (
            serde_json::json!({"options": {"jina": {"mode": "search"}}}),
            ExecutorKind::Jina,
        ),
        (
            serde_json::json!({"options": {"http": {"base_url": "https://a.test"}}}),
            ExecutorKind::Http,
        ),
        (
            serde_json::json!({"target_subject": "cmd.tool.demo.x"}),
            ExecutorKind::Bus,
        ),
        (serde_json::json!({"type": "tool-service"}), ExecutorKind::Service),
        (serde_json::json!({"type": "mcp-tool"}), ExecutorKind::Mcp),
        (serde_json::json!({"type": "anything-else"}), ExecutorKind::Other),
    ];
    for (extra, kind) in rows {
        assert_eq!(executor_kind(&definition(extra.clone())), kind, "{extra}");
    }
}
