//! A filter by one of many names: what is known is offered while it is typed, and any other is taken too.

use leptos::prelude::*;

use super::choices::{ChoiceInput, Choices};
use crate::reactive::effect;
use crate::url::UrlParam;

/// A filter by an exact value, applied by Enter, by a choice, or when the field is left.
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
    let apply = Callback::new(move |()| param.push(value.get_untracked().trim()));
    view! {
        <form
            class="filters-field"
            on:submit=move |event| {
                event.prevent_default();
                apply.run(());
            }
        >
            <label for=id>{label}</label>
            <ChoiceInput id value choices kind on_change=apply />
        </form>
    }
}
