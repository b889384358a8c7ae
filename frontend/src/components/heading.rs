//! The heading of a page, which also names the document.

use super::after_paint;
use crate::reactive::effect;
use leptos::html;
use leptos::prelude::*;

/// Set once the first page has been shown; later pages take the focus, so that screen readers announce them.
#[derive(Clone, Copy)]
struct Visited(StoredValue<bool>);

/// The level-one heading of a page. Sets the document's title.
#[component]
pub(crate) fn PageHeading(
    /// The heading, and the first part of the title.
    #[prop(into)]
    text: Signal<String>,
) -> impl IntoView {
    let heading = NodeRef::<html::H1>::new();
    let visited = use_context::<Visited>();
    effect(move || document().set_title(&format!("{} · Toolgate", text.get())));
    Effect::new(move |done: Option<bool>| {
        let Some(element) = heading.get() else {
            return false;
        };
        if done != Some(true)
            && let Some(Visited(visited)) = visited
        {
            if visited.get_value() {
                let before = document().active_element();
                // Whatever takes the focus has the page laid out at once, so that waits until the page was painted anyway.
                after_paint(move || {
                    if document().active_element() == before {
                        // Focus is a courtesy; a heading that refuses it is still read in order.
                        let _ = element.focus();
                    }
                });
            }
            visited.set_value(true);
        }
        true
    });
    view! {
        <h1 node_ref=heading tabindex="-1">
            {text}
        </h1>
    }
}

/// Lets [`PageHeading`] know whether it is the first one.
pub(crate) fn provide_heading_focus() {
    provide_context(Visited(StoredValue::new(false)));
}

/// Whether no page has been shown yet.
pub(crate) fn is_first_page() -> bool {
    use_context::<Visited>().is_none_or(|Visited(visited)| !visited.get_value())
}
