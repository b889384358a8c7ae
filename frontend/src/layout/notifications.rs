//! The list behind the bell.

use leptos::prelude::*;
use leptos::task::spawn_local;
use toolgate_api::notifications::{Notification, NotificationKind, Notifications, ReadNotifications};

use crate::api::{Ask, Body, in_project_or_server, with_query};
use crate::components::{SHOWN, TimeAgo};
use crate::language::t;
use crate::loaded::Loaded;
use crate::reactive::{When, part};
use crate::routes::{Page, PageKind};
use crate::url::project_in_path;

/// What waits, as it was read.
#[component]
pub(crate) fn NotificationList(
    /// The notifications of the project.
    loaded: Loaded,
) -> impl IntoView {
    let project = project_in_path();
    let list = Memo::new(move |_| loaded.read::<Notifications>().unwrap_or_default());
    let read = Callback::new(move |read: Vec<Notification>| {
        let here = project.get_untracked();
        spawn_local(async move {
            for (project, ids) in by_project(&here, read) {
                let path = in_project_or_server(&project, &["notifications", "read"]);
                // What could not be marked is still unread in the next answer.
                let _ = Ask::post(path, Body::json(&ReadNotifications { ids }))
                    .send()
                    .await;
            }
            loaded.reload();
        });
    });
    view! {
        <div class="menu-section row row-spread">
            <p class="menu-title">{t("Notifications")}</p>
            <When test=move || list.with(|list| list.unread != 0)>
                <button
                    type="button"
                    class="button button-small"
                    on:click=move |_| {
                        let unread = list.with_untracked(|list| {
                            let unread = list.items.iter().filter(|item| !item.read);
                            unread.cloned().collect::<Vec<_>>()
                        });
                        read.run(unread);
                    }
                >
                    {t("Mark all as read")}
                </button>
            </When>
        </div>
        {loaded.problem()}
        {part(move || list.with(|list| items(&project.get(), list, read)))}
    }
}

/// The ids of notifications by the project that they are in, which is that of the page where they name none; outside of projects
/// those of the server.
fn by_project(here: &str, items: Vec<Notification>) -> Vec<(String, Vec<String>)> {
    let mut all: Vec<(String, Vec<String>)> = Vec::new();
    for item in items {
        let project = item.project_id.as_deref().unwrap_or(here);
        match all.iter_mut().find(|(known, _)| known == project) {
            Some((_, ids)) => ids.push(item.id),
            None => all.push((project.to_owned(), vec![item.id])),
        }
    }
    all
}

fn items(project: &str, list: &Notifications, read: Callback<Vec<Notification>>) -> AnyView {
    if list.items.is_empty() {
        let text = if project.is_empty() {
            t("You have read all notifications of your projects.")
        } else {
            t("Nothing waits for you in this project.")
        };
        return view! {
            <div class="menu-section">
                <p class="muted">{text}</p>
            </div>
        }
        .into_any();
    }
    let rows: Vec<_> = list
        .items
        .iter()
        .map(|item| {
            let own = item.clone();
            let place_name = item.project_id.clone().map(|project| format!(" · {project}"));
            view! {
                <li>
                    <a
                        class="menu-item notification"
                        class:notification-unread=!item.read
                        href=place(project, item)
                        on:click=move |_| {
                            if !own.read {
                                read.run(vec![own.clone()]);
                            }
                        }
                    >
                        <span class="menu-item-text">
                            <span>{item.text.clone()}</span>
                            <span class="muted">
                                <TimeAgo at=item.at /> {place_name}
                                {(!item.read).then_some(t(" · unread"))}
                            </span>
                        </span>
                    </a>
                </li>
            }
        })
        .collect();
    view! { <ul class="menu-section notifications">{rows}</ul> }.into_any()
}

/// Where it is acted on.
fn place(here: &str, item: &Notification) -> String {
    let project = item.project_id.as_deref().unwrap_or(here);
    let (page, parameter) = match item.kind {
        NotificationKind::Alert if project.is_empty() => (PageKind::ServerAlerts, SHOWN),
        NotificationKind::Alert => (PageKind::Alerts, SHOWN),
        NotificationKind::Quarantine => (PageKind::Quarantine, "tool"),
        NotificationKind::AccessRequest | NotificationKind::AccessDecision => {
            (PageKind::AccessRequests, SHOWN)
        }
        NotificationKind::KeyExpiry => (PageKind::Keys, SHOWN),
    };
    with_query(
        Page::of_project(project.to_owned(), page).path(),
        &[(parameter, &item.subject)],
    )
}
