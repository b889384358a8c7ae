//! What a field offers while it is typed in: values, each with what people read in its place.

use std::collections::BTreeMap;

use leptos::prelude::*;
use serde_json::Value;

use crate::loaded::Loaded;
use crate::reactive::{effect, part};

/// A value and what people read in its place.
pub(crate) type Choice = (String, String);

/// A list of the API that has choices.
pub(crate) struct Source {
    address: Box<dyn Fn() -> String + Send + Sync>,
    read: fn(&Value) -> Vec<Choice>,
}

impl Source {
    /// Its address, reactively, empty when it may not be read; and the choices that an item of it has.
    pub(crate) fn new(
        address: impl Fn() -> String + Send + Sync + 'static,
        read: fn(&Value) -> Vec<Choice>,
    ) -> Self {
        let address = Box::new(address);
        Self { address, read }
    }
}

/// What is offered. Lists are read when the first field is used, or has a value that people read by another name.
#[derive(Clone, Copy)]
pub(crate) struct Choices {
    wanted: RwSignal<bool>,
    all: Memo<Vec<Choice>>,
    are_named: bool,
}

impl Choices {
    /// What the items of lists have.
    pub(crate) fn of(sources: Vec<Source>) -> Self {
        let wanted = RwSignal::new(false);
        let lists: Vec<_> = sources
            .into_iter()
            .map(|Source { address, read }| {
                let list = Loaded::new(move || if wanted.get() { address() } else { String::new() });
                (list, read)
            })
            .collect();
        let all = Memo::new(move |_| {
            let found = lists.iter().flat_map(|(list, read)| {
                let page = list.json().unwrap_or_default();
                let items = page["items"].as_array().into_iter().flatten();
                items.flat_map(read).collect::<Vec<_>>()
            });
            distinct(found.collect())
        });
        Self {
            wanted,
            all,
            are_named: false,
        }
    }

    /// The same, of values that are read by another name.
    pub(crate) fn named(sources: Vec<Source>) -> Self {
        Self {
            are_named: true,
            ..Self::of(sources)
        }
    }

    /// The hosts of choices that are origins.
    pub(crate) fn without_scheme(self) -> Self {
        let origins = self.all;
        let host = |origin: &str| {
            origin
                .split_once("://")
                .map_or(origin, |(_, host)| host)
                .to_owned()
        };
        let all = Memo::new(move |_| {
            let hosts = origins.with(|all| {
                all.iter()
                    .map(|(origin, _)| (host(origin), host(origin)))
                    .collect()
            });
            distinct(hosts)
        });
        Self { all, ..self }
    }

    /// The names of the items of a list.
    pub(crate) fn names(address: impl Fn() -> String + Send + Sync + 'static) -> Self {
        Self::of(vec![Source::new(address, |item| same(&item["name"]))])
    }

    /// Names that are always the same.
    pub(crate) fn fixed(names: impl Iterator<Item = &'static str>) -> Self {
        let all: Vec<Choice> = names.map(|name| (name.to_owned(), name.to_owned())).collect();
        Self {
            wanted: RwSignal::new(true),
            all: Memo::new(move |_| all.clone()),
            are_named: false,
        }
    }

    /// What people read in place of a value, reactively: the value itself when it is not known.
    pub(crate) fn label(self, value: &str) -> String {
        self.all.with(|all| {
            let found = all.iter().find(|(known, _)| known == value);
            found.map_or(value, |(_, label)| label).to_owned()
        })
    }

    fn value(self, label: &str) -> String {
        self.all.with_untracked(|all| {
            let found = all.iter().find(|(_, known)| known == label);
            found.map_or(label, |(value, _)| value).to_owned()
        })
    }

    /// Every value, reactively.
    pub(crate) fn values(self) -> Vec<String> {
        let value = |(value, _): &Choice| value.clone();
        self.all.with(|all| all.iter().map(value).collect())
    }

    /// Reads the lists, unless they are there.
    pub(crate) fn read(self) {
        self.wanted.set(true);
    }

    /// Reads the lists as soon as a value is there that is read by another name.
    pub(crate) fn read_for(self, has_value: impl Fn() -> bool + 'static) {
        if self.are_named {
            effect(move || {
                if has_value() {
                    self.read();
                }
            });
        }
    }
}

/// A text of an item that is read as it is.
pub(crate) fn same(text: &Value) -> Vec<Choice> {
    let text = text.as_str().filter(|text| !text.is_empty());
    text.map(|text| (text.to_owned(), text.to_owned()))
        .into_iter()
        .collect()
}

/// Each value once, by label; two values with the same label have the value in it.
fn distinct(mut all: Vec<Choice>) -> Vec<Choice> {
    all.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
    all.dedup_by(|(a, _), (b, _)| a == b);
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for (_, label) in &all {
        *counts.entry(label.clone()).or_default() += 1;
    }
    for (value, label) in &mut all {
        if counts.get(label).is_some_and(|count| *count > 1) {
            *label = format!("{label} {value}");
        }
    }
    all.sort_unstable_by(|(_, a), (_, b)| a.cmp(b));
    all
}

/// A line of text with choices. It shows the label of what it holds; any other text can be typed as well.
#[component]
pub(crate) fn ChoiceInput(
    /// Unique on the page.
    #[prop(into)]
    id: String,
    /// The value.
    value: RwSignal<String>,
    /// What is offered.
    #[prop(optional_no_strip)]
    choices: Option<Choices>,
    /// The name, when no label refers to it.
    #[prop(optional)]
    name: Option<String>,
    /// `text` or `number`.
    #[prop(default = "text")]
    kind: &'static str,
    /// Whether it only shows.
    #[prop(optional)]
    readonly: bool,
    /// Enter was pressed, a choice was made, or the field was left.
    #[prop(optional)]
    on_change: Option<Callback<()>>,
) -> impl IntoView {
    if let Some(choices) = choices {
        choices.read_for(move || !value.with(String::is_empty));
    }
    let list = format!("{id}-choices");
    let options = choices.map(|choices| {
        let options = part(move || {
            let all = choices.all.get().into_iter();
            all.map(|(_, label)| view! { <option value=label></option> })
                .collect::<Vec<_>>()
                .into_any()
        });
        view! { <datalist id=list.clone()>{options}</datalist> }
    });
    view! {
        <input
            id=id
            class="input mono"
            aria-label=name
            type=kind
            min=(kind == "number").then_some("0")
            maxlength="1100"
            autocomplete="off"
            spellcheck="false"
            readonly=readonly
            list=choices.is_some().then_some(list)
            prop:value=move || choices.map_or_else(|| value.get(), |choices| choices.label(&value.get()))
            on:focus=move |_| {
                if let Some(choices) = choices {
                    choices.read();
                }
            }
            on:input=move |event| {
                let text = event_target_value(&event);
                value.set(choices.map_or_else(|| text.clone(), |choices| choices.value(&text)));
            }
            on:change=move |_| {
                if let Some(on_change) = on_change {
                    on_change.run(());
                }
            }
        />
        {options}
    }
}

#[cfg(test)]
mod tests {
    use super::distinct;

    #[test]
    fn each_value_is_offered_once_under_a_label_of_its_own() {
        let all = [("2", "ada"), ("1", "zoe"), ("3", "ada"), ("1", "zoe")];
        let all = all
            .map(|(value, label)| (value.to_owned(), label.to_owned()))
            .to_vec();
        let all: Vec<_> = distinct(all)
            .into_iter()
            .map(|(value, label)| format!("{value}={label}"))
            .collect();
        assert_eq!(all, ["2=ada 2", "3=ada 3", "1=zoe"]);
    }
}
