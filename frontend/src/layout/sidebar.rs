//! The pages of the project and of the server, by task.

use leptos::prelude::*;
use leptos_router::hooks::use_location;

use crate::components::Icon;
use crate::features::imports::Waiting;
use crate::language::{marked, t};
use crate::routes::{Heading, Page, PageKind};
use crate::session::Session;
use crate::url::project_in_path;

/// The headings below which the pages of a project are.
const OF_PROJECT: [(Heading, &str); 4] = [
    (Heading::Build, marked("Build")),
    (Heading::Access, marked("Access")),
    (Heading::Run, marked("Run")),
    (Heading::Project, marked("Project")),
];

/// The navigation beside the page, or in the drawer of a narrow screen.
#[component]
pub(crate) fn Navigation() -> impl IntoView {
    let session = Session::get();
    let path = use_location().pathname;
    let current = project_in_path();
    let waiting = Waiting::get();
    let item = move |page: Page| {
        let kind = page.kind();
        let target = page.path();
        // A page below another one of a project is not in the sidebar; its page above is marked.
        let below = kind.is_of_project().then(|| format!("{target}/"));
        let href = target.clone();
        let is_current = move || {
            let path = path.get();
            path == target || below.as_ref().is_some_and(|below| path.starts_with(below))
        };
        let count = (kind == PageKind::Quarantine).then_some(waiting);
        view! {
            <li>
                <a class="nav-item" href=href aria-current=move || is_current().then_some("page")>
                    <Icon symbol=kind.symbol() />
                    {kind.title()}
                    {count.map(Waiting::badge)}
                </a>
            </li>
        }
        .into_any()
    };
    let group = move |project: &str, heading: Heading, title: &'static str| {
        let items: Vec<_> = PageKind::ALL
            .iter()
            .filter(|kind| kind.heading() == heading && session.may_see(project, **kind))
            .map(|kind| item(Page::of_project(project.to_owned(), *kind)))
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
    let of_project = move || {
        let project = current.get();
        let headings = OF_PROJECT.into_iter().filter(|_| !project.is_empty());
        headings
            .filter_map(|(heading, title)| group(&project, heading, t(title)))
            .collect::<Vec<_>>()
    };
    view! {
        <nav class="navigation" aria-label=t("Pages")>
            {of_project}
            {move || group("", Heading::Server, t("Server"))}
        </nav>
    }
}
