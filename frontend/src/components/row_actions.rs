//! The buttons of a row of a list.

use leptos::prelude::*;

/// A small button for each deed, which gets the whole row. `name` is what the row is about, for those who cannot see it.
pub(crate) fn row_actions<T: Clone + Send + Sync + 'static>(
    name: &str,
    row: &T,
    deeds: impl IntoIterator<Item = (&'static str, Callback<T>)>,
) -> AnyView {
    let buttons: Vec<_> = deeds
        .into_iter()
        .map(|(verb, act)| {
            let row = row.clone();
            view! {
                <button
                    type="button"
                    class="button button-small"
                    aria-label=format!("{verb}: {name}")
                    on:click=move |_| act.run(row.clone())
                >
                    {verb}
                </button>
            }
        })
        .collect();
    view! { <span class="row">{buttons}</span> }.into_any()
}
