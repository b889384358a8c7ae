//! Which project one is in, and the way to another.

use leptos::prelude::*;

use crate::components::{Icon, Menu, Symbol};
use crate::features::projects::Projects;
use crate::language::{t, tf};
use crate::reactive::text;
use crate::routes::{Page, PageKind};
use crate::url::project_in_path;

/// How many projects the menu offers before it refers to the whole list.
const OFFERED: usize = 12;

/// The menu of projects.
#[component]
pub(super) fn ProjectSwitcher() -> impl IntoView {
    let projects = Projects::get();
    let current = project_in_path();
    let face = move || match current.get() {
        id if id.is_empty() => t("Projects").to_owned(),
        id => projects.name_of(&id),
    };
    let offered = move || {
        projects
            .all()
            .into_iter()
            .take(OFFERED)
            .map(|project| {
                let is_current = current.get() == project.id;
                let href = Page::of_project(project.id.clone(), PageKind::Overview).path();
                view! {
                    <li>
                        <a class="menu-item" href=href aria-current=is_current.then_some("true")>
                            <span class="menu-item-text">
                                <span>{project.name}</span>
                                <span class="mono muted">{project.id}</span>
                            </span>
                            {is_current.then(|| view! { <Icon symbol=Symbol::Check /> })}
                        </a>
                    </li>
                }
            })
            .collect::<Vec<_>>()
    };
    view! {
        <Menu
            id="project-menu"
            class="project-switcher"
            name=text(move || tf!("{project}: switch project", project = face()))
            face=move || view! { <span class="project-name">{face}</span> }
        >
            <nav aria-label=t("Projects")>
                <ul class="menu-section menu-list">{offered}</ul>
                <div class="menu-section">
                    <a class="menu-item" href=Page::of_server(PageKind::Projects).path()>
                        {t("All projects")}
                        <Icon symbol=Symbol::Arrow />
                    </a>
                </div>
            </nav>
        </Menu>
    }
}
