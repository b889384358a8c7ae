//! A filter by one of many names: what is known is offered while it is typed, and any other is taken too.

use leptos::prelude::*;

use crate::loaded::Loaded;
use crate::reactive::{effect, part};
use crate::url::UrlParam;

/// Where the names come from that a filter offers; they are read when the first field is used.
#[derive(Clone, Copy)]
pub(crate) struct Choices {
    wanted: RwSignal<bool>,
    names: Memo<Vec<String>>,
}

impl Choices {
    /// The names that a list of the API has under a key of its items.
    pub(crate) fn listed(address: impl Fn() -> String + Send + Sync + 'static, key: &'static str) -> Self {
        let wanted = RwSignal::new(false);
        let list = Loaded::new(move || if wanted.get() { address() } else { String::new() });
        let names = Memo::new(move |_| {
            let found = list.json().unwrap_or_default();
            let items = found["items"].as_array().into_iter().flatten();
            let mut names: Vec<String> = items
                .filter_map(|item| item[key].as_str())
                .map(str::to_owned)
                .collect();
            names.sort_unstable();
            names.dedup();
            names
        });
        Self { wanted, names }
    }

    /// Names that are always the same.
    pub(crate) fn fixed(names: impl Iterator<Item = &'static str>) -> Self {
        let names: Vec<String> = names.map(str::to_owned).collect();
        Self {
            wanted: RwSignal::new(true),
            names: Memo::new(move |_| names.clone()),
        }
    }
}

/// A filter by an exact name, applied by Enter, by a choice, or when the field is left.
#[component]
pub(crate) fn Pick(
    /// The field's id.
    id: &'static str,
    /// What it narrows by.
    label: &'static str,
    /// The parameter.
    param: UrlParam,
    /// What is offered.
    #[prop(optional)]
    choices: Option<Choices>,
    /// `text` or `number`.
    #[prop(default = "text")]
    kind: &'static str,
) -> impl IntoView {
    let value = RwSignal::new(param.get_untracked());
    effect(move || value.set(param.get()));
    let apply = move || param.push(value.get_untracked().trim());
    let list = format!("{id}-choices");
    let options = choices.map(|choices| {
        let list = list.clone();
        let options = part(move || {
            let names = choices.names.get();
            names
                .into_iter()
                .map(|name| view! { <option value=name></option> })
                .collect::<Vec<_>>()
                .into_any()
        });
        view! { <datalist id=list>{options}</datalist> }
    });
    view! {
        <form
            class="filters-field"
            on:submit=move |event| {
                event.prevent_default();
                apply();
            }
        >
            <label for=id>{label}</label>
            <input
                id=id
                class="input mono"
                type=kind
                min=(kind == "number").then_some("0")
                maxlength="256"
                autocomplete="off"
                spellcheck="false"
                list=choices.is_some().then_some(list)
                prop:value=move || value.get()
                on:focus=move |_| {
                    if let Some(choices) = choices {
                        choices.wanted.set(true);
                    }
                }
                on:input=move |event| value.set(event_target_value(&event))
                on:change=move |_| apply()
            />
            {options}
        </form>
    }
}
