//! How long a decision takes, and what it depends on: not on the number of tools. How long a snapshot takes to build and to
//! change, and a recommendation from it.
//!
//! `cargo bench -p toolgate-core --bench decide`

use std::hint::black_box;
use std::time::Duration;

use chrono::DateTime;
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use serde_json::{Map, json};
use toolgate_core::definition::ToolDefinition;
use toolgate_core::definition::model::{Annotations, Options, SchemaText};
use toolgate_core::ids::ToolName;
use toolgate_core::policy::evaluation_context::EvaluationContext;
use toolgate_core::policy::groups::GroupSet;
use toolgate_core::recommend::Index;
use toolgate_core::snapshot::{CompiledTool, LabelInput, ProjectSnapshot, ToolInput};

/// Tools, groups and states of one project.
const SIZES: [(usize, usize, usize); 5] = [
    (10, 10, 5),
    (1_000, 10, 5),
    (1_000, 1_000, 100),
    (100_000, 10, 5),
    (100_000, 1_000, 100),
];

fn tool_name(index: usize) -> String {
    format!("tool-{index:06}")
}

/// Every tool is in three of the groups; every second one is restricted to two of the states, and leads to another.
fn tools(count: usize, groups: usize, states: usize) -> Vec<ToolInput> {
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
                title: None,
                annotations: Annotations::default(),
                description: "Searches the web and returns the ten best pages.".to_owned(),
                enabled: true,
                group: Some(in_groups(index).to_vec()),
                state: (index % 2 == 0).then(|| format!("state-{}", (index + 1) % states)),
                available_in_states: (index % 2 == 0)
                    .then(|| vec![format!("state-{}", index % states), "undefined".to_owned()]),
                output_schema: None,
                parameters: SchemaText::from(&json!({
                    "type": "object",
                    "properties": {"q": {"type": "string"}, "num": {"type": "integer", "minimum": 1}},
                    "required": ["q"],
                })),
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

/// A condition on each of the ten areas, of which half are open.
fn conditions() -> Vec<LabelInput> {
    (0..10)
        .map(|area| LabelInput {
            name: format!("area-{area}"),
            description: String::new(),
            condition: Some(format!(
                "now.getHours('Europe/Berlin') >= {} && load.calls_in_flight < 100",
                if area % 2 == 0 { 0 } else { 23 }
            )),
            revision: 1,
            updated_at: DateTime::UNIX_EPOCH,
            updated_by: "admin".to_owned(),
        })
        .collect()
}

/// What a snapshot takes beyond the definitions it is built from: reported once, not timed.
fn memory() {
    let (count, groups, states) = SIZES[SIZES.len() - 1];
    let Some(empty) = resident() else { return };
    let inputs = tools(count, groups, states);
    let Some(defined) = resident() else { return };
    let started = std::time::Instant::now();
    let snapshot = ProjectSnapshot::build(1, inputs, Vec::new(), None);
    let took = started.elapsed();
    let Some(built) = resident() else { return };
    let per_tool = |bytes: u64| bytes / count as u64;
    println!(
        "{count} tools x {groups} groups x {states} states: built in {took:?}; {} bytes a tool for the definitions, {} \
         more for the snapshot",
        per_tool(defined.saturating_sub(empty)),
        per_tool(built.saturating_sub(defined)),
    );
    println!(
        "of these, {} bytes are the definition without what it points to, and {} the compiled tool",
        size_of::<ToolDefinition>(),
        size_of::<CompiledTool>(),
    );
    drop(snapshot);
}

/// Bytes of memory that this process holds; `None` where the system does not say.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? * 1024)
}

