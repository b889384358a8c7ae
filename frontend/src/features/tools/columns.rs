//! The columns of the list of tools: which there are, and which a person wants to see.

use leptos::prelude::*;

use crate::browser::storage;
use crate::components::{Column, Menu};
use crate::language::{marked, t};

const KEY: &str = "toolgate.tools.hidden";

/// All columns; the first one is always shown.
pub(super) const COLUMNS: [Column; 5] = [
    Column {
        key: "tool",
        title: marked("Tool"),
        width: "minmax(12rem, 2.6fr)",
        sort: Some("name"),
    },
    Column {
        key: "type",
        title: marked("Type"),
        width: "7rem",
        sort: Some("type"),
    },
    Column {
        key: "groups",
        title: marked("Groups"),
        width: "minmax(7rem, 1.5fr)",
        sort: None,
    },
    Column {
        key: "states",
        title: marked("States"),
        width: "minmax(7rem, 1.8fr)",
        sort: None,
    },
    Column {
        key: "revision",
        title: marked("Revision"),
        width: "6.5rem",
        sort: Some("updated_at"),
    },
];

/// The keys of the columns that are hidden, remembered in this browser.
pub(super) fn hidden() -> RwSignal<String> {
    let kept = storage().and_then(|store| store.get_item(KEY).ok().flatten());
    RwSignal::new(kept.unwrap_or_default())
}

/// The columns that are shown, reactively.
pub(super) fn shown(hidden: RwSignal<String>) -> Vec<Column> {
    hidden.with(|hidden| {
        COLUMNS
            .into_iter()
            .filter(|column| !has(hidden, column.key))
            .map(|column| Column {
                title: t(column.title),
                ..column
            })
            .collect()
    })
}

/// Whether a column is hidden.
pub(super) fn has(hidden: &str, key: &str) -> bool {
    hidden.split(' ').any(|name| name == key)
}

/// Chooses the columns.
#[component]
pub(super) fn ColumnMenu(
    /// The keys of the columns that are hidden.
    hidden: RwSignal<String>,
) -> impl IntoView {
    let toggle = move |key: &str| {
        hidden.update(|hidden| {
            let was = has(hidden, key);
            let mut keys: Vec<&str> = hidden
                .split(' ')
                .filter(|name| !name.is_empty() && *name != key)
                .collect();
            if !was {
                keys.push(key);
            }
            *hidden = keys.join(" ");
        });
        if let Some(store) = storage() {
            // A store that is full or blocked remembers nothing.
            let _ = store.set_item(KEY, &hidden.get_untracked());
        }
    };
    let boxes = move || {
        COLUMNS[1..]
            .iter()
            .map(|column| {
                view! {
                    <label class="menu-item check">
                        <input
                            type="checkbox"
                            prop:checked=move || hidden.with(|hidden| !has(hidden, column.key))
                            on:change=move |_| toggle(column.key)
                        />
                        {t(column.title)}
                    </label>
                }
            })
            .collect::<Vec<_>>()
    };
    view! {
        <Menu id="tool-columns" name=t("Columns") face=|| t("Columns") class="menu-end">
            <div class="menu-section">{boxes()}</div>
        </Menu>
    }
}
