//! The hosts that tools need, and letting the project's tools reach them.

use leptos::prelude::*;
use toolgate_api::egress::ProjectEgress;
use toolgate_api::imports::ImportHost;

use crate::action::Action;
use crate::api::{Ask, Body, in_project};
use crate::components::{Badge, Confirm, Toasts, Tone};
use crate::language::{t, tf};
use crate::reactive::text;
use crate::session::Session;

/// Every host with whether calls may go there; a system administrator can add it to the project's egress list. `on_added`
/// is called when one was added.
pub(super) fn hosts_view(project: Memo<String>, hosts: &[ImportHost], on_added: Callback<()>) -> AnyView {
    let session = Session::get();
    let action = Action::new();
    let toasts = Toasts::get();
    let may_add = untrack(|| session.is_system_admin());
    if hosts.is_empty() {
        return view! { <p class="muted">{t("None of the chosen operations says where requests go.")}</p> }
            .into_any();
    }
    let asking = RwSignal::new(false);
    let asked = RwSignal::new(String::new());
    let add = move |()| {
        let origin = asked.get_untracked();
        let path = in_project(&project.get_untracked(), &["egress"]);
        action.send(Ask::get(path.clone()), move |answer| {
            let Some(mut list) = action.read::<ProjectEgress>(&answer) else {
                return;
            };
            list.hosts.push(origin.clone());
            let ask = Ask::put(path, Body::json(&list)).if_match(answer.etag);
            action.send(ask, move |_| {
                asking.set(false);
                toasts.done(tf!("The tools of this project may reach {origin}.", origin));
                on_added.run(());
            });
        });
    };
    let is_closed = hosts.iter().any(|host| !host.allowed);
    let items: Vec<_> = hosts
        .iter()
        .map(|host| {
            let (tone, word) = if host.allowed {
                (Tone::Good, t("allowed"))
            } else {
                (Tone::Bad, t("not allowed"))
            };
            let origin = host.origin.clone();
            let button = (may_add && !host.allowed).then(|| {
                view! {
                    <button
                        type="button"
                        class="button button-small"
                        on:click=move |_| {
                            asked.set(origin.clone());
                            action.error.set(None);
                            asking.set(true);
                        }
                    >
                        {t("Let this project reach it")}
                    </button>
                }
            });
            view! {
                <li>
                    <div class="row">
                        <code>{host.origin.clone()}</code>
                        <Badge tone text=word />
                        {button}
                    </div>
                    {host.reason.clone().map(|reason| view! { <p class="muted">{reason}</p> })}
                </li>
            }
        })
        .collect();
    view! {
        <ul class="stack-small">{items}</ul>
        {(is_closed && !may_add)
            .then(|| view! { <p class="note">{t("Calls fail until a system administrator lets this project reach these hosts.")}</p> })}
        <Confirm
            open=asking
            title=text(move || tf!("Let this project reach {origin}?", origin = asked.get()))
            verb=t("Allow the host")
            is_danger=false
            action
            on_confirm=add
        >
            <p>{t("Every tool of this project may connect to it from now on. The list of hosts is on the page Settings.")}</p>
        </Confirm>
    }
    .into_any()
}