fn decisions(criterion: &mut Criterion) {
    memory();
    let mut bench = criterion.benchmark_group("decide");
    let evaluation = EvaluationContext::at(DateTime::UNIX_EPOCH);
    for (count, groups, states) in SIZES {
        let snapshot = ProjectSnapshot::build(1, tools(count, groups, states), Vec::new(), None);
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
        let size = format!("{count} tools, {groups} groups, {states} states");

        let mut next = names.iter().cycle();
        bench.bench_function(BenchmarkId::new("3 requested", &size), |run| {
            run.iter(|| {
                let name = next.next().map_or("", String::as_str);
                black_box(snapshot.decide(&granted, Some(&few), Some("state-1"), name, &evaluation))
            });
        });
        bench.bench_function(BenchmarkId::new("all requested", &size), |run| {
            run.iter(|| {
                let name = next.next().map_or("", String::as_str);
                black_box(snapshot.decide(&granted, Some(&all), Some("state-1"), name, &evaluation))
            });
        });
        bench.bench_function(BenchmarkId::new("resolve again", &size), |run| {
            run.iter(|| black_box(snapshot.resolve(&granted, Some(&few), Some("state-1"), &evaluation)));
        });
        bench.bench_function(BenchmarkId::new("visible again", &size), |run| {
            run.iter(|| black_box(snapshot.visible(&granted)));
        });
        let conditioned = ProjectSnapshot::build(1, tools(count, groups, states), Vec::new(), None)
            .with_labels(conditions(), Vec::new(), None);
        let mut next = names.iter().cycle();
        bench.bench_function(BenchmarkId::new("10 conditions, 3 requested", &size), |run| {
            run.iter(|| {
                let name = next.next().map_or("", String::as_str);
                black_box(conditioned.decide(&granted, Some(&few), Some("state-1"), name, &evaluation))
            });
        });
        bench.bench_function(BenchmarkId::new("10 conditions, resolve again", &size), |run| {
            run.iter(|| black_box(conditioned.resolve(&granted, Some(&few), Some("state-1"), &evaluation)));
        });
    }
    bench.finish();
}

fn builds(criterion: &mut Criterion) {
    let mut bench = criterion.benchmark_group("build");
    bench.sample_size(10);
    for (count, groups, states) in SIZES {
        let inputs = tools(count, groups, states);
        let size = format!("{count} tools, {groups} groups, {states} states");
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
        let renamed = |input: &ToolInput, name: String| {
            let mut input = input.clone();
            input.definition.name = ToolName::parse(name).expect("a valid name");
            input
        };
        let first = vec![renamed(&inputs[0], "first".to_owned())];
        let thousand: Vec<ToolInput> = inputs
            .iter()
            .cycle()
            .take(1_000)
            .zip(0..)
            .map(|(input, at)| renamed(input, format!("tool-{at:06}-b")))
            .collect();
        for (what, change) in [
            ("one description changed", vec![described]),
            ("one group changed", vec![moved]),
            ("one added in front", first),
            ("1 000 added", thousand),
        ] {
            bench.bench_function(BenchmarkId::new(what, &size), |run| {
                run.iter_batched(
                    || change.clone(),
                    |changed| before.with_changes(2, changed, &[], Vec::new()),
                    criterion::BatchSize::PerIteration,
                );
            });
        }
    }
    bench.finish();
}

fn recommendations(criterion: &mut Criterion) {
    let mut bench = criterion.benchmark_group("recommend");
    bench.sample_size(10);
    for count in [1_000, 100_000] {
        let inputs = tools(count, 10, 5);
        let size = format!("{count} tools");
        bench.bench_function(BenchmarkId::new("first index", &size), |run| {
            run.iter_batched(
                || ProjectSnapshot::build(1, inputs.clone(), Vec::new(), None),
                |snapshot| (Index::build(&snapshot), snapshot),
                criterion::BatchSize::PerIteration,
            );
        });
        let before = ProjectSnapshot::build(1, inputs.clone(), Vec::new(), None);
        let index = Index::build(&before);
        let mut described = inputs[0].clone();
        described.revision = 2;
        let after = before.with_changes(2, vec![described], &[], Vec::new());
        bench.bench_function(BenchmarkId::new("index after a change", &size), |run| {
            run.iter_with_large_drop(|| Index::build(&after));
        });
        bench.bench_function(BenchmarkId::new("question", &size), |run| {
            run.iter_with_large_drop(|| index.search(black_box("search the web for pages about a number")));
        });
    }
    bench.finish();
}

fn settings() -> Criterion {
    Criterion::default()
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(600))
}

criterion_group! { name = benches; config = settings(); targets = decisions, builds, recommendations }
criterion_main!(benches);
