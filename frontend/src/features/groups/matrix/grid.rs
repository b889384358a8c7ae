//! The grid on the screen.
//!
//! Only the rows near the ones on the screen are drawn, and as markup that is made of numbers alone: names are put in as
//! text, and what happens in a cell is handled once, by the table.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::HtmlInputElement;

use super::pending::Pending;
use super::room::{LINE, lines};
use super::row::Row;
use crate::browser::element;
use crate::components::{EmptyState, Symbol};
use crate::language::t;
use crate::reactive::effect;

/// Rows that are drawn above and below those on the screen. The first drawn one is a multiple of it, so that few
/// scrolls draw again.
const AROUND: usize = 8;
/// Rows that Page Up and Page Down pass.
const PAGE: usize = 10;
/// The grid, and what was changed in it.
#[derive(Clone, Copy)]
pub(super) struct Grid {
    rows: StoredValue<Vec<Row>>,
    columns: StoredValue<Vec<String>>,
    /// What was changed.
    pub(super) pending: RwSignal<Pending>,
    /// Height of a row in pixels.
    tall: StoredValue<i32>,
    /// The first row that is drawn.
    top: StoredValue<usize>,
    /// The cell that the Tab key reaches.
    at: StoredValue<(usize, usize)>,
    frame: NodeRef<html::Div>,
    body: NodeRef<html::Tbody>,
    may_change: bool,
}

impl Grid {
    /// Without content.
    pub(super) fn new(may_change: bool) -> Self {
        Self {
            rows: StoredValue::new(Vec::new()),
            columns: StoredValue::new(Vec::new()),
            pending: RwSignal::new(Pending::default()),
            tall: StoredValue::new(2 * LINE),
            top: StoredValue::new(0),
            at: StoredValue::new((0, 0)),
            frame: NodeRef::new(),
            body: NodeRef::new(),
            may_change,
        }
    }

    /// Other tools and groups; changes that the definitions have by now are dropped.
    pub(super) fn fill(self, rows: Vec<Row>, columns: Vec<String>) {
        self.pending.update(|pending| pending.forget_saved(&rows));
        self.rows.set_value(rows);
        self.columns.set_value(columns);
    }

