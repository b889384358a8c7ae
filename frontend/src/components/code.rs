//! A piece of text to copy.

use std::time::Duration;

use leptos::prelude::*;
use leptos::task::spawn_local;
use wasm_bindgen_futures::JsFuture;

use super::{Icon, Symbol};
use crate::reactive::When;

/// How long the button says that it worked.
const CONFIRMATION: Duration = Duration::from_secs(2);

/// A captioned block of text with a button that copies it.
///
/// Browsers offer the clipboard only to pages from a secure origin; elsewhere there is no button.
#[component]
pub(crate) fn CodeBlock(
    /// Says what the text is.
    #[prop(into)]
    caption: Signal<String>,
    /// The text.
    #[prop(into)]
    text: Signal<String>,
) -> impl IntoView {
    let copied = RwSignal::new(false);
    let copy = move |_| {
        spawn_local(async move {
            let written =
                JsFuture::from(window().navigator().clipboard().write_text(&text.get_untracked())).await;
            if written.is_ok() {
                copied.try_set(true);
                set_timeout(
                    move || {
                        copied.try_set(false);
                    },
                    CONFIRMATION,
                );
            }
        });
    };
    view! {
        <figure class="code">
            <figcaption class="code-caption">
                <span>{caption}</span>
                <When test=|| window().is_secure_context()>
                    <button
                        type="button"
                        class="button button-quiet button-small"
                        aria-label=move || format!("Copy: {}", caption.get())
                        on:click=copy
                    >
                        {move || {
                            let symbol = if copied.get() { Symbol::Check } else { Symbol::Copy };
                            view! { <Icon symbol /> }
                        }}
                        {move || if copied.get() { "Copied" } else { "Copy" }}
                    </button>
                </When>
            </figcaption>
            <pre tabindex="0" role="region" aria-label=caption><code>{text}</code></pre>
            <span class="visually-hidden" role="status">{move || copied.get().then_some("Copied to the clipboard")}</span>
        </figure>
    }
}
