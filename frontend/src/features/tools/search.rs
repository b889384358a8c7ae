//! The search box. The query lives in the address, so that it can be shared and survives a reload.

use std::time::Duration;

use leptos::html;
use leptos::leptos_dom::helpers::TimeoutHandle;
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::use_navigate;

use crate::browser::encode;
use crate::components::{Icon, Symbol};

/// How long typing must rest before the query is applied.
const REST: Duration = Duration::from_millis(200);

/// A box that writes the query `q` of the page at `path`.
#[component]
pub(super) fn SearchBox(
    /// The page's path.
    path: Memo<String>,
    /// The query in the address.
    q: Memo<String>,
) -> impl IntoView {
    let input = NodeRef::<html::Input>::new();
    let pending = StoredValue::new(None::<TimeoutHandle>);
    let navigate = use_navigate();
    let forget = move || {
        if let Some(Some(timer)) = pending.try_update_value(Option::take) {
            timer.clear();
        }
    };
    let apply = move || {
        forget();
        let Some(field) = input.get_untracked() else {
            return;
        };
        let wanted = field.value().trim().to_owned();
        if wanted != q.get_untracked() {
            let path = path.get_untracked();
            let target = if wanted.is_empty() {
                path
            } else {
                format!("{path}?q={}", encode(&wanted))
            };
            navigate(
                &target,
                NavigateOptions {
                    replace: true,
                    scroll: false,
                    ..NavigateOptions::default()
                },
            );
        }
    };
    // Back and forward change the address without the box.
    Effect::new(move |_| {
        let query = q.get();
        if let Some(field) = input.get()
            && field.value().trim() != query
        {
            field.set_value(&query);
        }
    });
    on_cleanup(forget);
    let on_input = {
        let apply = apply.clone();
        move |_| {
            forget();
            pending.set_value(set_timeout_with_handle(apply.clone(), REST).ok());
        }
    };
    view! {
        <form
            class="search"
            role="search"
            on:submit=move |event| {
                event.prevent_default();
                apply();
            }
        >
            <label class="visually-hidden" for="tool-search">
                "Search tools"
            </label>
            <Icon symbol=Symbol::Search />
            <input
                id="tool-search"
                class="input"
                type="search"
                name="q"
                placeholder="Search by name or description"
                autocomplete="off"
                spellcheck="false"
                maxlength="200"
                node_ref=input
                on:input=on_input
            />
        </form>
    }
}