    /// The table.
    pub(super) fn view(self) -> AnyView {
        let (rows, columns) = (self.rows.with_value(Vec::len), self.columns.get_value());
        if rows == 0 || columns.is_empty() {
            return view! {
                <EmptyState
                    symbol=Symbol::Group
                    title=t("Nothing to show")
                    text=t("No tool or no group matches. A group appears as soon as a tool names it or it is declared.")
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
        // A wider or narrower page has other room for names, a taller one for more rows.
        let resized = window_event_listener(ev::resize, move |_| self.redraw());
        on_cleanup(move || resized.remove());
        view! {
            <div
                class="matrix-wrap"
                node_ref=self.frame
                on:scroll=move |_| self.follow()
                on:keydown=move |event| self.key(&event)
            >
                <span id="matrix-in" hidden>
                    {t("in")}
                </span>
                <table
                    class="matrix matrix-even"
                    role="grid"
                    aria-label=t("Tools and groups")
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
                            <th scope="col" role="columnheader">{t("Tool")}</th>
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
        self.fit(&frame);
        let top = self.top_of(&frame);
        self.top.set_value(top);
        let seen = usize::try_from(frame.client_height() / self.tall.get_value()).unwrap_or(0);
        self.rows.with_value(|rows| {
            let last = rows.len().min(top + seen + 2 * AROUND);
            let drawn = rows.get(top..last).unwrap_or_default();
            let mut html = self.gap(top);
            for (at, row) in drawn.iter().enumerate() {
                self.row(top + at, row, &mut html);
            }
            html.push_str(&self.gap(rows.len() - last));
            body.set_inner_html(&html);
            for (at, row) in drawn.iter().enumerate() {
                if let Some(head) = element(&format!("row-{}", top + at)) {
                    head.set_text_content(Some(&row.tool));
                    head.set_title(&row.tool);
                }
            }
        });
    }

    /// Gives the names as much of the page as the longest of them takes, at most three fifths; then they have several lines.
    fn fit(self, frame: &web_sys::HtmlDivElement) {
        let longest = self.rows.with_value(|rows| {
            let lengths = rows.iter().map(|row| row.tool.chars().count());
            lengths.max().unwrap_or_default()
        });
        let room = frame.parent_element().map_or(0, |parent| parent.client_width());
        let (beside, lines) = lines(longest, room);
        let tall = (1 + lines) * LINE;
        self.tall.set_value(tall);
        for (name, value) in [("--name", format!("{beside}ch")), ("--row", format!("{tall}px"))] {
            // The names and values are valid, so they are taken.
            let _ = web_sys::HtmlElement::style(frame).set_property(name, &value);
        }
    }

    /// The markup of a row. It holds no name, so there is nothing in it that could be misread; its words are the catalogue's.
    fn row(self, at: usize, row: &Row, html: &mut String) {
        let through = format!(
            " class=\"matrix-through\" title=\"{}\"",
            t("Reached through a child")
        );
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
                    let wanted = pending.wanted(&row.tool, group);
                    let below = format!("{group}/");
                    let class = if wanted.is_some() {
                        " class=\"matrix-changed\""
                    } else if !is_in && row.groups.iter().any(|name| name.starts_with(&below)) {
                        through.as_str()
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

    /// The first row to draw.
    fn top_of(self, frame: &web_sys::HtmlDivElement) -> usize {
        let first = usize::try_from(frame.scroll_top() / self.tall.get_value()).unwrap_or(0);
        first.saturating_sub(AROUND) / AROUND * AROUND
    }

    /// The place of rows that are not drawn.
    fn gap(self, rows: usize) -> String {
        let height = i32::try_from(rows).unwrap_or(0) * self.tall.get_value();
        format!("<tr role=\"presentation\"><td role=\"presentation\" height=\"{height}\"></td></tr>")
    }

    /// Draws the rows that have come near, and keeps the reached cell among them, with the focus if it had it.
    fn follow(self) {
        let Some(frame) = self.frame.get_untracked() else {
            return;
        };
        if self.top_of(&frame) == self.top.get_value() {
            return;
        }
        let [first, seen] = [frame.scroll_top(), frame.client_height()]
            .map(|pixels| usize::try_from(pixels / self.tall.get_value()).unwrap_or(0));
        let (row, column) = self.at.get_value();
        let row = row.clamp(first, first + seen.max(3) - 3);
        self.at.set_value((row, column));
        self.redraw();
    }

    /// Draws again; the reached cell keeps the focus if it had it.
    fn redraw(self) {
        let active = document().active_element();
        let had_focus = self.frame.with_untracked(|frame| {
            frame
                .as_ref()
                .is_some_and(|frame| frame.contains(active.as_deref()))
        });
        self.draw();
        if had_focus {
            let (row, column) = self.at.get_value();
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
            let tall = self.tall.get_value();
            let place = i32::try_from(row).unwrap_or(0) * tall;
            let seen = (frame.client_height() - 3 * tall).max(0);
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

    /// Notes a change of a box, or puts the box back for those who may not change it.
    fn toggle(self, event: &ev::Event) {
        let Some(((row, column), field)) = cell_of(event) else {
            return;
        };
        let wanted = field.checked();
        if !self.may_change {
            field.set_checked(!wanted);
            return;
        }
        let is_in = self.rows.with_value(|rows| {
            self.columns.with_value(|columns| {
                let (row, group) = (rows.get(row)?, columns.get(column)?);
                self.pending.update(|pending| pending.want(row, group, wanted));
                Some(row.groups.contains(group))
            })
        });
        if let (Some(is_in), Some(cell)) = (is_in, field.parent_element()) {
            cell.set_class_name(if wanted == is_in { "" } else { "matrix-changed" });
        }
    }

    /// The grid as it is stored, for a file.
    pub(super) fn table(self) -> Vec<Vec<String>> {
        let columns = self.columns.get_value();
        let mut table = vec![vec![t("Tool").to_owned()]];
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

/// Puts the focus into a cell.
fn focus(row: usize, column: usize) {
    if let Some(field) = element(&cell_id(row, column)) {
        // The cell is on the page, so it takes the focus.
        let _ = field.focus();
    }
}
