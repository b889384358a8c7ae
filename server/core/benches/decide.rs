//! How long a decision takes, and what it depends on: not on the number of tools.
//!
//! `cargo bench -p toolgate-core --bench decide`

use std::hint::black_box;
use std::time::Duration;

use chrono::DateTime;
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use serde_json::{Map, json};
use toolgate_core::definition::ToolDefinition;
use toolgate_core::definition::model::Options;
use toolgate_core::ids::ToolName;
use toolgate_core::policy::groups::GroupSet;
use toolgate_core::snapshot::{ProjectSnapshot, ToolInput};

/// Tools and groups of one project.
const SIZES: [(usize, usize); 5] = [
    (10, 10),
    (1_000, 10),
    (1_000, 1_000),
    (100_000, 10),
    (100_000, 1_000),
];

fn tool_name(index: usize) -> String {
    format!("tool-{index:06}")
}

/// Every tool is in three of the groups; every second one is restricted to two of five states.
fn tools(count: usize, groups: usize) -> Vec<ToolInput> {
    let in_groups = |index: usize| {
        [
            index % groups,
            (index * 7 + 1) % groups,
            (index * 31 + 2) % groups,
        ]
        .map(|group| format!("area-{}/group-{group}", group % 10))
    };
    (0..count)
        .map(|index| ToolInput {
            definition: ToolDefinition {
                name: ToolName::parse(tool_name(index)).expect("a valid name"),
                kind: "openapi".to_owned(),
                description: "Searches the web and returns the ten best pages.".to_owned(),
                group: Some(in_groups(index).to_vec()),
                state: None,
                available_in_states: (index % 2 == 0)
                    .then(|| vec![format!("state-{}", index % 5), "undefined".to_owned()]),
                parameters: json!({
                    "type": "object",
                    "properties": {"q": {"type": "string"}, "num": {"type": "integer", "minimum": 1}},
                    "required": ["q"],
                }),
                after_execution: None,
                target_subject: None,
                service: None,
                config: Map::new(),
                options: Options::default(),
            },
            revision: 1,
            updated_at: DateTime::UNIX_EPOCH,
            updated_by: "admin".to_owned(),
        })
        .collect()
}

/// A grant of every group by name, so that no `*` takes a short cut.
fn grant(groups: usize) -> GroupSet {
    (0..groups)
        .map(|group| format!("area-{}/group-{group}", group % 10))
        .collect()
}

fn decisions(criterion: &mut Criterion) {
    let mut bench = criterion.benchmark_group("decide");
    for (count, groups) in SIZES {
        let snapshot = ProjectSnapshot::build(1, tools(count, groups), Vec::new(), None);
        let granted = grant(groups);
        let few: Vec<String> = granted
            .to_vec()
            .into_iter()
            .step_by((groups / 3).max(1))
            .take(3)
            .collect();
        let all = granted.to_vec();
        let names: Vec<String> = (0..count)
            .step_by((count / 1_000).max(1))
            .map(tool_name)
            .collect();
        let size = format!("{count} tools, {groups} groups");

        let mut next = names.iter().cycle();
        bench.bench_function(BenchmarkId::new("3 requested", &size), |run| {
            run.iter(|| {
                let name = next.next().map_or("", String::as_str);
                black_box(snapshot.decide(&granted, Some(&few), Some("state-1"), name))
            });
        });
        bench.bench_function(BenchmarkId::new("all requested", &size), |run| {
            run.iter(|| {
                let name = next.next().map_or("", String::as_str);
                black_box(snapshot.decide(&granted, Some(&all), Some("state-1"), name))
            });
        });
        bench.bench_function(BenchmarkId::new("resolve again", &size), |run| {
            run.iter(|| black_box(snapshot.resolve(&granted, Some(&few), Some("state-1"))));
        });
        bench.bench_function(BenchmarkId::new("visible again", &size), |run| {
            run.iter(|| black_box(snapshot.visible(&granted)));
        });
    }
    bench.finish();
}

fn builds(criterion: &mut Criterion) {
    let mut bench = criterion.benchmark_group("build");
    bench.sample_size(10);
    for (count, groups) in SIZES {
        let inputs = tools(count, groups);
        let size = format!("{count} tools, {groups} groups");
        bench.bench_function(BenchmarkId::new("from nothing", &size), |run| {
            run.iter_batched(
                || inputs.clone(),
                |inputs| ProjectSnapshot::build(1, inputs, Vec::new(), None),
                criterion::BatchSize::PerIteration,
            );
        });
        let before = ProjectSnapshot::build(1, inputs.clone(), Vec::new(), None);
        let mut described = inputs[0].clone();
        described.revision = 2;
        let mut moved = described.clone();
        moved.definition.group = Some(vec!["elsewhere".to_owned()]);
        for (what, change) in [
            ("one description changed", described),
            ("one group changed", moved),
        ] {
            bench.bench_function(BenchmarkId::new(what, &size), |run| {
                run.iter_batched(
                    || vec![change.clone()],
                    |changed| before.with_changes(2, changed, &[], Vec::new()),
                    criterion::BatchSize::PerIteration,
                );
            });
        }
    }
    bench.finish();
}

fn settings() -> Criterion {
    Criterion::default()
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(600))
}

criterion_group! { name = benches; config = settings(); targets = decisions, builds }
criterion_main!(benches);
