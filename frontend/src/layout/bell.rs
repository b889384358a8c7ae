//! What waits for the user in the project, behind a bell.

use std::time::Duration;

use leptos::leptos_dom::helpers::set_interval_with_handle;
use leptos::prelude::*;
use leptos::task::spawn_local;
use toolgate_api::notifications::{Notification, NotificationKind, Notifications, ReadNotifications};

use crate::api::{Ask, Body, in_project, with_query};
use crate::components::{Icon, Menu, Symbol, TimeAgo};
use crate::loaded::Loaded;
use crate::reactive::{When, condition, part, text};
use crate::routes::{Page, PageKind};
use crate::url::project_in_path;

/// How often the server is asked again.
const PERIOD: Duration = Duration::from_mins(1);

/// The bell with its list; nothing outside of projects.
#[component]
pub(super) fn Bell() -> impl IntoView {
    let project = project_in_path();
    let loaded = Loaded::new(move || match project.get() {
        project if project.is_empty() => String::new(),
        project => in_project(&project, &["notifications"]),
    });
    if let Ok(timer) = set_interval_with_handle(move || loaded.reload(), PERIOD) {
        on_cleanup(move || timer.clear());
    }
    let list = Memo::new(move |_| loaded.read::<Notifications>().unwrap_or_default());
    let unread = Memo::new(move |_| list.with(|list| list.unread));
    let is_here = condition(move || !project.with(String::is_empty));
    let read = Callback::new(move |ids: Vec<String>| {
        let path = in_project(&project.get_untracked(), &["notifications", "read"]);
        let ask = Ask::post(path, Body::json(&ReadNotifications { ids })).send();
        spawn_local(async move {
            // What could not be marked is still unread in the next answer.
            let _ = ask.await;
            if project.try_get_untracked().is_some() {
                loaded.reload();
            }
        });
    });
    let name = text(move || match unread.get() {
        0 => "Notifications".to_owned(),
        count => format!("Notifications: {count} unread"),
    });
    view! {
        <When test=is_here>
            <Menu
                id="notifications"
                class="menu-end bell"
                name=name
                face=move || {
                    view! {
                        <Icon symbol=Symbol::Bell />
                        {part(move || match unread.get() {
                            0 => ().into_any(),
                            count => view! { <span class="bell-count" aria-hidden="true">{count.min(99).to_string()}</span> }.into_any(),
                        })}
                    }
                }
            >
                <div class="menu-section row row-spread">
                    <p class="menu-title">"Notifications"</p>
                    <When test=move || unread.get() != 0>
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
                            "Mark all as read"
                        </button>
                    </When>
                </div>
                {loaded.problem()}
                {part(move || list.with(|list| items(&project.get(), list, read)))}
            </Menu>
        </When>
    }
}

fn items(project: &str, list: &Notifications, read: Callback<Vec<String>>) -> AnyView {
    if list.items.is_empty() {
        return view! {
            <div class="menu-section">
                <p class="muted">"Nothing waits for you in this project."</p>
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
                                {(!item.read).then_some(" · unread")}
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
        NotificationKind::Alert => (PageKind::Alerts, "alert"),
        NotificationKind::Quarantine => (PageKind::Quarantine, "tool"),
        NotificationKind::AccessRequest | NotificationKind::AccessDecision => {
            (PageKind::AccessRequests, "request")
        }
        NotificationKind::KeyExpiry => (PageKind::Keys, "key"),
    };
    with_query(
        Page::of_project(project.to_owned(), page).path(),
        &[(parameter, &item.subject)],
    )
}
