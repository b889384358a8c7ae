//! Series over time as a drawing, and as a table for those who do not see it.

use leptos::html;
use leptos::prelude::*;
use leptos::task::spawn_local;
use serde_json::{Value, json};
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;

use super::time_range::{TimeRange, clock};
use crate::api::object;
use crate::language::{t, tf};
use crate::reactive::{effect, part};
use crate::vendor::{ChartBundle, Mounted, load_charts};

/// One series.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ChartLine {
    /// What it is called.
    pub(crate) label: String,
    /// A value for each time.
    pub(crate) values: Vec<Option<i64>>,
    /// The variable of the stylesheet with its colour; by its place in the order without one.
    pub(crate) colour: Option<&'static str>,
}

/// What is drawn.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ChartData {
    /// When each slot begins, in seconds since 1970.
    pub(crate) times: Vec<i64>,
    /// The series.
    pub(crate) lines: Vec<ChartLine>,
    /// What the values are, for example `ms`; empty for counts.
    pub(crate) unit: &'static str,
    /// Whether they are bars on top of each other, instead of lines.
    pub(crate) is_stacked: bool,
}

/// The functions that the bundle calls, kept for as long as the drawing is there.
struct Drawn {
    view: Mounted,
    _on_range: Closure<dyn FnMut(f64, f64)>,
    _on_point: Closure<dyn FnMut(f64, usize)>,
}

/// Height of a drawing in pixels.
const HEIGHT: u32 = 220;

/// A chart with its name. Dragging on it narrows the range; `on_point` gets the time and the series of a point that was
/// clicked.
pub(crate) fn chart(
    name: &'static str,
    data: ChartData,
    range: TimeRange,
    on_point: Callback<(i64, usize)>,
) -> AnyView {
    let host = NodeRef::<html::Div>::new();
    let bundle = RwSignal::new_local(None::<ChartBundle>);
    let drawn = StoredValue::new_local(None::<Drawn>);
    let data = StoredValue::new(data);
    let take_off = move || {
        if let Some(Some(drawn)) = drawn.try_update_value(Option::take) {
            drawn.view.destroy();
        }
    };
    spawn_local(async move {
        // Without the bundle the table remains.
        if let Ok(loaded) = load_charts().await {
            bundle.try_set(Some(loaded.unchecked_into()));
        }
    });
    effect(move || {
        let (Some(host), is_utc) = (host.get(), range.is_utc()) else {
            return;
        };
        take_off();
        #[expect(
            clippy::cast_possible_truncation,
            reason = "times in seconds are whole and far below 2^53"
        )]
        let on_range = Closure::<dyn FnMut(f64, f64)>::new(move |from: f64, to: f64| {
            range.narrow(from as i64, to as i64);
        });
        #[expect(
            clippy::cast_possible_truncation,
            reason = "times in seconds are whole and far below 2^53"
        )]
        let on_point = Closure::<dyn FnMut(f64, usize)>::new(move |at: f64, line: usize| {
            on_point.try_run((at as i64, line));
        });
        let options = data.with_value(|data| options(data, is_utc)).to_string();
        let view = bundle.with(|bundle| {
            let bundle = bundle.as_ref()?;
            Some(bundle.draw(&host, &options, &on_range, &on_point))
        });
        drawn.set_value(view.map(|view| Drawn {
            view,
            _on_range: on_range,
            _on_point: on_point,
        }));
    });
    on_cleanup(take_off);
    let open = RwSignal::new(false);
    view! {
        <div class="chart" role="group" aria-label=name>
            <div class="chart-drawing" node_ref=host></div>
            <details class="chart-table" on:toggle=move |_| open.set(true)>
                <summary>{t("As a table")}</summary>
                {part(move || {
                    if open.get() { data.with_value(|data| as_table(name, data, range.is_utc())) } else { ().into_any() }
                })}
            </details>
        </div>
    }
    .into_any()
}

fn options(data: &ChartData, is_utc: bool) -> Value {
    let line = |line: &ChartLine| {
        object(vec![
            ("label", line.label.as_str().into()),
            ("values", json!(line.values)),
            ("colour", json!(line.colour)),
        ])
    };
    object(vec![
        ("times", json!(data.times)),
        ("series", data.lines.iter().map(line).collect()),
        ("unit", data.unit.into()),
        ("stacked", data.is_stacked.into()),
        ("utc", is_utc.into()),
        ("height", HEIGHT.into()),
    ])
}

/// The slots in which there is something.
fn as_table(name: &'static str, data: &ChartData, is_utc: bool) -> AnyView {
    let heads: Vec<_> = data
        .lines
        .iter()
        .map(|line| view! { <th scope="col">{line.label.clone()}</th> })
        .collect();
    let has_something = |at: &usize| {
        let value = |line: &ChartLine| line.values.get(*at).copied().flatten();
        data.lines
            .iter()
            .any(|line| value(line).is_some_and(|value| value != 0))
    };
    let rows: Vec<_> = (0..data.times.len())
        .filter(has_something)
        .map(|at| {
            let cells: Vec<_> = data
                .lines
                .iter()
                .map(|line| {
                    let value = line.values.get(at).copied().flatten();
                    let text = value.map_or_else(|| "–".to_owned(), |value| format!("{value} {}", data.unit));
                    view! { <td class="number">{text}</td> }
                })
                .collect();
            view! {
                <tr>
                    <th scope="row">{clock(data.times[at] * 1000, is_utc)}</th>
                    {cells}
                </tr>
            }
        })
        .collect();
    if rows.is_empty() {
        return view! { <p class="muted">{t("Nothing in this range.")}</p> }.into_any();
    }
    view! {
        <div class="table-wrap chart-rows" tabindex="0" role="region" aria-label=tf!("{name}, as a table", name)>
            <table class="plain-table">
                <caption class="visually-hidden">{name}</caption>
                <thead>
                    <tr>
                        <th scope="col">{t("From")}</th>
                        {heads}
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
    }
    .into_any()
}
