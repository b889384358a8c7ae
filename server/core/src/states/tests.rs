//! Small workflows, and the graph against searching every path.

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use super::render::{MAX_STATES, dot, mermaid};
use super::*;
use crate::snapshot::CompiledTool;
use crate::snapshot::testing::{Draft, tool};

fn graph(tools: &[Draft], declared: &[&str]) -> StateGraph {
    let tools: Vec<Arc<CompiledTool>> = tools.iter().map(|draft| draft.clone().compiled()).collect();
    StateGraph::new(tools.iter().map(Arc::as_ref), declared.iter().copied())
}

fn names(names: impl IntoIterator<Item = impl AsRef<str>>) -> Vec<String> {
    names.into_iter().map(|name| name.as_ref().to_owned()).collect()
}

#[test]
fn the_workflow_of_the_specification_is_one_circle() {
    let graph = graph(
        &[
            tool("knowledge-query")
                .moves_to("analysis")
                .states(&["undefined", "research"]),
            tool("graph-update").states(&["analysis", "modification"]),
            tool("text-completion").moves_to("undefined"),
            tool("complex-analysis").moves_to("results").states(&["analysis"]),
            tool("reset-workflow")
                .moves_to("undefined")
                .states(&["analysis", "results"]),
        ],
        &[],
    );
    let states: Vec<&str> = graph.states.iter().map(|state| state.name.as_str()).collect();
    assert_eq!(
        states,
        ["analysis", "modification", "research", "results", "undefined"]
    );
    assert_eq!(names(graph.unreachable()), ["modification", "research"]);
    assert!(
        graph.dead_ends.is_empty(),
        "text-completion leads back from everywhere"
    );
    assert_eq!(graph.cycles, [["analysis", "results", "undefined"]]);
    let way = |from: Option<&str>, to: &str| {
        graph
            .transitions
            .iter()
            .find(|way| way.from.as_deref() == from && way.to == to)
            .map(|way| way.tools.clone())
    };
    assert_eq!(
        way(Some("undefined"), "analysis"),
        Some(names(["knowledge-query"]))
    );
    assert_eq!(way(None, "undefined"), Some(names(["text-completion"])));
    assert_eq!(graph.transitions.len(), 6);
}

#[test]
fn irregularities_are_named() {
    let graph = graph(
        &[
            tool("begin").states(&["undefined"]).moves_to("end"),
            tool("look").states(&["end"]),
            tool("lost").states(&["island"]).moves_to("island"),
            tool("never").states(&[]),
            tool("never-either").states(&[""]).moves_to("nowhere"),
        ],
        &["planned", "end"],
    );
    assert_eq!(names(graph.unreachable()), ["island", "nowhere", "planned"]);
    assert_eq!(names(graph.unused()), ["planned"]);
    let dead: Vec<(&str, bool)> = graph
        .dead_ends
        .iter()
        .map(|end| (end.state.as_str(), end.no_tool_open))
        .collect();
    assert_eq!(
        dead,
        [
            ("end", false),
            ("island", false),
            ("nowhere", true),
            ("planned", true)
        ]
    );
    assert!(
        graph.cycles.is_empty(),
        "a way from a state to itself is no cycle"
    );
    assert_eq!(graph.never_callable, ["never", "never-either"]);
    assert_eq!(graph.only_in_unreachable, ["lost"]);
}

#[test]
fn two_tools_of_every_state_make_a_cycle() {
    let graph = graph(&[tool("a").moves_to("x"), tool("b").moves_to("y")], &[]);
    assert_eq!(graph.cycles, [["x", "y"]]);
    assert!(graph.dead_ends.is_empty());
    let one = self::graph(&[tool("a").moves_to("x")], &[]);
    assert!(one.cycles.is_empty());
    assert_eq!(one.dead_ends.len(), 1, "nothing leads out of x: {one:?}");
}

#[test]
fn a_project_without_tools_has_its_start() {
    let graph = graph(&[], &[]);
    assert_eq!(graph.states.len(), 1);
    assert!(graph.states[0].reachable && graph.states[0].used);
    assert!(graph.dead_ends[0].no_tool_open);
}

