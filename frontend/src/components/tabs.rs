//! Views of one thing, chosen by a parameter of the address.

use leptos::prelude::*;

use crate::language::t;
use crate::url::UrlParam;

/// A row of links; the chosen one is current. The first is chosen when the address names none.
#[component]
pub(crate) fn Tabs(
    /// The parameter.
    param: UrlParam,
    /// What this chooses.
    name: &'static str,
    /// Values and their names, [`marked`](crate::language::marked): they are translated here.
    choices: &'static [(&'static str, &'static str)],
) -> impl IntoView {
    let items: Vec<_> = choices
        .iter()
        .enumerate()
        .map(|(at, (key, text))| {
            let is_chosen = move || {
                let chosen = param.get();
                chosen == *key || (at == 0 && choices.iter().all(|(key, _)| *key != chosen))
            };
            view! {
                <li>
                    <button
                        type="button"
                        class="tab"
                        aria-current=move || is_chosen().then_some("true")
                        on:click=move |_| param.push(if at == 0 { "" } else { key })
                    >
                        {t(text)}
                    </button>
                </li>
            }
        })
        .collect();
    view! {
        <nav class="tabs" aria-label=name>
            <ul>{items}</ul>
        </nav>
    }
}
