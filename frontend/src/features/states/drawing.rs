//! The state machine as a drawing that can be moved and enlarged. Every state and every arrow is a button, so that the
//! keyboard reaches it; the table below says the same in words.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use toolgate_api::states::{GraphTransition, StateGraph};

use super::layout::{BOX_HEIGHT, BOX_WIDTH, Layout, Route};
use super::picked::{Picked, way_of};
use crate::components::{Icon, Symbol};
use crate::reactive::effect;
use crate::words::counted;

/// Tools named on an arrow.
const NAMED: usize = 2;
/// Characters of a name in the drawing; the rest is in the tooltip.
const LETTERS: usize = 20;
/// Pixels that the pointer may tremble in a click.
const TREMBLE: f64 = 4.0;

/// The smallest scale at which names are read with ease; a larger drawing is not shown whole at first.
const READABLE: f64 = 0.7;

/// Which part of the drawing is seen: left, top, width, height.
type Part = [f64; 4];

/// How the drawing is looked at.
#[derive(Clone, Copy)]
struct Lens {
    whole: Part,
    seen: RwSignal<Part>,
    frame: NodeRef<html::Div>,
    /// Where the pointer was last, while it drags.
    held: StoredValue<Option<(f64, f64)>>,
    /// Whether the press that ends now has moved the drawing, so that it is no click.
    moved: StoredValue<bool>,
    /// Whether the view was chosen by hand; until then it goes by the size of the frame.
    chosen: StoredValue<bool>,
}

impl Lens {
    /// Pixels per unit of the drawing, and the size and place of the frame.
    fn scale(self) -> Option<(f64, web_sys::DomRect)> {
        self.scale_of(self.seen.get_untracked())
    }

    /// The same when a part is seen.
    fn scale_of(self, [_, _, width, height]: Part) -> Option<(f64, web_sys::DomRect)> {
        let bounds = self.frame.get_untracked()?.get_bounding_client_rect();
        Some(((bounds.width() / width).min(bounds.height() / height), bounds))
    }

    /// Shows a part that was chosen by hand.
    fn show(self, part: Part) {
        self.chosen.set_value(true);
        self.seen.set(part);
    }

    /// Shows a part that is `factor` times as large; what is at a point of the screen, else in the middle, stays there.
    fn zoom(self, factor: f64, at: Option<(f64, f64)>) {
        let [x, y, width, height] = self.seen.get_untracked();
        // From everything twice over down to a few boxes.
        // `clamp` could panic with both bounds in words, and the code that writes such numbers is heavy.
        let factor = factor.max(200.0 / width).min(self.whole[2] * 2.0 / width);
        let (mut middle_x, mut middle_y) = (x + width / 2.0, y + height / 2.0);
        if let (Some((at_x, at_y)), Some((scale, bounds))) = (at, self.scale()) {
            middle_x += (at_x - bounds.left() - bounds.width() / 2.0) / scale;
            middle_y += (at_y - bounds.top() - bounds.height() / 2.0) / scale;
        }
        self.show([
            middle_x - (middle_x - x) * factor,
            middle_y - (middle_y - y) * factor,
            width * factor,
            height * factor,
        ]);
    }

    /// Shows the whole, or its left part if the whole would be too small to read, unless something else was chosen.
    fn begin(self) {
        let Some((scale, bounds)) = self.scale_of(self.whole) else {
            return;
        };
        if self.chosen.get_value() {
            return;
        }
        let mut part = self.whole;
        if scale > 0.0 && scale < READABLE {
            let [_, _, width, height] = self.whole;
            let most = [bounds.width() / READABLE, bounds.height() / READABLE];
            let down = ((height - most[1]) / 2.0).max(0.0);
            part = [0.0, down, most[0].min(width), most[1].min(height)];
        }
        self.seen.set(part);
    }

    fn pan(self, right: f64, down: f64) {
        let [x, y, width, height] = self.seen.get_untracked();
        self.show([x + right * width, y + down * height, width, height]);
    }

    fn key(self, event: &ev::KeyboardEvent) {
        if event.ctrl_key() || event.meta_key() || event.alt_key() {
            return;
        }
        match event.key().as_str() {
            "+" | "=" => self.zoom(0.8, None),
            "-" => self.zoom(1.25, None),
            "0" => self.show(self.whole),
            "ArrowLeft" => self.pan(-0.1, 0.0),
            "ArrowRight" => self.pan(0.1, 0.0),
            "ArrowUp" => self.pan(0.0, -0.1),
            "ArrowDown" => self.pan(0.0, 0.1),
            _ => return,
        }
        event.prevent_default();
    }

