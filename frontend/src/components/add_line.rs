//! Adding a line to a list that is written in lines: what is known is offered, and any other text is taken too.

use leptos::prelude::*;

use super::badge::Tags;
use super::choices::{ChoiceInput, Choices};
use crate::language::t;
use crate::reactive::part;

/// A field with a button below the list. Lines that people read by another name are named beneath it.
#[component]
pub(crate) fn AddLine(
    /// Unique on the page.
    id: &'static str,
    /// What is added.
    label: &'static str,
    /// The list, one in each line.
    lines: RwSignal<String>,
    /// What is offered.
    choices: Choices,
) -> impl IntoView {
    let value = RwSignal::new(String::new());
    let add = move || append(lines, value);
    choices.read_for(move || !lines.with(|lines| lines.trim().is_empty()));
    view! {
        <div
            class="field"
            on:keydown=move |event| {
                // Enter would send the form that the list is in.
                if event.key() == "Enter" {
                    event.prevent_default();
                    add();
                }
            }
        >
            <label for=id>{label}</label>
            <div class="row row-field">
                <ChoiceInput id value choices=Some(choices) />
                <button type="button" class="button" on:click=move |_| add()>
                    {t("Add")}
                </button>
            </div>
            {part(move || {
                let names: Vec<String> = lines
                    .with(|lines| lines.lines().map(|line| (line.trim().to_owned(), choices.label(line.trim()))).collect::<Vec<_>>())
                    .into_iter()
                    .filter(|(line, label)| line != label)
                    .map(|(_, label)| label)
                    .collect();
                if names.is_empty() { ().into_any() } else { view! { <Tags names /> }.into_any() }
            })}
        </div>
    }
}

/// Adds what was typed to a list, unless it is in it, and empties the field.
pub(crate) fn append(lines: RwSignal<String>, value: RwSignal<String>) {
    let line = value.get_untracked().trim().to_owned();
    if line.is_empty() {
        return;
    }
    lines.update(|lines| {
        if lines.lines().all(|known| known.trim() != line) {
            let before = lines.trim_end();
            *lines = if before.is_empty() {
                line
            } else {
                format!("{before}\n{line}")
            };
        }
    });
    value.set(String::new());
}
