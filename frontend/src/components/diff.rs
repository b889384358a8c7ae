//! A unified diff, line by line. The signs stay, so that colour is not the only difference.

use leptos::prelude::*;

/// Shows the lines of a unified diff.
#[component]
pub(crate) fn Diff(
    /// The diff as the server made it.
    text: String,
    /// Its name, where there is more than one on a page.
    #[prop(default = "Difference".to_owned(), into)]
    name: String,
) -> impl IntoView {
    if text.is_empty() {
        return view! { <p class="muted">"No difference."</p> }.into_any();
    }
    let lines: Vec<_> = text
        .lines()
        .filter(|line| !line.starts_with("---") && !line.starts_with("+++"))
        .map(|line| {
            let (class, sign, rest) = match line.as_bytes().first() {
                Some(b'+') => ("diff-line diff-added", "+", &line[1..]),
                Some(b'-') => ("diff-line diff-removed", "-", &line[1..]),
                Some(b'@') => ("diff-line muted", "", line),
                Some(b' ') => ("diff-line", "", &line[1..]),
                _ => ("diff-line", "", line),
            };
            view! {
                <div class=class>
                    <span>{sign}</span>
                    <span>{rest.to_owned()}</span>
                </div>
            }
        })
        .collect();
    view! {
        <div class="diff" tabindex="0" role="region" aria-label=name>
            {lines}
        </div>
    }
    .into_any()
}
