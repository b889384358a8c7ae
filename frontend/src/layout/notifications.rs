//! The list behind the bell.

use leptos::prelude::*;
use leptos::task::spawn_local;
use toolgate_api::notifications::{Notification, NotificationKind, Notifications, ReadNotifications};

use crate::api::{Ask, Body, in_project, with_query};
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
    let read = Callback::new(move |ids: Vec<String>| {
        let path = in_project(&project.get_untracked(), &["notifications", "read"]);
        let ask = Ask::post(path, Body::json(&ReadNotifications { ids })).send();
        spawn_local(async move {
            // What could not be marked is still unread in the next answer.
            let _ = ask.await;
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
                            unread.map(|item| item.id.clone()).collect::<Vec<_>>()
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

fn items(project: &str, list: &Notifications, read: Callback<Vec<String>>) -> AnyView {
    if list.items.is_empty() {
        return view! {
            <div class="menu-section">
                <p class="muted">{t("Nothing waits for you in this project.")}</p>
            </div>
        }
        .into_any();
    }
    let rows: Vec<_> = list
        .items
        .iter()
        .map(|item| {
            let id = item.id.clone();
            let is_read = item.read;
            view! {
                <li>
                    <a
                        class="menu-item notification"
                        class:notification-unread=!item.read
                        href=place(project, item)
                        on:click=move |_| {
                            if !is_read {
                                read.run(vec![id.clone()]);
                            }
                        }
                    >
                        <span class="menu-item-text">
                            <span>{item.text.clone()}</span>
                            <span class="muted">
                                <TimeAgo at=item.at />
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
fn place(project: &str, item: &Notification) -> String {
    let (page, parameter) = match item.kind {
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
