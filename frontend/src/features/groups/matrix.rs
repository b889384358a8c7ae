//! Which tool is in which group, as a grid that mouse and keyboard change. Nothing is saved before it was reviewed.
//!
//! Only the rows near the ones on the screen are drawn, and as markup that is made of numbers alone: names are put in as
//! text, and what happens in a cell is handled once, by the table.

use std::collections::{BTreeMap, BTreeSet};

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use serde_json::{Value, json};
use wasm_bindgen::JsCast;
use web_sys::HtmlInputElement;

use crate::api::{in_project, parse, with_query};
use crate::browser::element;
use crate::components::{EmptyState, SearchBox, Symbol, csv_button};
use crate::features::tools::Exact;
use crate::loaded::Loaded;
use crate::reactive::{When, effect, part};
use crate::session::{Need, Session};
use crate::tool_change::{Part, ToolChange};
use crate::url::UrlParam;

/// Height of a row in pixels, as the style sheet has it.
const ROW: i32 = 36;
/// Rows that are drawn above and below those on the screen. The first drawn one is a multiple of it, so that few scrolls
/// draw anew.
const AROUND: usize = 8;
/// Rows that Page Up and Page Down pass.
const PAGE: usize = 10;
/// Columns at once.
const COLUMNS: usize = 40;
/// Changes that are named before they are reviewed.
const NAMED: usize = 12;

/// A tool and the groups its definition names.
struct Row {
    tool: String,
    groups: BTreeSet<String>,
}

/// The grid, and what was changed in it.
#[derive(Clone, Copy)]
struct Grid {
    rows: StoredValue<Vec<Row>>,
    columns: StoredValue<Vec<String>>,
    /// Tool and group, and whether it is to be in it; only where that differs from the definition.
    pending: RwSignal<BTreeMap<(String, String), bool>>,
    /// The first row that is drawn.
    top: StoredValue<usize>,
    /// The cell that the Tab key reaches.
    at: StoredValue<(usize, usize)>,
    frame: NodeRef<html::Div>,
    body: NodeRef<html::Tbody>,
    may_change: bool,
}

/// The matrix of tools and groups.
#[component]
pub(super) fn Matrix(
    /// The project's id.
    project: Memo<String>,
) -> impl IntoView {
    let session = Session::get();
    let [q, only] = ["q", "columns"].map(UrlParam::new);
    let tools = Loaded::new(move || {
        let query = [("view", "summary"), ("limit", "1000"), ("q", &q.get())];
        with_query(in_project(&project.get(), &["tools"]), &query)
    });
    let groups = Loaded::new(move || {
        let query = [("limit", "200"), ("q", &only.get())];
        with_query(in_project(&project.get(), &["groups"]), &query)
    });
    let may_change = untrack(|| session.may(&project.get(), Need::Edit));
    let grid = Grid {
        rows: StoredValue::new(Vec::new()),
        columns: StoredValue::new(Vec::new()),
        pending: RwSignal::new(BTreeMap::new()),
        top: StoredValue::new(0),
        at: StoredValue::new((0, 0)),
        frame: NodeRef::new(),
        body: NodeRef::new(),
        may_change,
    };
    // Drawn anew with every answer, and when changes are given up.
    let drawn = RwSignal::new(0_u32);
    let change = ToolChange::new(project, move || tools.reload());
    let cut = RwSignal::new(None::<String>);
    effect(move || {
        let (Some(found), Some(named)) = (items(tools), items(groups)) else {
            return;
        };
        let column_count = named.1.len();
        let total = found.0["total"].as_u64().unwrap_or(0);
        cut.set(
            match (found.0["next_cursor"].is_string(), column_count > COLUMNS) {
                (true, _) => Some(format!(
                    "The first {} of {total} tools are shown; search to narrow them down.",
                    found.1.len()
                )),
                (_, true) => Some(format!(
                    "The first {COLUMNS} groups are shown; choose them by a part of their names."
                )),
                _ => None,
            },
        );
        let name = |item: &Value| item["name"].as_str().unwrap_or_default().to_owned();
        grid.columns
            .set_value(named.1.iter().map(name).take(COLUMNS).collect());
        grid.rows.set_value(
            found
                .1
                .iter()
                .map(|item| Row {
                    tool: name(item),
                    groups: item["group"]
                        .as_array()
                        .into_iter()
                        .flatten()
                        .filter_map(|group| group.as_str().map(str::to_owned))
                        .collect(),
                })
                .collect(),
        );
        grid.forget_saved();
        drawn.update(|drawn| *drawn += 1);
    });
    let count = move || grid.pending.with(BTreeMap::len);
    view! {
        <div class="filters">
            <SearchBox param=q name="Search tools" placeholder="Search by name or description" />
            <Exact id="matrix-columns" label="Groups with" param=only />
            {csv_button("tools-and-groups.csv", move || grid.table())}
        </div>
        {change.view()}
        {tools.placeholder("the tools")}
        <p class="muted lead" id="matrix-keys">
            {if may_change {
                "Arrow keys move, Space changes. Nothing is saved before you have reviewed it."
            } else {
                "Arrow keys move."
            }}
        </p>
        {part(move || cut.get().map(|text| view! { <p class="note lead">{text}</p> }).into_any())}
        {part(move || if drawn.get() == 0 { ().into_any() } else { grid.view() })}
        <When test=move || count() != 0>
            <section class="bar" aria-label="Changes that are not saved">
                <strong>{move || if count() == 1 { "1 change".to_owned() } else { format!("{} changes", count()) }}</strong>
                {part(move || grid.pending_tags())}
                <button
                    type="button"
                    class="button"
                    on:click=move |_| {
                        grid.pending.set(BTreeMap::new());
                        drawn.update(|drawn| *drawn += 1);
                    }
                >
                    "Discard"
                </button>
                <button type="button" class="button button-primary" on:click=move |_| change.review(grid.parts())>
                    "Review and save"
                </button>
            </section>
        </When>
    }
}

