//! Names and values, one below the other.

use leptos::prelude::*;

/// One line of [`Facts`]; nothing when there is no value.
pub(crate) fn fact(name: &'static str, value: impl IntoAny) -> AnyView {
    view! {
        <div class="fact">
            <dt>{name}</dt>
            <dd>{value.into_any()}</dd>
        </div>
    }
    .into_any()
}

/// A list of [`fact`]s.
pub(crate) fn facts(items: Vec<AnyView>) -> AnyView {
    view! { <dl class="facts">{items}</dl> }.into_any()
}
