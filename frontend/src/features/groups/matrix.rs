//! Which tool is in which group, as a grid that mouse and keyboard change. Nothing is saved before it was reviewed.

mod grid;
mod pending;
mod room;
mod row;

use leptos::prelude::*;
use serde_json::Value;

use self::grid::Grid;
use self::pending::Pending;
use self::row::Row;
use crate::api::{in_project, with_query};
use crate::components::{SearchBox, csv_button};
use crate::features::tools::Exact;
use crate::language::{t, tf};
use crate::loaded::Loaded;
use crate::reactive::{When, effect, part};
use crate::session::{Permission, Session};
use crate::tool_change::ToolChange;
use crate::url::UrlParam;
use crate::words::counted;

/// Columns at once.
const COLUMNS: usize = 40;

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
    let may_change = untrack(|| session.may(&project.get(), Permission::EditDefinitions));
    let grid = Grid::new(may_change);
    // Drawn again with every answer, and when changes are discarded.
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
                (true, _) => Some(tf!(
                    "The first {count} of {total} tools are shown; search to narrow them down.",
                    count = found.1.len(),
                    total
                )),
                (_, true) => Some(tf!(
                    "The first {count} groups are shown; choose them by a part of their names.",
                    count = COLUMNS
                )),
                _ => None,
            },
        );
        let name = |item: &Value| item["name"].as_str().unwrap_or_default().to_owned();
        let row = |item: &Value| Row {
            tool: name(item),
            groups: item["group"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|group| group.as_str().map(str::to_owned))
                .collect(),
        };
        grid.fill(
            found.1.iter().map(row).collect(),
            named.1.iter().map(name).take(COLUMNS).collect(),
        );
        drawn.update(|drawn| *drawn += 1);
    });
    let count = move || grid.pending.with(Pending::len);
    view! {
        <div class="filters">
            <SearchBox param=q name=t("Search tools") placeholder=t("Search by name or description") />
            <Exact id="matrix-columns" label=t("Groups with") param=only />
            {csv_button("tools-and-groups.csv", move || grid.table())}
        </div>
        {change.view()}
        {tools.placeholder(t("the tools"))}
        {groups.problem()}
        <p class="muted lead" id="matrix-keys">
            {if may_change {
                t("Arrow keys move, Space changes. Nothing is saved before you have reviewed it.")
            } else {
                t("Arrow keys move.")
            }}
        </p>
        {part(move || cut.get().map(|text| view! { <p class="note lead">{text}</p> }).into_any())}
        {part(move || if drawn.get() == 0 { ().into_any() } else { grid.view() })}
        <When test=move || count() != 0>
            <section class="bar" aria-label=t("Changes that are not saved")>
                <strong>{move || counted(count(), "change")}</strong>
                {part(move || grid.pending.with(Pending::tags))}
                <button
                    type="button"
                    class="button"
                    on:click=move |_| {
                        grid.pending.set(Pending::default());
                        drawn.update(|drawn| *drawn += 1);
                    }
                >
                    {t("Discard")}
                </button>
                <button type="button" class="button button-primary" on:click=move |_| change.review(grid.pending.with_untracked(Pending::parts))>
                    {t("Review and save")}
                </button>
            </section>
        </When>
    }
}

/// The page that was read, and its items.
fn items(loaded: Loaded) -> Option<(Value, Vec<Value>)> {
    let mut page = loaded.json()?;
    match page["items"].take() {
        Value::Array(items) => Some((page, items)),
        _ => None,
    }
}