/// The page that was read, and its items.
fn items(loaded: Loaded) -> Option<(Value, Vec<Value>)> {
    let mut page = loaded
        .answer
        .with(|answer| answer.as_ref().and_then(|answer| parse(&answer.text).ok()))?;
    match page["items"].take() {
        Value::Array(items) => Some((page, items)),
        _ => None,
    }
}

fn cell_id(row: usize, column: usize) -> String {
    format!("cell-{row}-{column}")
}

/// Row, column and box of the cell that an event is about.
fn cell_of(event: &ev::Event) -> Option<((usize, usize), HtmlInputElement)> {
    let field: HtmlInputElement = event.target()?.dyn_into().ok()?;
    let id = field.id();
    let (row, column) = id.strip_prefix("cell-")?.split_once('-')?;
    Some(((row.parse().ok()?, column.parse().ok()?), field))
}

impl Grid {
    fn view(self) -> AnyView {
        let (rows, columns) = (self.rows.with_value(Vec::len), self.columns.get_value());
        if rows == 0 || columns.is_empty() {
            return view! {
                <EmptyState
                    symbol=Symbol::Group
                    title="Nothing to show"
                    text="No tool or no group matches. A group appears as soon as a tool names it or it is declared."
                />
            }
            .into_any();
        }
        let heads: Vec<_> = columns
            .iter()
            .enumerate()
            .map(|(at, group)| {
                view! {
                    <th scope="col" role="columnheader" class="mono" id=format!("column-{at}")>
                        {group.clone()}
                    </th>
                }
            })
            .collect();
        let (row, column) = self.at.get_value();
        self.at
            .set_value((row.min(rows - 1), column.min(columns.len() - 1)));
        effect(move || {
            if self.body.get().is_some() {
                self.draw();
            }
        });
        view! {
            <div
                class="matrix-wrap"
                node_ref=self.frame
                on:scroll=move |_| self.follow()
                on:keydown=move |event| self.key(&event)
            >
                <span id="matrix-in" hidden>
                    "in"
                </span>
                <table
                    class="matrix matrix-even"
                    role="grid"
                    aria-label="Tools and groups"
                    aria-describedby="matrix-keys"
                    aria-rowcount=rows + 1
                    on:change=move |event| self.toggle(&event)
                    on:focusin=move |event| {
                        if let Some((at, _)) = cell_of(&event) {
                            self.mark(at);
                        }
                    }
                >
                    <thead role="rowgroup">
                        <tr role="row" aria-rowindex="1">
                            <th scope="col" role="columnheader">"Tool"</th>
                            {heads}
                        </tr>
                    </thead>
                    <tbody role="rowgroup" node_ref=self.body></tbody>
                </table>
            </div>
        }
        .into_any()
    }

