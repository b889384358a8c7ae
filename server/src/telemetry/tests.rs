use std::time::Duration;

use toolgate_api::ErrorCode;
use toolgate_api::audit::Entrance;
use toolgate_core::definition::ExecutorKind;
use toolgate_core::policy::Effect;

use super::{Metrics, WrittenMetric};

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
    metrics.call(Entrance::Rest, ExecutorKind::Http, None, 3);
    metrics.call(
        Entrance::Rest,
        ExecutorKind::Http,
        Some(ErrorCode::Timeout),
        30_000,
    );
    let text = metrics.render();
    for line in [
        "toolgate_calls_total{outcome=\"succeeded\",code=\"ok\",kind=\"http\",entrance=\"rest\"} 1",
        "toolgate_calls_total{outcome=\"failed\",code=\"timeout\",kind=\"http\",entrance=\"rest\"} 1",
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
            metrics.call(Entrance::Rest, kind, Some(code), 1);
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
            let labels = format!("outcome=\"failed\",code=\"{code}\",kind=\"{kind}\",entrance=\"rest\"");
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
    metrics.call(Entrance::Rest, ExecutorKind::Jina, None, 1);
    let project = metrics.project("demo");
    project.group(Some("knowledge")).requests.increment(1);
    project.tool("search").transitions.increment(1);
    project.time_in_state("draft").record(61.0);
    project.filtered_tools().record(3.0);
    project.escalations().increment(1);
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
        assert!(
            name.starts_with("toolgate_") || name.starts_with("agent_"),
            "{name}"
        );
        assert!(
            text.contains(&format!("# HELP {name} ")),
            "{name} is not described"
        );
        seen += 1;
    }
    assert!(seen >= 13, "{text}");
    for line in [
        "agent_workflow_duration_seconds_bucket{project=\"demo\",state=\"draft\",le=\"300\"} 1",
        "agent_filtered_tools_bucket{project=\"demo\",le=\"2\"} 0",
        "agent_filtered_tools_bucket{project=\"demo\",le=\"5\"} 1",
    ] {
        assert!(has(&text, line), "{line} is not in\n{text}");
    }
}

/// What Prometheus takes a sample for is what its name says beside the type: a histogram called `..._count` has a series that
/// belongs to nothing.
#[test]
fn every_sample_belongs_to_a_metric_of_a_known_type() {
    let metrics = Metrics::new();
    let project = metrics.project("demo");
    project.filtered_tools().record(3.0);
    project.time_in_state("draft").record(60.0);
    project.escalations().increment(1);
    metrics.call(Entrance::Rest, ExecutorKind::Http, None, 3);
    let text = metrics.render() + &WrittenMetric::groups().into_text();
    let mut open: Option<(String, String)> = None;
    let mut samples = 0;
    for line in text.lines().filter(|line| !line.is_empty()) {
        if let Some(declared) = line.strip_prefix("# TYPE ") {
            let (name, kind) = declared.split_once(' ').expect("a type");
            let reserved = ["_count", "_sum", "_bucket"]
                .iter()
                .any(|end| name.ends_with(end));
            assert!(!reserved, "{name} has the name of a series");
            open = Some((name.to_owned(), kind.to_owned()));
        } else if !line.starts_with('#') {
            let sample = line.split(['{', ' ']).next().expect("a name");
            let (name, kind) = open.as_ref().expect("a type before the first sample");
            let suffixes: &[&str] = match kind.as_str() {
                "histogram" => &["_bucket", "_sum", "_count"],
                _ => &[""],
            };
            let belongs = suffixes.iter().any(|suffix| sample == format!("{name}{suffix}"));
            assert!(belongs, "{sample} is no sample of the {kind} {name}");
            samples += 1;
        }
    }
    assert!(samples > 20, "{text}");
}

/// The metrics that a PromQL expression reads: every name that is not a function, an operator, or within quotes, braces,
/// brackets or a grouping.
fn metrics_of(expression: &str) -> Vec<String> {
    let groupings =
        regex::Regex::new(r"\b(by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)").unwrap();
    let rest = regex::Regex::new(r#""[^"]*"|\{[^}]*\}|\[[^\]]*\]"#).unwrap();
    let names = regex::Regex::new(r"([a-zA-Z_:][a-zA-Z0-9_:]*)\s*(\(?)").unwrap();
    let text = groupings.replace_all(expression, " ");
    let text = rest.replace_all(&text, " ");
    names
        .captures_iter(&text)
        .filter(|found| found[2].is_empty())
        .map(|found| found[1].to_owned())
        .filter(|name| !["and", "or", "unless", "bool", "offset"].contains(&name.as_str()))
        .collect()
}

#[test]
fn expressions_are_read_as_promql_means_them() {
    let rows = [
        ("up", vec!["up"]),
        (
            r#"topk(5, sum by (le, b) (rate(a_bucket{x="y z", le=~".*"}[$__rate_interval]))) / c"#,
            vec!["a_bucket", "c"],
        ),
        ("a unless on (b) c", vec!["a", "c"]),
    ];
    for (expression, expected) in rows {
        assert_eq!(metrics_of(expression), expected, "{expression}");
    }
}

/// Every metric that `/metrics` can show, with `_bucket`, `_sum` and `_count` of histograms.
fn shown() -> std::collections::BTreeSet<String> {
    let histograms = super::registry::HISTOGRAMS
        .iter()
        .flat_map(|(name, _)| ["_bucket", "_sum", "_count"].map(|suffix| format!("{name}{suffix}")));
    described()
        .filter(|name| super::registry::HISTOGRAMS.iter().all(|(other, _)| other != name))
        .map(str::to_owned)
        .chain(histograms)
        .collect()
}

fn described() -> impl Iterator<Item = &'static str> {
    let counters = super::registry::COUNTERS.iter().map(|(name, _)| *name);
    let histograms = super::registry::HISTOGRAMS.iter().map(|(name, _)| *name);
    let gauges = super::registry::GAUGES.iter().map(|(name, _)| *name);
    let written = [
        "agent_tool_group_availability",
        "agent_state_availability",
        "agent_mcp_connections",
    ];
    let tools = super::tools::TOOLS.iter().map(|(name, ..)| *name);
    counters
        .chain(histograms)
        .chain(gauges)
        .chain(written)
        .chain(tools)
}

#[test]
fn the_dashboard_reads_only_metrics_that_exist_and_all_of_the_specification() {
    let dashboard = include_str!("../../docs/grafana-dashboard.json");
    let dashboard: serde_json::Value = serde_json::from_str(dashboard).unwrap();
    let shown = shown();
    let mut used = std::collections::BTreeSet::new();
    for panel in dashboard["panels"].as_array().unwrap() {
        for target in panel["targets"].as_array().into_iter().flatten() {
            let expression = target["expr"].as_str().unwrap();
            let metrics = metrics_of(expression);
            assert!(!metrics.is_empty(), "{expression}");
            for metric in metrics {
                assert!(shown.contains(&metric), "{metric} in {expression}");
                used.insert(metric);
            }
        }
    }
    let missing: Vec<_> = described()
        .filter(|name| !used.iter().any(|used| used.starts_with(name)))
        .collect();
    assert_eq!(missing, [""; 0], "the dashboard shows every metric");
}

#[test]
fn the_documentation_names_every_metric_and_no_other() {
    let document = include_str!("../../docs/metrics.md");
    let documented: std::collections::BTreeSet<&str> = document
        .lines()
        .filter_map(|line| line.strip_prefix("| `"))
        .filter_map(|line| line.split('`').next())
        .collect();
    assert_eq!(documented, described().collect());
}
