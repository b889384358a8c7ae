//! Changing a server.

use leptos::prelude::*;
use toolgate_api::mcp_servers::McpServerDefinition;

use super::form::ServerForm;
use crate::action::Action;
use crate::api::{Ask, Body, in_project};
use crate::components::Toasts;
use crate::language::{t, tf};
use crate::reactive::effect;

/// The form with a server in it. A server that others change meanwhile is not overwritten.
#[component]
pub(super) fn Edit(
    /// The project's id.
    project: Memo<String>,
    /// The server's name.
    name: Memo<String>,
    /// As it is now.
    definition: McpServerDefinition,
    /// The tag of what is in the form.
    tag: String,
    /// It was stored.
    #[prop(into)]
    on_done: Callback<()>,
) -> impl IntoView {
    let form = ServerForm::new();
    let action = Action::new();
    let toasts = Toasts::get();
    let tag = StoredValue::new(tag);
    form.show(definition);
    effect(move || {
        form.track();
        action.error.set(None);
    });
    let save = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let name = name.get_untracked();
        let path = in_project(&project.get_untracked(), &["mcp-servers", &name]);
        let ask = Ask::put(path, Body::json(&form.definition())).if_match(tag.get_value());
        action.send(ask, move |answer| {
            tag.set_value(answer.etag);
            toasts.done(tf!("{name} is stored. The next call connects to it again.", name));
            on_done.run(());
        });
    };
    view! {
        <section class="panel" aria-label=t("Definition")>
            <form class="stack" on:submit=save>
                <h2>{t("Definition")}</h2>
                {form.view(action)}
                {action.outcome()}
                <div class="row">
                    <button
                        type="submit"
                        class="button button-primary"
                        disabled=move || !form.is_ready() || action.busy.get()
                    >
                        {t("Save")}
                    </button>
                </div>
            </form>
        </section>
    }
}