    fn drag(self, event: &ev::PointerEvent) {
        let to = (f64::from(event.client_x()), f64::from(event.client_y()));
        let (Some(from), Some((scale, _))) = (self.held.get_value(), self.scale()) else {
            return;
        };
        if !self.moved.get_value() && (to.0 - from.0).abs().max((to.1 - from.1).abs()) < TREMBLE {
            return;
        }
        self.moved.set_value(true);
        self.held.set_value(Some(to));
        let [x, y, width, height] = self.seen.get_untracked();
        self.show([
            x - (to.0 - from.0) / scale,
            y - (to.1 - from.1) / scale,
            width,
            height,
        ]);
    }
}

/// Draws a graph, with what is picked in it.
pub(super) fn drawing(graph: &StateGraph, picked: Picked) -> AnyView {
    let layout = Layout::of(graph);
    let whole = [0.0, 0.0, f64::from(layout.width), f64::from(layout.height)];
    let lens = Lens {
        whole,
        seen: RwSignal::new(whole),
        frame: NodeRef::new(),
        held: StoredValue::new(None),
        moved: StoredValue::new(false),
        chosen: StoredValue::new(false),
    };
    effect(move || {
        if lens.frame.get().is_some() {
            lens.begin();
        }
    });
    let resized = window_event_listener(ev::resize, move |_| lens.begin());
    on_cleanup(move || resized.remove());
    let arrows: Vec<_> = graph
        .transitions
        .iter()
        .zip(&layout.routes)
        .filter_map(|(step, route)| Some(arrow(step, route.as_ref()?, picked, lens)))
        .collect();
    let boxes: Vec<_> = graph
        .states
        .iter()
        .filter_map(|state| {
            let place = layout.place(&state.name)?;
            let dead = graph.dead_ends.iter().any(|end| end.state == state.name);
            let unused = graph.unused.contains(&state.name);
            let (class, note) = match (unused, state.reachable, dead) {
                (true, ..) => ("state-unused", "no tool names it".to_owned()),
                (_, false, _) => ("state-unreachable", "cannot be reached".to_owned()),
                (_, _, true) => ("state-dead", "nothing leads out".to_owned()),
                _ => ("", format!("{} open", counted(state.open_tools, "tool"))),
            };
            Some(state_box(&state.name, class, note, place, picked, lens))
        })
        .collect();
    let view_box = move || {
        let [x, y, width, height] = lens.seen.get().map(tenths);
        format!("{x}e-1 {y}e-1 {width}e-1 {height}e-1")
    };
    let buttons = [
        ("Zoom in", 0.8, Symbol::Plus),
        ("Zoom out", 1.25, Symbol::Minus),
        ("Show all", 0.0, Symbol::Fit),
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
            aria-label="State machine; plus, minus, zero and the arrow keys move the view"
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
            <svg class="graph" viewBox=view_box>
                <defs>
                    <marker id="arrow-head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">
                        <path d="M0 0 8 4 0 8Z"></path>
                    </marker>
                </defs>
                {arrows}
                {boxes}
            </svg>
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

/// A length in tenths. The drawing writes it with an exponent: the code that writes fractions is heavy.
fn tenths(length: f64) -> i64 {
    #[expect(clippy::cast_possible_truncation, reason = "no drawing is that large")]
    let tenths = (length * 10.0) as i64;
    tenths
}

fn state_box(
    name: &str,
    class: &'static str,
    note: String,
    (x, y): (i32, i32),
    picked: Picked,
    lens: Lens,
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
        </g>
    }
    .into_any()
}

/// One arrow with the tools that make the move.
fn arrow(step: &GraphTransition, route: &Route, picked: Picked, lens: Lens) -> AnyView {
    let from = step.from.as_deref().unwrap_or("every state");
    let name = format!("From {from} to {}: {}", step.to, step.tools.join(", "));
    let mut lines: Vec<String> = step
        .tools
        .iter()
        .take(NAMED)
        .map(|tool| short(tool, LETTERS))
        .collect();
    let more = step.tool_count.saturating_sub(lines.len() as u64);
    if let Some(last) = lines.last_mut().filter(|_| more > 0) {
        last.push_str(&format!(" +{more}"));
    }
    let (x, y) = route.label;
    let first = y - 13 * i32::try_from(lines.len().saturating_sub(1)).unwrap_or(0);
    let lines: Vec<_> = lines
        .into_iter()
        .zip(0..)
        .map(|(text, at)| view! { <tspan x=x y=first + 13 * at>{text}</tspan> })
        .collect();
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
            <text
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
