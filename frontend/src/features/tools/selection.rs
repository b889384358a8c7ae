//! Which tools are chosen for a change: some by name, or all that match the filter.

use std::collections::BTreeSet;

use leptos::prelude::*;
use serde_json::Value;
use wasm_bindgen::JsCast;
use web_sys::HtmlInputElement;

use super::filters::ToolFilter;
use crate::api::object;

/// The selection.
#[derive(Clone, Copy)]
pub(super) struct Selection {
    names: RwSignal<BTreeSet<String>>,
    /// Whether it is everything that matches.
    all: RwSignal<bool>,
}

impl Selection {
    /// Nothing is selected.
    pub(super) fn new() -> Self {
        Self {
            names: RwSignal::new(BTreeSet::new()),
            all: RwSignal::new(false),
        }
    }

    /// Whether a tool is selected, reactively.
    pub(super) fn has(self, name: &str) -> bool {
        self.all.get() || self.names.with(|names| names.contains(name))
    }

    /// Marks the rows on the page that are selected, reactively. Rows that are made later are made as they are.
    pub(super) fn show(self) {
        let is_all = self.all.get();
        self.names.with(|names| {
            let Ok(boxes) = document().query_selector_all("[data-select]") else {
                return;
            };
            for at in 0..boxes.length() {
                let found = boxes
                    .get(at)
                    .and_then(|node| node.dyn_into::<HtmlInputElement>().ok());
                if let Some(field) = found
                    && let Some(name) = field.get_attribute("data-select")
                {
                    field.set_checked(is_all || names.contains(&name));
                }
            }
        });
    }

    /// How many are selected of so many that match, reactively.
    pub(super) fn count(self, total: usize) -> usize {
        if self.all.get() {
            total
        } else {
            self.names.with(BTreeSet::len)
        }
    }

    /// Whether it is everything that matches, reactively.
    pub(super) fn is_all(self) -> bool {
        self.all.get()
    }

    /// Selects a tool, or no longer. Without one, everything that matches becomes nothing.
    pub(super) fn toggle(self, name: &str) {
        if self.all.get_untracked() {
            self.clear();
            return;
        }
        self.names.update(|names| {
            if !names.remove(name) {
                names.insert(name.to_owned());
            }
        });
    }

    /// Selects these.
    pub(super) fn add(self, more: impl Iterator<Item = String>) {
        self.names.update(|names| names.extend(more));
    }

    /// Selects everything that matches.
    pub(super) fn add_all(self) {
        self.all.set(true);
    }

    /// Selects nothing.
    pub(super) fn clear(self) {
        self.all.set(false);
        self.names.update(BTreeSet::clear);
    }

    /// The selection as the API takes it.
    pub(super) fn to_json(self, filter: ToolFilter) -> Value {
        if self.all.get_untracked() {
            object(vec![("filter", filter.selection())])
        } else {
            let names = self.names.with_untracked(|names| names.iter().cloned().collect());
            object(vec![("names", names)])
        }
    }
}
