//! The end of a list: a further page, or nothing.

use leptos::prelude::*;

use crate::paged::{Paged, Status};

/// A button that reads the next page, when there is one.
#[component]
pub(crate) fn More<K, T>(
    /// The list.
    list: Paged<K, T>,
    /// What it lists, in the plural.
    what: &'static str,
) -> impl IntoView
where
    K: Clone + PartialEq + Send + Sync + 'static,
    T: Clone + Send + Sync + 'static,
{
    let is_busy = move || matches!(list.status.get(), Status::Loading | Status::LoadingMore);
    view! {
        <Show when=move || list.has_more()>
            <p class="more">
                <button
                    type="button"
                    class="button"
                    aria-disabled=move || is_busy().to_string()
                    on:click=move |_| {
                        if !matches!(list.status.get_untracked(), Status::Loading | Status::LoadingMore) {
                            list.more();
                        }
                    }
                >
                    {move || if is_busy() { "Loading…".to_owned() } else { format!("Show more {what}") }}
                </button>
            </p>
        </Show>
    }
}
