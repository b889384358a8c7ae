//! The state machine as a drawing that can be moved and enlarged. Every state and every arrow is a button, so that the
//! keyboard reaches it; the table below says the same in words.

use leptos::prelude::*;
use leptos::wasm_split::wasm_split;
use toolgate_api::sessions::SessionCounts;
use toolgate_api::states::{GraphTransition, StateGraph};

use super::layout::{BOX_HEIGHT, BOX_WIDTH, LINE, Layout, MARK_HEIGHT, MARK_WIDTH, Route};
use super::lens::Lens;
use super::map::map;
use super::picked::{Picked, way_of};
use crate::api::ApiError;
use crate::components::{Icon, Symbol};
use crate::language::{t, tf};
use crate::lazy::lazy;
use crate::reactive::part;
use crate::words::counted;

/// Tools named on an arrow.
const NAMED: usize = 2;
/// Characters of a name in the drawing; the rest is in the tooltip.
const LETTERS: usize = 20;

/// Draws a graph.
type Draw = fn(&StateGraph, Picked, Memo<SessionCounts>) -> AnyView;

#[wasm_split(state_drawing, wasm_split_path = leptos::wasm_split, fallible)]
fn code() -> Result<Draw, ApiError> {
    Ok(drawing)
}

/// Draws a graph as soon as the code that places it is here.
pub(super) fn lazy_drawing(graph: StateGraph, picked: Picked, counts: Memo<SessionCounts>) -> AnyView {
    lazy(
        Some(t("the drawing")),
        true,
        || Box::pin(code()),
        move |draw| draw(&graph, picked, counts),
    )
}

/// Draws a graph, with what is picked in it and how many sessions are in each state.
fn drawing(graph: &StateGraph, picked: Picked, counts: Memo<SessionCounts>) -> AnyView {
    let labels: Vec<Vec<String>> = graph.transitions.iter().map(label_of).collect();
    let layout = Layout::of(graph, &labels);
    let lens = Lens::of(layout.width, layout.height);
    let whole = lens.whole;
    let arrows: Vec<_> = graph
        .transitions
        .iter()
        .zip(&layout.routes)
        .zip(labels)
        .filter_map(|((step, route), lines)| Some(arrow(step, route.as_ref()?, lines, picked, lens)))
        .collect();
    let boxes: Vec<_> = graph
        .states
        .iter()
        .filter_map(|state| {
            let place = layout.place(&state.name)?;
            let dead = graph.dead_ends.iter().any(|end| end.state == state.name);
            let unused = graph.unused.contains(&state.name);
            let (class, note) = match (unused, state.reachable, dead) {
                (true, ..) => ("state-unused", t("no tool names it").to_owned()),
                (_, false, _) => ("state-unreachable", t("cannot be reached").to_owned()),
                (_, _, true) => ("state-dead", t("nothing leads out").to_owned()),
                _ => ("", tf!("{tools} open", tools = counted(state.open_tools, "tool"))),
            };
            Some(state_box(&state.name, class, note, place, (picked, lens), counts))
        })
        .collect();
    let buttons = [
        (t("Zoom in"), 0.8, Symbol::Plus),
        (t("Zoom out"), 1.25, Symbol::Minus),
        (t("Show all"), 0.0, Symbol::Fit),
    ]
    .into_iter()
    .map(|(name, factor, symbol)| {
        let press = move |_| {
            if factor > 0.0 {
                lens.zoom(factor, None);
            } else {
                lens.show(whole);
            }
        };
        view! {
            <button type="button" class="button button-icon" aria-label=name title=name on:click=press>
                <Icon symbol />
            </button>
        }
    })
    .collect::<Vec<_>>();
    view! {
        <div
            class="graph-wrap"
            tabindex="0"
            role="group"
            aria-label=t("State machine; plus, minus, zero and the arrow keys move the view")
            node_ref=lens.frame
            on:keydown=move |event| lens.key(&event)
            on:wheel=move |event| {
                event.prevent_default();
                let factor = if event.delta_y() < 0.0 { 0.9 } else { 1.1 };
                lens.zoom(factor, Some((f64::from(event.client_x()), f64::from(event.client_y()))));
            }
            on:pointerdown=move |event| {
                lens.moved.set_value(false);
                lens.held.set_value(Some((f64::from(event.client_x()), f64::from(event.client_y()))));
            }
            on:pointermove=move |event| lens.drag(&event)
            on:pointerup=move |_| lens.held.set_value(None)
            on:pointerleave=move |_| lens.held.set_value(None)
        >
            <svg class="graph" viewBox=move || lens.view_box()>
                <defs>
                    <marker id="arrow-head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">
                        <path d="M0 0 8 4 0 8Z"></path>
                    </marker>
                </defs>
                {arrows}
                {boxes}
            </svg>
            {map(&layout, graph, lens)}
            <div class="graph-buttons">{buttons}</div>
        </div>
    }
    .into_any()
}

/// What makes a part of the drawing a button.
fn button(
    class: impl Fn() -> String + Send + Sync + 'static,
    name: String,
    lens: Lens,
    press: impl Fn() + Send + Sync + 'static,
    content: AnyView,
) -> AnyView {
    let press = Callback::new(move |()| press());
    view! {
        <g
            class=class
            role="button"
            tabindex="0"
            aria-label=name
            on:click=move |_| {
                if !lens.moved.get_value() {
                    press.run(());
                }
            }
            on:keydown=move |event| {
                if matches!(event.key().as_str(), "Enter" | " ") {
                    event.prevent_default();
                    press.run(());
                }
            }
        >
            {content}
        </g>
    }
    .into_any()
}

