//! An empty place: what would be here, and the next step.

use leptos::prelude::*;

use super::{Icon, Symbol};

/// A mark, a heading, a sentence and what to do next.
#[component]
pub(crate) fn EmptyState(
    /// The mark.
    #[prop(default = Symbol::Empty)]
    symbol: Symbol,
    /// What is (not) here.
    #[prop(into)]
    title: String,
    /// What would be here, or why there is nothing.
    #[prop(into)]
    text: String,
    /// Buttons and links.
    #[prop(optional)]
    children: Option<Children>,
) -> impl IntoView {
    view! {
        <div class="empty">
            <span class="empty-mark">
                <Icon symbol />
            </span>
            <h2>{title}</h2>
            <p class="muted">{text}</p>
            {children.map(|children| view! { <div class="empty-actions">{children()}</div> })}
        </div>
    }
}