    /// Draws the rows around those on the screen.
    fn draw(self) {
        let (Some(frame), Some(body)) = (self.frame.get_untracked(), self.body.get_untracked()) else {
            return;
        };
        let top = top_of(&frame);
        self.top.set_value(top);
        let seen = usize::try_from(frame.client_height() / ROW).unwrap_or(0);
        self.rows.with_value(|rows| {
            let last = rows.len().min(top + seen + 2 * AROUND);
            let drawn = rows.get(top..last).unwrap_or_default();
            let mut html = gap(top);
            for (at, row) in drawn.iter().enumerate() {
                self.row(top + at, row, &mut html);
            }
            html.push_str(&gap(rows.len() - last));
            body.set_inner_html(&html);
            for (at, row) in drawn.iter().enumerate() {
                if let Some(head) = element(&format!("row-{}", top + at)) {
                    head.set_text_content(Some(&row.tool));
                    head.set_title(&row.tool);
                }
            }
        });
    }

    /// The markup of a row. It holds no name, so there is nothing in it that could be misread.
    fn row(self, at: usize, row: &Row, html: &mut String) {
        let reached = self.at.get_value();
        let locked = if self.may_change {
            ""
        } else {
            " aria-disabled=\"true\""
        };
        html.push_str(&format!(
            "<tr role=\"row\" aria-rowindex=\"{}\"><th scope=\"row\" role=\"rowheader\" class=\"mono\" id=\"row-{at}\"></th>",
            at + 2
        ));
        self.columns.with_value(|columns| {
            self.pending.with_untracked(|pending| {
                for (column, group) in columns.iter().enumerate() {
                    let is_in = row.groups.contains(group);
                    let wanted = pending.get(&(row.tool.clone(), group.clone())).copied();
                    let below = format!("{group}/");
                    let class = if wanted.is_some() {
                        " class=\"matrix-changed\""
                    } else if !is_in && row.groups.iter().any(|name| name.starts_with(&below)) {
                        " class=\"matrix-through\" title=\"Reached through a child\""
                    } else {
                        ""
                    };
                    let checked = if wanted.unwrap_or(is_in) { " checked" } else { "" };
                    let order = if reached == (at, column) { 0 } else { -1 };
                    let id = cell_id(at, column);
                    html.push_str(&format!(
                        "<td role=\"gridcell\"{class}><input type=\"checkbox\" id=\"{id}\" tabindex=\"{order}\" \
                         aria-labelledby=\"row-{at} matrix-in column-{column}\"{checked}{locked}></td>"
                    ));
                }
            });
        });
        html.push_str("</tr>");
    }

    /// Draws the rows that have come near, and keeps the reached cell among them, with the focus if it had it.
    fn follow(self) {
        let Some(frame) = self.frame.get_untracked() else {
            return;
        };
        if top_of(&frame) == self.top.get_value() {
            return;
        }
        let had_focus = document()
            .active_element()
            .is_some_and(|active| frame.contains(Some(&active)));
        let [first, seen] = [frame.scroll_top(), frame.client_height()]
            .map(|pixels| usize::try_from(pixels / ROW).unwrap_or(0));
        let (row, column) = self.at.get_value();
        let row = row.clamp(first, first + seen.max(3) - 3);
        self.at.set_value((row, column));
        self.draw();
        if had_focus {
            focus(row, column);
        }
    }

    /// Makes a cell the one that Tab reaches.
    fn mark(self, at: (usize, usize)) {
        let before = self.at.get_value();
        self.at.set_value(at);
        for ((row, column), order) in [(before, -1), (at, 0)] {
            if let Some(field) = element(&cell_id(row, column)) {
                field.set_tab_index(order);
            }
        }
    }

    fn key(self, event: &ev::KeyboardEvent) {
        let (row, column) = self.at.get_value();
        let last_row = self.rows.with_value(Vec::len).saturating_sub(1);
        let last_column = self.columns.with_value(Vec::len).saturating_sub(1);
        let whole = event.ctrl_key() || event.meta_key();
        let to = match event.key().as_str() {
            "ArrowDown" => (row + 1, column),
            "ArrowUp" => (row.saturating_sub(1), column),
            "ArrowRight" => (row, column + 1),
            "ArrowLeft" => (row, column.saturating_sub(1)),
            "PageDown" => (row + PAGE, column),
            "PageUp" => (row.saturating_sub(PAGE), column),
            "Home" => (if whole { 0 } else { row }, 0),
            "End" => (if whole { last_row } else { row }, last_column),
            _ => return,
        };
        event.prevent_default();
        let (row, column) = (to.0.min(last_row), to.1.min(last_column));
        if let Some(frame) = self.frame.get_untracked() {
            // The headings stay above the rows and take a row's height or more; the browser scrolls the rest by itself.
            let place = i32::try_from(row).unwrap_or(0) * ROW;
            let seen = frame.client_height() - 3 * ROW;
            let from = frame.scroll_top().clamp((place - seen).max(0), place);
            if from != frame.scroll_top() {
                self.at.set_value((row, column));
                frame.set_scroll_top(from);
                self.follow();
            }
        }
        self.mark((row, column));
        focus(row, column);
    }

