//! Which columns the list has: in the address, and remembered in this browser.

use leptos::prelude::*;

use super::columns::{ALL, Column, STANDARD, named};
use crate::browser::storage;
use crate::components::Menu;
use crate::language::t;
use crate::url::UrlParam;

const KEPT: &str = "toolgate.record-columns";

/// The chosen columns.
#[derive(Clone, Copy)]
pub(super) struct Columns {
    param: UrlParam,
    words: Memo<String>,
}

impl Columns {
    /// Those of the page that is being built.
    pub(super) fn new() -> Self {
        let param = UrlParam::new("columns");
        let words = Memo::new(move |_| {
            let in_address = Some(param.get()).filter(|words| !named(words).is_empty());
            let kept = || storage()?.get_item(KEPT).ok().flatten();
            in_address.or_else(kept).unwrap_or_else(|| STANDARD.to_owned())
        });
        Self { param, words }
    }

    /// What is shown, reactively.
    pub(super) fn shown(self) -> Vec<Column> {
        self.words.with(|words| named(words))
    }

    /// The words of what is shown.
    pub(super) fn words(self) -> String {
        self.words.get_untracked()
    }

    fn switch(self, word: &'static str, is_on: bool) {
        let shown = named(&self.words());
        let is_shown = |column: &&Column| {
            if column.0 == word {
                is_on
            } else {
                shown.contains(column)
            }
        };
        let words: Vec<_> = ALL.iter().filter(is_shown).map(|(word, _)| *word).collect();
        if words.is_empty() {
            return;
        }
        let words = words.join(",");
        if let Some(store) = storage() {
            // A full store remembers nothing.
            let _ = store.set_item(KEPT, &words);
        }
        self.param.replace(&words);
    }

    /// The menu with a box for each column.
    pub(super) fn menu(self) -> AnyView {
        let boxes = move || {
            ALL.into_iter()
                .map(|(word, heading)| {
                    let is_on = move || self.shown().iter().any(|column| column.0 == word);
                    view! {
                        <label class="menu-item check">
                            <input
                                type="checkbox"
                                prop:checked=is_on
                                on:change=move |event| self.switch(word, event_target_checked(&event))
                            />
                            {t(heading)}
                        </label>
                    }
                })
                .collect::<Vec<_>>()
        };
        view! {
            <Menu id="record-columns" name=t("Columns of the list") face=|| t("Columns") class="menu-end">
                <div class="menu-section">{boxes()}</div>
            </Menu>
        }
        .into_any()
    }
}
