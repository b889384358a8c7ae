//! The parameters of a tool service as rows of a form.

use leptos::prelude::*;
use toolgate_api::tool_services::ToolServiceParam;

use crate::components::{Icon, Symbol};
use crate::language::{t, tf};

/// The parameters, each with a number that stays with its row.
#[derive(Clone, Copy)]
pub(super) struct ParamRows {
    rows: RwSignal<Vec<Row>>,
    next: StoredValue<u32>,
}

/// What is filled in for one parameter.
#[derive(Clone, Copy, PartialEq)]
struct Row {
    key: u32,
    name: RwSignal<String>,
    required: RwSignal<bool>,
}

impl ParamRows {
    /// No parameters.
    pub(super) fn new() -> Self {
        Self {
            rows: RwSignal::new(Vec::new()),
            next: StoredValue::new(0),
        }
    }

    /// Fills in what is stored.
    pub(super) fn show(self, params: Vec<ToolServiceParam>) {
        self.rows.set(Vec::new());
        for param in params {
            self.add(param);
        }
    }

    /// Notices every change.
    pub(super) fn track(self) {
        self.rows.with(|rows| {
            for row in rows {
                row.name.track();
                row.required.track();
            }
        });
    }

    /// The parameters as they are filled in, without rows that have no name.
    pub(super) fn params(self) -> Vec<ToolServiceParam> {
        self.rows.with_untracked(|rows| {
            let filled = rows.iter().map(|row| ToolServiceParam {
                name: row.name.get_untracked().trim().to_owned(),
                required: row.required.get_untracked(),
            });
            filled.filter(|param| !param.name.is_empty()).collect()
        })
    }

    fn add(self, param: ToolServiceParam) {
        let key = self.next.get_value();
        self.next.set_value(key.wrapping_add(1));
        let row = Row {
            key,
            name: RwSignal::new(param.name),
            required: RwSignal::new(param.required),
        };
        self.rows.update(|rows| rows.push(row));
    }

    /// The rows, and the button that adds one.
    pub(super) fn view(self) -> AnyView {
        let row = move |row: Row| {
            let at = move || {
                let place = self
                    .rows
                    .with(|rows| rows.iter().position(|one| one.key == row.key));
                place.unwrap_or_default() + 1
            };
            view! {
                <li class="item">
                    <div class="row">
                        <input
                            class="input mono"
                            aria-label=move || tf!("Name of parameter {number}", number = at())
                            autocomplete="off"
                            spellcheck="false"
                            maxlength="128"
                            placeholder="style"
                            prop:value=move || row.name.get()
                            on:input=move |event| row.name.set(event_target_value(&event))
                        />
                        <label class="check">
                            <input
                                type="checkbox"
                                aria-label=move || tf!("Required: parameter {number}", number = at())
                                prop:checked=move || row.required.get()
                                on:change=move |event| row.required.set(event_target_checked(&event))
                            />
                            {t("required")}
                        </label>
                    </div>
                    <button
                        type="button"
                        class="button button-quiet button-icon"
                        aria-label=move || tf!("Remove parameter {number}", number = at())
                        on:click=move |_| self.rows.update(|rows| rows.retain(|one| one.key != row.key))
                    >
                        <Icon symbol=Symbol::Close />
                    </button>
                </li>
            }
        };
        let add = move |_| {
            self.add(ToolServiceParam {
                name: String::new(),
                required: false,
            });
        };
        view! {
            <div class="nested stack">
                <ul class="stack-small" hidden=move || self.rows.with(Vec::is_empty)>
                    <For each=move || self.rows.get() key=|row| row.key children=row />
                </ul>
                <div>
                    <button type="button" class="button button-small" on:click=add>
                        <Icon symbol=Symbol::Plus />
                        {t("Add a parameter")}
                    </button>
                </div>
            </div>
        }
        .into_any()
    }
}
