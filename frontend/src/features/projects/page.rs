//! The list of projects.

use leptos::prelude::*;
use toolgate_api::auth::Role;
use toolgate_api::projects::Project;

use super::create::CreateProjectDialog;
use super::store::Projects;
use crate::components::{EmptyState, PageHeading, ProblemPanel, Skeleton, TimeAgo};
use crate::language::t;
use crate::paged::Status;
use crate::reactive::{When, condition};
use crate::routes::{Page, PageKind};
use crate::session::Session;

/// All projects that one may see.
#[component]
pub(crate) fn ProjectsPage() -> impl IntoView {
    let projects = Projects::get();
    let list = projects.list;
    let is_empty = condition(move || list.is_empty());
    let session = Session::get();
    let may_create = condition(move || session.is_system_admin());
    let creating = RwSignal::new(false);
    let button = move || {
        view! {
            <button type="button" class="button button-primary" on:click=move |_| creating.set(true)>
                {t("New project")}
            </button>
        }
    };
    view! {
        <div class="page-head">
            <div>
                <PageHeading text=t("Projects") />
                <p class="muted">{t("Each project has its own tools, keys and record. Nothing crosses from one to another.")}</p>
            </div>
            <When test=move || may_create.get() && !is_empty.get()>
                <div class="page-actions">{button()}</div>
            </When>
        </div>
        {move || match (list.status.get(), is_empty.get()) {
            (Status::Failed(error), _) => {
                view! { <ProblemPanel error on_retry=move |()| list.retry() /> }.into_any()
            }
            (Status::Loading, true) => view! { <Skeleton what=t("projects") rows=3 /> }.into_any(),
            (Status::Ready, true) if may_create.get() => {
                view! {
                    <EmptyState
                        title=t("There is no project yet")
                        text=t("A project holds tools, the keys of the agents that call them, and the record of every call.")
                    >
                        {button()}
                    </EmptyState>
                }
                    .into_any()
            }
            (Status::Ready, true) => {
                view! {
                    <EmptyState
                        title=t("You are in no project yet")
                        text=t("Ask an administrator to make you a member of one.")
                    />
                }
                    .into_any()
            }
            _ => ().into_any(),
        }}
        <ul class="cards">
            <For each=move || projects.all() key=|project| project.id.clone() let:project>
                <li>
                    <ProjectCard role=session.membership(&project.id).map(|held| held.role) project />
                </li>
            </For>
        </ul>
        <When test=move || list.has_more()>
            <button type="button" class="button" on:click=move |_| list.more()>
                {t("Show more projects")}
            </button>
        </When>
        <CreateProjectDialog open=creating />
    }
}

#[component]
fn ProjectCard(project: Project, role: Option<Role>) -> impl IntoView {
    let href = Page::of_project(project.id.clone(), PageKind::Overview).path();
    view! {
        <a class="card" href=href>
            <span class="card-title">{project.name}</span>
            <span class="mono muted">{project.id}</span>
            <span class="card-foot muted">
                {role.map(|role| view! { <span class="tag">{role_name(role)}</span> })}
                <span>{t("Created ")} <TimeAgo at=project.created_at /></span>
            </span>
        </a>
    }
}

fn role_name(role: Role) -> &'static str {
    match role {
        Role::Owner => t("Owner"),
        Role::Editor => t("Editor"),
        Role::Auditor => t("Auditor"),
        Role::Viewer => t("Viewer"),
        Role::Agent => t("Agent"),
    }
}
