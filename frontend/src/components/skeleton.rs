//! Shows where content will be while it is on its way.

use leptos::prelude::*;

use crate::language::tf;

/// Grey bars in place of `rows` rows, and a status for those who cannot see them.
#[component]
pub(crate) fn Skeleton(
    /// What is being read, for example `tools`.
    what: &'static str,
    /// How many rows to suggest.
    #[prop(default = 6)]
    rows: usize,
) -> impl IntoView {
    let bars: Vec<_> = (0..rows)
        .map(|_| {
            view! {
                <div class="skeleton-row" aria-hidden="true">
                    <span class="skeleton-bar skeleton-short"></span>
                    <span class="skeleton-bar"></span>
                </div>
            }
        })
        .collect();
    view! {
        <div class="skeleton">
            <p class="visually-hidden" role="status">
                {tf!("Loading {what}…", what)}
            </p>
            {bars}
        </div>
    }
}