#[test]
fn names_cannot_leave_their_quotes() {
    let hostile = "x\"]; a -> b\n%%{init: {}}%%\u{202e}<script>alert(1)</script>\\";
    let graph = graph(&[tool("go").moves_to(hostile)], &[]);
    let mermaid = mermaid(&graph);
    for line in mermaid.lines().skip(1) {
        let line = line.trim();
        assert!(
            line.starts_with("state \"") || line.starts_with("[*] --> s") || line.starts_with("every --> s"),
            "{line}"
        );
        assert!(
            !line.contains(['<', '>', '{', '%', '\\', '\u{202e}']) || line.contains("-->"),
            "{line}"
        );
        assert!(line.matches('"').count() % 2 == 0, "{line}");
    }
    let dot = dot(&graph);
    assert!(dot.contains("x\\\"]; a -> b"), "{dot}");
    assert!(
        dot.lines().all(|line| !line.trim_start().starts_with("%%")),
        "{dot}"
    );
    assert!(dot.contains("</script>\\\\\"") || dot.contains('…'), "{dot}");
}

#[test]
fn a_picture_is_cut_short_and_says_so() {
    let states: Vec<String> = (0..3 * MAX_STATES).map(|at| format!("s{at:04}")).collect();
    let tools: Vec<Draft> = states
        .windows(2)
        .map(|pair| {
            tool(&format!("to-{}", pair[1]))
                .states(&[&pair[0]])
                .moves_to(&pair[1])
        })
        .collect();
    let graph = graph(&tools, &[]);
    assert_eq!(graph.states.len(), 3 * MAX_STATES + 1);
    for text in [mermaid(&graph), dot(&graph)] {
        assert!(text.contains("cut short: 200 of 601 states"), "{text}");
        assert!(text.contains("\"undefined\""), "the start is always there");
    }
}

#[test]
fn many_states_in_a_row_take_no_stack() {
    let states: Vec<String> = (0..20_000).map(|at| format!("s{at}")).collect();
    let tools: Vec<Draft> = states
        .windows(2)
        .map(|pair| {
            tool(&format!("to-{}", pair[1]))
                .states(&[&pair[0]])
                .moves_to(&pair[1])
        })
        .collect();
    let graph = graph(&tools, &[]);
    assert!(graph.cycles.is_empty());
    assert_eq!(graph.dead_ends.len(), 2, "the start and the last");
}

const STATES: [&str; 5] = ["undefined", "a", "b", "c", "d"];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn the_graph_is_what_trying_every_call_finds(
        kinds in proptest::collection::vec(
            (
                subsequence(&["undefined", "a", "b", "c", "d", "*", ""][..], 0..=3),
                proptest::option::of(select(&STATES[..])),
            ),
            0..8,
        ),
    ) {
        let tools: Vec<Draft> = kinds.iter().enumerate().map(|(at, (open, to))| {
            let draft = tool(&format!("t{at}")).states(open);
            match to {
                Some(to) => draft.moves_to(to),
                None => draft,
            }
        }).collect();
        let found = graph(&tools, &STATES);
        let is_open = |open: &[&str], state: &str| open.contains(&"*") || open.contains(&state);
        let steps = |state: &str| -> BTreeSet<&str> {
            kinds.iter().filter(|(open, _)| is_open(open, state)).filter_map(|(_, to)| *to).collect()
        };
        // Every state that some sequence of calls leads to.
        let closure = |start: &'static str| -> BTreeSet<&str> {
            let mut seen = BTreeSet::new();
            let mut open: Vec<&str> = steps(start).into_iter().collect();
            while let Some(state) = open.pop() {
                if seen.insert(state) {
                    open.extend(steps(state));
                }
            }
            seen
        };
        for state in &found.states {
            let name = STATES.into_iter().find(|&name| name == state.name).expect("a known state");
            prop_assert_eq!(state.reachable, name == "undefined" || closure("undefined").contains(name));
            prop_assert_eq!(
                state.open_tools,
                kinds.iter().filter(|(open, _)| is_open(open, name)).count() as u64
            );
            let dead = found.dead_ends.iter().any(|end| end.state == name);
            prop_assert_eq!(dead, steps(name).iter().all(|&to| to == name));
            for other in STATES {
                let together = found.cycles.iter()
                    .any(|cycle| cycle.contains(&name.to_owned()) && cycle.contains(&other.to_owned()));
                let expected = name != other && closure(name).contains(other) && closure(other).contains(name);
                prop_assert_eq!(together && name != other, expected, "{} and {}", name, other);
            }
        }
        let never: Vec<String> = kinds.iter().enumerate()
            .filter(|(_, (open, _))| open.iter().all(|state| state.is_empty()))
            .map(|(at, _)| format!("t{at}")).collect();
        prop_assert_eq!(&found.never_callable, &never);
    }
}
