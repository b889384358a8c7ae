//! What narrows the list: a text, a group, a state, a type, and whether tools are enabled. All of it is in the address.

use leptos::prelude::*;
use serde_json::{Map, Value};

use crate::api::{in_project, with_query};
use crate::components::{NameInput, NamesOf, SearchBox, Select, TextInput};
use crate::language::{marked, t};
use crate::reactive::{When, effect};
use crate::url::UrlParam;

/// The parameters of the API that the page offers, by the same names.
const NAMES: [&str; 5] = ["q", "group", "state", "type", "enabled"];

const ENABLED: [(&str, &str); 3] = [
    ("", marked("All")),
    ("true", marked("Enabled")),
    ("false", marked("Disabled")),
];

const SORTS: [(&str, &str); 6] = [
    ("", marked("Name")),
    ("-name", marked("Name, from the end")),
    ("-updated_at", marked("Last changed first")),
    ("updated_at", marked("Last changed last")),
    ("type", marked("Type")),
    ("-type", marked("Type, from the end")),
];

/// The filters in the address.
#[derive(Clone, Copy)]
pub(super) struct ToolFilter {
    params: [UrlParam; 5],
    /// How the list is sorted.
    pub(super) sort: UrlParam,
}

impl ToolFilter {
    /// Of the page that is being built.
    pub(super) fn new() -> Self {
        Self {
            params: NAMES.map(UrlParam::new),
            sort: UrlParam::new("sort"),
        }
    }

    /// The text that is searched.
    pub(super) fn q(self) -> UrlParam {
        self.params[0]
    }

    /// The address of the project's tools under these filters, reactively.
    pub(super) fn address(self, project: &str, more: &[(&str, &str)]) -> String {
        let mut values = self.params.map(UrlParam::get);
        values[4] = known(&ENABLED, &values[4]).to_owned();
        let mut query: Vec<(&str, &str)> = NAMES
            .into_iter()
            .zip(values.iter().map(|value| value.trim()))
            .collect();
        query.extend_from_slice(more);
        with_query(in_project(project, &["tools"]), &query)
    }

    /// How the list is sorted as the API takes it, reactively.
    pub(super) fn order(self) -> &'static str {
        known(&SORTS, &self.sort.get())
    }

    /// Whether the address holds a value that is none, reactively.
    pub(super) fn has_unknown(self) -> bool {
        let [.., enabled] = self.params.map(UrlParam::get);
        known(&ENABLED, &enabled) != enabled || self.order() != self.sort.get()
    }

    /// The same as the API takes it to select tools.
    pub(super) fn selection(self) -> Value {
        let mut filter = Map::new();
        for (name, param) in NAMES.into_iter().zip(self.params) {
            let value = param.get_untracked();
            match value.trim() {
                "" => {}
                text if name == "enabled" => {
                    if let Ok(enabled) = known(&ENABLED, text).parse() {
                        filter.insert(name.to_owned(), Value::Bool(enabled));
                    }
                }
                text => {
                    filter.insert(name.to_owned(), Value::String(text.to_owned()));
                }
            }
        }
        Value::Object(filter)
    }

    /// Whether anything is filtered, reactively.
    pub(super) fn is_set(self) -> bool {
        self.params.iter().any(|param| !param.get().is_empty())
    }
}

/// A value if it is one of the choices, else none.
fn known(choices: &[(&'static str, &'static str)], value: &str) -> &'static str {
    let found = choices.iter().find(|(key, _)| *key == value);
    found.map_or("", |(key, _)| key)
}

/// The controls above the list.
#[component]
pub(super) fn Filters(
    /// What they change.
    filter: ToolFilter,
) -> impl IntoView {
    let [q, group, state, type_, enabled] = filter.params;
    view! {
        <div class="filters">
            <SearchBox param=q name=t("Search tools") placeholder=t("Search by name or description") />
            <Exact id="filter-group" label=t("Group") param=group names=NamesOf::Groups />
            <Exact id="filter-state" label=t("Open in state") param=state names=NamesOf::States />
            <Exact id="filter-type" label=t("Type") param=type_ />
            <OneOf id="filter-enabled" label=t("Enabled") param=enabled choices=&ENABLED />
            <div class="long-sort">
                <OneOf id="filter-sort" label=t("Sort by") param=filter.sort choices=&SORTS />
            </div>
            <When test=move || filter.is_set()>
                <button
                    type="button"
                    class="button button-quiet"
                    on:click=move |_| {
                        for param in filter.params {
                            param.replace("");
                        }
                    }
                >
                    {t("Clear")}
                </button>
            </When>
        </div>
    }
}

/// A filter by one of several values.
#[component]
fn OneOf(
    id: &'static str,
    label: &'static str,
    param: UrlParam,
    choices: &'static [(&'static str, &'static str)],
) -> impl IntoView {
    let options: Vec<_> = choices
        .iter()
        .map(|(key, text)| ((*key).to_owned(), t(text).to_owned()))
        .collect();
    view! {
        <div>
            <label for=id>{label}</label>
            <Select
                id
                value=param.signal()
                options=Signal::stored(options)
                on_change=move |chosen: String| param.push(&chosen)
            />
        </div>
    }
}

/// A filter by an exact name, applied by Enter or when the field is left.
#[component]
pub(crate) fn Exact(
    /// The field's id.
    id: &'static str,
    /// What it narrows by.
    label: &'static str,
    /// The parameter.
    param: UrlParam,
    /// What the names are of, that the browser offers.
    #[prop(optional)]
    names: Option<NamesOf>,
    /// Whether several are written, with commas between them.
    #[prop(optional)]
    many: bool,
) -> impl IntoView {
    let value = RwSignal::new(param.get_untracked());
    effect(move || value.set(param.get()));
    view! {
        <form
            on:submit=move |event| {
                event.prevent_default();
                param.push(value.get_untracked().trim());
            }
            on:focusout=move |_| param.push(value.get_untracked().trim())
        >
            <label for=id>{label}</label>
            {match names {
                Some(of) => view! { <NameInput id value of many max=if many { "4096" } else { "128" } /> }.into_any(),
                None => view! { <TextInput id value mono=true max="128" /> }.into_any(),
            }}
        </form>
    }
}
