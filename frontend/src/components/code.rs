//! A piece of text to copy.

use leptos::prelude::*;

use super::copy::copy_button;

/// A captioned block of text with a button that copies it.
#[component]
pub(crate) fn CodeBlock(
    /// Says what the text is.
    #[prop(into)]
    caption: Signal<String>,
    /// The text.
    #[prop(into)]
    text: Signal<String>,
) -> impl IntoView {
    view! {
        <figure class="code">
            <figcaption class="code-caption">
                <span>{caption}</span>
                {copy_button(caption, text)}
            </figcaption>
            <pre tabindex="0" role="region" aria-label=caption><code>{text}</code></pre>
        </figure>
    }
}
