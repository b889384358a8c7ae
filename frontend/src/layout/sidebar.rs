//! The pages of the project, by what one comes for.

use leptos::prelude::*;
use leptos_router::hooks::use_location;

use crate::components::{Icon, Symbol};
use crate::features::imports::Waiting;
use crate::routes::{Page, Section};
use crate::session::Session;
use crate::url::project_in_path;

/// The headings of the navigation and what stands below them.
const PARTS: [(&str, &[Section]); 4] = [
    (
        "Build",
        &[
            Section::Overview,
            Section::Tools,
            Section::Upload,
            Section::Imports,
            Section::Quarantine,
            Section::Groups,
            Section::States,
        ],
    ),
    (
        "Access",
        &[
            Section::Permissions,
            Section::Keys,
            Section::Simulator,
            Section::PolicyTests,
        ],
    ),
    (
        "Run",
        &[
            Section::Sessions,
            Section::Records,
            Section::Alerts,
            Section::Limits,
        ],
    ),
    (
        "Project",
        &[Section::Secrets, Section::Settings, Section::Connect],
    ),
];

/// The navigation beside the page, or in the drawer of a narrow screen.
#[component]
pub(crate) fn Navigation() -> impl IntoView {
    let session = Session::get();
    let path = use_location().pathname;
    let current = project_in_path();
    let waiting = Waiting::get();
    let item = move |target: String, symbol: Symbol, title: &'static str, count: Option<Waiting>| {
        let below = format!("{target}/");
        let href = target.clone();
        let is_current = move || {
            let path = path.get();
            path == target || (below.matches('/').count() > 4 && path.starts_with(&below))
        };
        view! {
            <li>
                <a class="nav-item" href=href aria-current=move || is_current().then_some("page")>
                    <Icon symbol />
                    {title}
                    {count.map(Waiting::badge)}
                </a>
            </li>
        }
        .into_any()
    };
    let parts = move || {
        let project = current.get();
        let part = |(title, sections): (&'static str, &[Section])| {
            let items: Vec<_> = sections
                .iter()
                .filter(|section| session.may(&project, section.needs()))
                .map(|section| {
                    let count = (*section == Section::Quarantine).then_some(waiting);
                    item(
                        Page::In(project.clone(), *section).path(),
                        section.symbol(),
                        section.title(),
                        count,
                    )
                })
                .collect();
            (!items.is_empty()).then(|| {
                view! {
                    <div class="nav-part">
                        <h2 class="nav-title">{title}</h2>
                        <ul>{items}</ul>
                    </div>
                }
                .into_any()
            })
        };
        if project.is_empty() {
            Vec::new()
        } else {
            PARTS.into_iter().filter_map(part).collect()
        }
    };
    view! {
        <nav class="navigation" aria-label="Pages">
            {parts}
            <div class="nav-part">
                <h2 class="nav-title">"Server"</h2>
                <ul>
                    {item(Page::Projects.path(), Symbol::Group, "Projects", None)}
                    {move || {
                        session
                            .is_system_admin()
                            .then(|| {
                                vec![
                                    item(Page::Users.path(), Symbol::Person, "Users", None),
                                    item(Page::Health.path(), Symbol::Gauge, "Health", None),
                                ]
                            })
                    }}
                </ul>
            </div>
        </nav>
    }
}
