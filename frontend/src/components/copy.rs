//! A button that copies a text.

use std::time::Duration;

use leptos::prelude::*;
use leptos::task::spawn_local;
use wasm_bindgen_futures::JsFuture;

use super::{Icon, Symbol};
use crate::language::{t, tf};
use crate::reactive::part;

/// How long the button says that it worked.
const CONFIRMATION: Duration = Duration::from_secs(2);

/// Copies a text. `what` says what it is, for those who do not see it.
///
/// Browsers offer the clipboard only to pages from a secure origin; elsewhere there is no button.
pub(super) fn copy_button(what: Signal<String>, text: Signal<String>) -> AnyView {
    if !window().is_secure_context() {
        return ().into_any();
    }
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
        <button
            type="button"
            class="button button-quiet button-small"
            // What is read aloud has what is shown.
            aria-label=move || match copied.get() {
                true => t("Copied").to_owned(),
                false => tf!("Copy: {what}", what = what.get()),
            }
            on:click=copy
        >
            {part(move || {
                let (symbol, text) = if copied.get() { (Symbol::Check, t("Copied")) } else { (Symbol::Copy, t("Copy")) };
                view! {
                    <Icon symbol />
                    {text}
                }
                    .into_any()
            })}
        </button>
        <span class="visually-hidden" role="status">
            {move || copied.get().then_some(t("Copied to the clipboard"))}
        </span>
    }
    .into_any()
}

/// The id that finds a request in the server's log, to copy.
pub(super) fn request_id(id: String) -> AnyView {
    let text = Signal::stored(id.clone());
    view! {
        <p class="problem-request">
            {t("Request ")} <code>{id}</code> " " {copy_button(Signal::stored(t("request id").to_owned()), text)}
        </p>
    }
    .into_any()
}
