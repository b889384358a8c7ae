//! What waits for the user, behind a bell: in the project of the page, elsewhere in all projects.

use std::time::Duration;

use leptos::leptos_dom::helpers::set_interval_with_handle;
use leptos::prelude::*;

use crate::api::in_project_or_server;
use crate::components::{Icon, Menu, Symbol};
use crate::language::{t, tf};
use crate::loaded::Loaded;
use crate::rare_parts::rare_part;
use crate::reactive::{part, text};
use crate::url::project_in_path;

/// How often the server is asked again.
const PERIOD: Duration = Duration::from_mins(1);

/// The bell with its list; for those who are signed in.
#[component]
pub(super) fn Bell() -> impl IntoView {
    let project = project_in_path();
    let loaded = Loaded::new(move || in_project_or_server(&project.get(), &["notifications"]));
    if let Ok(timer) = set_interval_with_handle(move || loaded.reload(), PERIOD) {
        on_cleanup(move || timer.clear());
    }
    let unread = Memo::new(move |_| {
        let list = loaded.json();
        list.and_then(|list| list["unread"].as_u64()).unwrap_or_default()
    });
    let name = text(move || match unread.get() {
        0 => t("Notifications").to_owned(),
        count => tf!("Notifications: {count} unread", count),
    });
    view! {
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
                {rare_part(Some(t("the notifications")), move |parts| (parts.notifications)(loaded))}
            </Menu>
    }
}