fn short(name: &str, letters: usize) -> String {
    if name.chars().count() <= letters {
        return name.to_owned();
    }
    name.chars().take(letters - 1).chain(['…']).collect()
}

fn state_box(
    name: &str,
    class: &'static str,
    note: String,
    (x, y): (i32, i32),
    (picked, lens): (Picked, Lens),
    counts: Memo<SessionCounts>,
) -> AnyView {
    let label = format!("{name}, {note}");
    let middle = x + BOX_WIDTH / 2;
    let content = view! {
        <title>{label.clone()}</title>
        <rect x=x y=y width=BOX_WIDTH height=BOX_HEIGHT rx="10"></rect>
    }
    .into_any();
    let (here, chosen) = (name.to_owned(), name.to_owned());
    let class = move || {
        let at = if picked.here.with(|at| *at == here) {
            " state-at"
        } else {
            ""
        };
        format!("state-place {class}{at}")
    };
    // As with arrows, what is written lies over the button, not in it: it is shortened.
    view! {
        <g class=class>
            {button(|| "state-box".to_owned(), label, lens, move || picked.state(&chosen), content)}
            <text x=middle y=y + 20 text-anchor="middle" aria-hidden="true">
                {short(name, 19)}
            </text>
            <text class="state-note" x=middle y=y + 36 text-anchor="middle" aria-hidden="true">
                {note}
            </text>
            {sessions_at(name, (x + BOX_WIDTH, y), counts)}
        </g>
    }
    .into_any()
}

/// How many sessions are in a state, at the corner of its box.
fn sessions_at(name: &str, (x, y): (i32, i32), counts: Memo<SessionCounts>) -> AnyView {
    let name = name.to_owned();
    part(move || {
        let count = counts.with(|counts| {
            let found = counts.items.iter().find(|count| count.name == name);
            found.map_or(0, |count| count.sessions)
        });
        if count == 0 {
            return ().into_any();
        }
        let shown = if count > 999 {
            "999+".to_owned()
        } else {
            count.to_string()
        };
        view! {
            <g class="state-sessions">
                <title>{tf!("{sessions} in {name} now", sessions = counted(count, "session"), name)}</title>
                <rect x=x - 22 y=y - 9 width="34" height="18" rx="9"></rect>
                <text x=x - 5 y=y + 4 text-anchor="middle" aria-hidden="true">
                    {shown}
                </text>
            </g>
        }
        .into_any()
    })
}

/// What is written at an arrow: the first of its tools, and how many more there are.
fn label_of(step: &GraphTransition) -> Vec<String> {
    let named = step.tools.iter().take(NAMED);
    let mut lines: Vec<String> = named.map(|tool| short(tool, LETTERS)).collect();
    let more = step.tool_count.saturating_sub(lines.len() as u64);
    if let Some(last) = lines.last_mut().filter(|_| more > 0) {
        last.push_str(&format!(" +{more}"));
    }
    lines
}

/// One arrow with the tools that make the move.
fn arrow(step: &GraphTransition, route: &Route, lines: Vec<String>, picked: Picked, lens: Lens) -> AnyView {
    let tools = step.tools.join(", ");
    let name = match step.from.as_deref() {
        Some(from) => tf!("From {from} to {to}: {tools}", from, to = step.to, tools),
        None => tf!("From every state to {to}: {tools}", to = step.to, tools),
    };
    let (x, y) = route.label;
    // The base line of the first line: the middle of the label is that of all lines.
    let first = y + 4 - LINE * i32::try_from(lines.len().saturating_sub(1)).unwrap_or(0) / 2;
    let lines: Vec<_> = lines
        .into_iter()
        .zip(0..)
        .map(|(text, at)| view! { <tspan x=x y=first + LINE * at>{text}</tspan> })
        .collect();
    let mark = route.mark.map(|(x, y)| {
        view! {
            <g class="graph-mark" aria-hidden="true">
                <rect x=x y=y width=MARK_WIDTH height=MARK_HEIGHT rx="11"></rect>
                <text x=x + MARK_WIDTH / 2 y=y + 15 text-anchor="middle">
                    {t("any state")}
                </text>
            </g>
        }
    });
    let content = view! {
        <title>{name.clone()}</title>
        <path class="graph-hit" d=route.path.clone()></path>
        <path d=route.path.clone() marker-end="url(#arrow-head)"></path>
    }
    .into_any();
    let way = way_of(step);
    let (here, chosen, by_label) = (way.clone(), way.clone(), way);
    let class = move || {
        let at = if picked.way.with(|way| *way == here) {
            " arrow-at"
        } else {
            ""
        };
        format!("graph-way{at}")
    };
    // The label is beside the button, not in it: it is shortened, and so it is not the button's name.
    view! {
        <g class=class>
            {button(|| "graph-arrow".to_owned(), name, lens, move || picked.arrow(&chosen), content)}
            {mark}
            <text
                class="graph-label"
                text-anchor="middle"
                aria-hidden="true"
                on:click=move |_| {
                    if !lens.moved.get_value() {
                        picked.arrow(&by_label);
                    }
                }
            >
                {lines}
            </text>
        </g>
    }
    .into_any()
}
