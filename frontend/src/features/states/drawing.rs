//! The state machine as a drawing. Every state is a button, so that the keyboard reaches it; the table beside says the
//! same in words.

use leptos::prelude::*;
use toolgate_api::states::{GraphTransition, StateGraph};

use super::layout::{BOX_HEIGHT, BOX_WIDTH, Layout};

/// Tools named on an arrow.
const NAMED: usize = 2;

/// Draws a graph; `at` is where a walk stands.
pub(super) fn drawing(graph: &StateGraph, at: &str, on_choose: Callback<String>) -> AnyView {
    let layout = Layout::of(graph);
    let arrows: Vec<_> = graph
        .transitions
        .iter()
        .filter_map(|transition| arrow(&layout, transition))
        .collect();
    let boxes: Vec<_> = graph
        .states
        .iter()
        .filter_map(|state| {
            let (x, y) = layout.place(&state.name)?;
            let dead = graph.dead_ends.iter().any(|end| end.state == state.name);
            let mut class = "state-box".to_owned();
            if state.name == at {
                class.push_str(" state-at");
            }
            if !state.reachable {
                class.push_str(" state-unreachable");
            } else if dead {
                class.push_str(" state-dead");
            }
            let note = match (state.reachable, dead) {
                (false, _) => ", cannot be reached".to_owned(),
                (true, true) => ", nothing leads out".to_owned(),
                _ => format!(", {} tools open", state.open_tools),
            };
            let name = state.name.clone();
            let (by_click, by_key) = (name.clone(), name.clone());
            let shown: String = name.chars().take(17).collect();
            Some(
                view! {
                    <g
                        class=class
                        role="button"
                        tabindex="0"
                        aria-label=format!("{name}{note}")
                        on:click=move |_| on_choose.run(by_click.clone())
                        on:keydown=move |event| {
                            if matches!(event.key().as_str(), "Enter" | " ") {
                                event.prevent_default();
                                on_choose.run(by_key.clone());
                            }
                        }
                    >
                        <rect x=x y=y width=BOX_WIDTH height=BOX_HEIGHT rx="10"></rect>
                        <text x=x + BOX_WIDTH / 2 y=y + BOX_HEIGHT / 2 + 5 text-anchor="middle">
                            {shown}
                        </text>
                    </g>
                }
                .into_any(),
            )
        })
        .collect();
    view! {
        <div class="graph-wrap" tabindex="0" role="region" aria-label="State machine">
            <svg
                class="graph"
                width=layout.width
                height=layout.height
                viewBox=format!("0 0 {} {}", layout.width, layout.height)
            >
                <defs>
                    <marker id="arrow-head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">
                        <path d="M0 0 8 4 0 8Z"></path>
                    </marker>
                </defs>
                {arrows}
                {boxes}
            </svg>
        </div>
    }
    .into_any()
}

/// One arrow with the tools that make the move. A move from every state is written at its target.
fn arrow(layout: &Layout, transition: &GraphTransition) -> Option<AnyView> {
    let (to_x, to_y) = layout.place(&transition.to)?;
    let mut label = transition
        .tools
        .iter()
        .take(NAMED)
        .cloned()
        .collect::<Vec<_>>()
        .join(", ");
    let named = u64::try_from(transition.tools.len().min(NAMED)).unwrap_or(0);
    if transition.tool_count > named {
        label.push_str(&format!(" +{}", transition.tool_count - named));
    }
    let (path, label_x, label_y) = match &transition.from {
        None => {
            let x = to_x + BOX_WIDTH / 2;
            label = format!("from anywhere: {label}");
            (format!("M{x} {} L{x} {}", to_y - 26, to_y - 2), x, to_y - 30)
        }
        Some(from) => {
            let (from_x, from_y) = layout.place(from)?;
            let middle = BOX_HEIGHT / 2;
            if from == &transition.to {
                let (x, y) = (from_x + BOX_WIDTH / 2, from_y);
                (
                    format!(
                        "M{} {y} C{} {} {} {} {} {}",
                        x - 24,
                        x - 34,
                        y - 34,
                        x + 34,
                        y - 34,
                        x + 24,
                        y - 2
                    ),
                    x,
                    y - 30,
                )
            } else if to_x > from_x {
                let (x1, y1, x2, y2) = (from_x + BOX_WIDTH, from_y + middle, to_x - 2, to_y + middle);
                let half = (x2 - x1) / 2;
                (
                    format!("M{x1} {y1} C{} {y1} {} {y2} {x2} {y2}", x1 + half, x2 - half),
                    (x1 + x2) / 2,
                    (y1 + y2) / 2 - 8,
                )
            } else {
                // Back, or to a neighbour in the same column: below the boxes.
                let (x1, y1) = (from_x + BOX_WIDTH / 2, from_y + BOX_HEIGHT);
                let (x2, y2) = (to_x + BOX_WIDTH / 2, to_y + BOX_HEIGHT + 2);
                let low = y1.max(y2) + 44;
                (
                    format!("M{x1} {y1} C{x1} {low} {x2} {low} {x2} {y2}"),
                    (x1 + x2) / 2,
                    low - 6,
                )
            }
        }
    };
    Some(
        view! {
            <g class="graph-arrow">
                <title>{transition.tools.join(", ")}</title>
                <path d=path marker-end="url(#arrow-head)"></path>
                <text x=label_x y=label_y text-anchor="middle">
                    {label}
                </text>
            </g>
        }
        .into_any(),
    )
}
