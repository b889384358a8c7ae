//! The graph as text for Mermaid and for Graphviz. Names are untrusted: they are written only inside quotes, and
//! states are known by numbers of our own.

use std::collections::HashMap;
use std::fmt::Write;

use super::graph::{StateGraph, Transition};
use crate::policy::decision::UNDEFINED_STATE;

/// States drawn at most.
pub const MAX_STATES: usize = 200;
/// Transitions drawn at most.
pub const MAX_TRANSITIONS: usize = 400;
/// Tools named at one transition.
const MAX_TOOLS: usize = 3;
/// Characters of one name.
const MAX_NAME: usize = 60;

/// A Mermaid state diagram (`stateDiagram-v2`).
#[must_use]
pub fn mermaid(graph: &StateGraph) -> String {
    let picture = Picture::new(graph);
    let mut text = "stateDiagram-v2\n".to_owned();
    let mut line = |args: std::fmt::Arguments<'_>| {
        let _infallible = writeln!(text, "    {args}");
    };
    for (at, name) in picture.states.iter().enumerate() {
        line(format_args!("state \"{}\" as s{at}", entities(&shown(name))));
    }
    if picture.every {
        line(format_args!("state \"every state\" as every"));
    }
    if let Some(start) = picture.number.get(UNDEFINED_STATE) {
        line(format_args!("[*] --> s{start}"));
    }
    for (from, to, tools) in &picture.ways {
        line(format_args!("{from} --> {to}: {}", entities(tools)));
    }
    if let Some(left_out) = picture.left_out {
        line(format_args!("%% {left_out}"));
    }
    text
}

/// A Graphviz digraph.
#[must_use]
pub fn dot(graph: &StateGraph) -> String {
    let picture = Picture::new(graph);
    let mut text = "digraph states {\n".to_owned();
    let mut line = |args: std::fmt::Arguments<'_>| {
        let _infallible = writeln!(text, "    {args}");
    };
    line(format_args!("rankdir=LR;"));
    line(format_args!("node [shape=box, style=rounded];"));
    for (at, name) in picture.states.iter().enumerate() {
        line(format_args!("s{at} [label=\"{}\"];", quoted(&shown(name))));
    }
    if picture.every {
        line(format_args!("every [label=\"every state\", style=dashed];"));
    }
    if let Some(start) = picture.number.get(UNDEFINED_STATE) {
        line(format_args!("start [shape=point];"));
        line(format_args!("start -> s{start};"));
    }
    for (from, to, tools) in &picture.ways {
        line(format_args!("{from} -> {to} [label=\"{}\"];", quoted(tools)));
    }
    if let Some(left_out) = picture.left_out {
        line(format_args!("// {left_out}"));
    }
    text.push_str("}\n");
    text
}

/// What is drawn of a graph.
struct Picture<'g> {
    states: Vec<&'g str>,
    number: HashMap<&'g str, usize>,
    every: bool,
    /// Identifier, identifier, and the names of the tools.
    ways: Vec<(String, String, String)>,
    left_out: Option<String>,
}

impl<'g> Picture<'g> {
    fn new(graph: &'g StateGraph) -> Self {
        // The start is always drawn, then what can be reached, then the rest.
        let mut states: Vec<_> = graph.states.iter().collect();
        states.sort_by_key(|state| (state.name != UNDEFINED_STATE, !state.reachable));
        let states: Vec<&str> = states
            .into_iter()
            .take(MAX_STATES)
            .map(|state| state.name.as_str())
            .collect();
        let number: HashMap<&str, usize> = states.iter().enumerate().map(|(at, &name)| (name, at)).collect();
        let id = |name: &str| number.get(name).map(|at| format!("s{at}"));
        let ways: Vec<(String, String, String)> = graph
            .transitions
            .iter()
            .filter_map(|way| {
                let from = match &way.from {
                    Some(from) => id(from)?,
                    None => "every".to_owned(),
                };
                Some((from, id(&way.to)?, label(way)))
            })
            .take(MAX_TRANSITIONS)
            .collect();
        let left_out =
            (graph.states.len() > states.len() || graph.transitions.len() > ways.len()).then(|| {
                format!(
                    "cut short: {} of {} states and {} of {} transitions are drawn",
                    states.len(),
                    graph.states.len(),
                    ways.len(),
                    graph.transitions.len()
                )
            });
        Self {
            every: ways.iter().any(|(from, _, _)| from == "every"),
            states,
            ways,
            left_out,
            number,
        }
    }
}

fn label(way: &Transition) -> String {
    let mut text = way
        .tools
        .iter()
        .take(MAX_TOOLS)
        .map(|tool| shown(tool))
        .collect::<Vec<_>>()
        .join(", ");
    if way.tools.len() > MAX_TOOLS {
        let _infallible = write!(text, " and {} more", way.tools.len() - MAX_TOOLS);
    }
    text
}

/// On one line, and not too long. Characters that are not printed, or that turn the direction of text, are replaced.
fn shown(name: &str) -> String {
    let visible = |c: char| match c {
        c if c.is_control() => '\u{fffd}',
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' => {
            '\u{fffd}'
        }
        c => c,
    };
    let mut text: String = name.chars().take(MAX_NAME).map(visible).collect();
    if name.chars().nth(MAX_NAME).is_some() {
        text.push('…');
    }
    text
}

/// Everything but plain letters, digits and a few signs as Mermaid's numbered entities, so that nothing in a name is
/// syntax or mark-up.
fn entities(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_alphanumeric() || matches!(c, ' ' | '-' | '_' | '.' | '/' | ',' | '…') {
            escaped.push(c);
        } else {
            let _infallible = write!(escaped, "#{};", u32::from(c));
        }
    }
    escaped
}

/// For a double-quoted string of the DOT language, where a backslash would begin an escape.
fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}
