//! Where the tools of the project may connect to.

use leptos::prelude::*;
use toolgate_api::egress::ProjectEgress;

use crate::action::Action;
use crate::api::{Ask, Body, in_project};
use crate::candidates::origins;
use crate::components::{AddLine, EditorHandle, Field, Tags, TextArea, Toasts};
use crate::language::t;
use crate::loaded::Loaded;
use crate::reactive::{When, condition, effect, part};
use crate::session::Session;

/// The list; system administrators change it.
#[component]
pub(super) fn Egress(
    /// The project's id.
    project: Memo<String>,
) -> impl IntoView {
    let session = Session::get();
    let loaded = Loaded::new(move || in_project(&project.get(), &["egress"]));
    let text = RwSignal::new(String::new());
    let action = Action::new();
    let toasts = Toasts::get();
    let may_change = condition(move || session.is_system_admin());
    effect(move || {
        if let Some(list) = loaded.read::<ProjectEgress>() {
            text.set(list.hosts.join("\n"));
        }
    });
    let save = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let hosts = text.with_untracked(|text| {
            let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
            lines.map(str::to_owned).collect()
        });
        let path = in_project(&project.get_untracked(), &["egress"]);
        let ask = Ask::put(path, Body::json(&ProjectEgress { hosts })).if_match(loaded.etag());
        action.send(ask, move |_| {
            toasts.done(t("The egress list is saved."));
            loaded.reload();
        });
    };
    view! {
        <section class="panel stack" id="egress" aria-label=t("Where tools may connect to")>
            <h2>{t("Where tools may connect to")}</h2>
            <p class="muted">
                {t("Beside the hosts that the server allows to every project. A private address is reached only if the server's own configuration names it or its network: TOOLGATE_EGRESS_ALLOW with http://10.0.0.5 or cidr:10.0.0.0/8.")}
            </p>
            {loaded.placeholder(t("the egress list"))}
            {part(move || {
                if may_change.get() {
                    return ().into_any();
                }
                let hosts = loaded.read::<ProjectEgress>();
                hosts
                    .map(|list| {
                        view! {
                            <Tags names=list.hosts none=t("no hosts of its own") />
                            <p class="muted">{t("System administrators change this list.")}</p>
                        }
                    })
                    .into_any()
            })}
            <When test=move || may_change.get() && loaded.is_there()>
                <form class="stack" on:submit=save>
                    <Field id="egress-hosts" label=t("Hosts") help=t("One in each line, with scheme and port where it is not the usual one: https://api.example.com") guide="openapi-import#hosts">
                        <TextArea id="egress-hosts" value=text mono=true rows=5 />
                    </Field>
                    <AddLine id="egress-add" label=t("Add a host") lines=text choices=origins(project) />
                    {action.refusal(EditorHandle::new())}
                    <div>
                        <button type="submit" class="button" disabled=move || action.busy.get()>
                            {t("Save the list")}
                        </button>
                    </div>
                </form>
            </When>
        </section>
    }
}