    /// Takes a change of a box down, or puts the box back for those who may not change it.
    fn toggle(self, event: &ev::Event) {
        let Some(((row, column), field)) = cell_of(event) else {
            return;
        };
        let wanted = field.checked();
        if !self.may_change {
            field.set_checked(!wanted);
            return;
        }
        let key = self.rows.with_value(|rows| {
            self.columns.with_value(|columns| {
                let (row, group) = (rows.get(row)?, columns.get(column)?);
                Some((row.groups.contains(group), (row.tool.clone(), group.clone())))
            })
        });
        let Some((is_in, key)) = key else {
            return;
        };
        self.pending.update(|pending| {
            if wanted == is_in {
                pending.remove(&key);
            } else {
                pending.insert(key, wanted);
            }
        });
        if let Some(cell) = field.parent_element() {
            cell.set_class_name(if wanted == is_in { "" } else { "matrix-changed" });
        }
    }

    /// Drops the changes that the definitions have by now.
    fn forget_saved(self) {
        let mut pending = self.pending.get_untracked();
        let before = pending.len();
        self.rows.with_value(|rows| {
            for row in rows {
                pending.retain(|(tool, group), wanted| {
                    *tool != row.tool || row.groups.contains(group) != *wanted
                });
            }
        });
        if pending.len() != before {
            self.pending.set(pending);
        }
    }

    /// The changes as words.
    fn pending_tags(self) -> AnyView {
        self.pending.with(|pending| {
            let tags: Vec<_> = pending
                .iter()
                .take(NAMED)
                .map(|((tool, group), is_in)| {
                    let sign = if *is_in { "+" } else { "−" };
                    view! { <li class="tag">{format!("{tool} {sign} {group}")}</li> }
                })
                .collect();
            let more = pending.len().saturating_sub(NAMED);
            view! {
                <ul class="tags">
                    {tags} {(more > 0).then(|| view! { <li class="muted">{format!("and {more} more")}</li> })}
                </ul>
            }
            .into_any()
        })
    }

    /// The changes as requests: tools that change alike go together.
    fn parts(self) -> Vec<Part> {
        let mut by_tool: BTreeMap<String, (Vec<String>, Vec<String>)> = BTreeMap::new();
        for ((tool, group), is_in) in self.pending.get_untracked() {
            let (added, removed) = by_tool.entry(tool).or_default();
            if is_in { added } else { removed }.push(group);
        }
        let mut alike: BTreeMap<(Vec<String>, Vec<String>), Vec<String>> = BTreeMap::new();
        for (tool, change) in by_tool {
            alike.entry(change).or_default().push(tool);
        }
        alike
            .into_iter()
            .map(|((added, removed), names)| {
                let mut change = json!({});
                for (key, groups) in [("add_groups", added), ("remove_groups", removed)] {
                    if !groups.is_empty() {
                        change[key] = groups.into();
                    }
                }
                Part { names, change }
            })
            .collect()
    }

    /// The grid as it is stored, for a file.
    fn table(self) -> Vec<Vec<String>> {
        let columns = self.columns.get_value();
        let mut table = vec![vec!["Tool".to_owned()]];
        table[0].extend(columns.iter().cloned());
        self.rows.with_value(|rows| {
            for row in rows {
                let mut line = vec![row.tool.clone()];
                line.extend(
                    columns
                        .iter()
                        .map(|group| if row.groups.contains(group) { "x" } else { "" }.to_owned()),
                );
                table.push(line);
            }
        });
        table
    }
}

/// Puts the focus into a cell.
fn focus(row: usize, column: usize) {
    if let Some(field) = element(&cell_id(row, column)) {
        // The cell is on the page, so it takes the focus.
        let _ = field.focus();
    }
}

/// The first row to draw.
fn top_of(frame: &web_sys::HtmlDivElement) -> usize {
    let first = usize::try_from(frame.scroll_top() / ROW).unwrap_or(0);
    first.saturating_sub(AROUND) / AROUND * AROUND
}

/// The place of rows that are not drawn.
fn gap(rows: usize) -> String {
    let height = i32::try_from(rows).unwrap_or(0) * ROW;
    format!("<tr role=\"presentation\"><td role=\"presentation\" height=\"{height}\"></td></tr>")
}
