//! A search box that keeps its text in the address.

use std::time::Duration;

use leptos::html;
use leptos::leptos_dom::helpers::TimeoutHandle;
use leptos::prelude::*;

use super::{Icon, Symbol};
use crate::reactive::effect;
use crate::url::UrlParam;

/// How long typing must rest before the query is applied.
const REST: Duration = Duration::from_millis(200);

/// A box that writes a parameter of the address. `/` puts the focus here.
#[component]
pub(crate) fn SearchBox(
    /// The parameter.
    param: UrlParam,
    /// What is searched, for example `Search tools`.
    name: &'static str,
    /// What can be typed.
    placeholder: &'static str,
) -> impl IntoView {
    let input = NodeRef::<html::Input>::new();
    let pending = StoredValue::new(None::<TimeoutHandle>);
    let forget = move || {
        if let Some(Some(timer)) = pending.try_update_value(Option::take) {
            timer.clear();
        }
    };
    let apply = move || {
        forget();
        if let Some(field) = input.get_untracked() {
            param.replace(field.value().trim());
        }
    };
    // Back and forward change the address without the box.
    effect(move || {
        let query = param.get();
        if let Some(field) = input.get()
            && field.value().trim() != query
        {
            field.set_value(&query);
        }
    });
    on_cleanup(forget);
    view! {
        <form
            class="search"
            role="search"
            on:submit=move |event| {
                event.prevent_default();
                apply();
            }
        >
            <Icon symbol=Symbol::Search />
            <input
                class="input"
                type="search"
                name="q"
                data-search=""
                aria-label=name
                placeholder=placeholder
                autocomplete="off"
                spellcheck="false"
                maxlength="200"
                node_ref=input
                on:input=move |_| {
                    forget();
                    pending.set_value(set_timeout_with_handle(apply, REST).ok());
                }
            />
        </form>
    }
}
