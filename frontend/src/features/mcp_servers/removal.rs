//! Deleting a server, and what becomes of its tools.

use leptos::prelude::*;

use crate::action::Action;
use crate::api::{Ask, in_project, with_query};
use crate::components::{Confirm, Toasts};
use crate::language::{t, tf};
use crate::loaded::Loaded;
use crate::reactive::{part, text};
use crate::words::counted;

/// The question.
#[component]
pub(super) fn Removal(
    /// The project's id.
    project: Memo<String>,
    /// The server's name.
    #[prop(into)]
    name: Signal<String>,
    /// Whether it is asked.
    open: RwSignal<bool>,
    /// It was deleted.
    #[prop(into)]
    on_done: Callback<()>,
) -> impl IntoView {
    let action = Action::new();
    let toasts = Toasts::get();
    let tools = Loaded::new(move || {
        if !open.get() {
            return String::new();
        }
        let source = format!("mcp:{}", name.get());
        with_query(
            in_project(&project.get(), &["tools"]),
            &[("source", &source), ("limit", "1")],
        )
    });
    let remove = move |()| {
        let name = name.get_untracked();
        let path = in_project(&project.get_untracked(), &["mcp-servers", &name]);
        action.send(Ask::delete(path).if_match("*"), move |_| {
            open.set(false);
            toasts.done(tf!("{name} was deleted. Its tools stay.", name));
            on_done.run(());
        });
    };
    let outlook = move || {
        let count = tools.json().and_then(|page| page["total"].as_u64());
        let words = match count {
            None => t("Its tools stay in the project, and calls of them are refused.").to_owned(),
            Some(0) => t("The project has no tools of it.").to_owned(),
            Some(1) => tf!(
                "{tools} of this project stays, and calls of them are refused. They work again once a server of this name is there.",
                tools = counted(1, "tool")
            ),
            Some(count) => tf!(
                "{tools} of this project stay, and calls of them are refused. They work again once a server of this name is there.",
                tools = counted(count, "tool")
            ),
        };
        view! { <p>{words}</p> }.into_any()
    };
    view! {
        <Confirm
            open
            title=text(move || tf!("Delete {name}?", name = name.get()))
            verb=t("Delete the server")
            action
            on_confirm=remove
        >
            <p>{t("Its connection ends, or its process.")}</p>
            {part(outlook)}
            <p class="muted">{t("Its import stays too. To be rid of the tools, delete them on the page Tools.")}</p>
        </Confirm>
    }
}
