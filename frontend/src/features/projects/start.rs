//! The first page after signing in.

use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::use_navigate;

use super::store::Projects;
use crate::components::{PageHeading, ProblemPanel, Skeleton};
use crate::language::t;
use crate::paged::Status;
use crate::reactive::effect;
use crate::routes::{Page, PageKind};

/// Goes to the only project, or to the list when there are none or several.
#[component]
pub(crate) fn StartPage() -> impl IntoView {
    let shared = Projects::get();
    let projects = shared.list;
    let navigate = use_navigate();
    effect(move || {
        if projects.status.get() != Status::Ready {
            return;
        }
        let page = match shared.all().as_slice() {
            [only] => Page::of_project(only.id.clone(), PageKind::Overview),
            _ => Page::of_server(PageKind::Projects),
        };
        navigate(
            &page.path(),
            NavigateOptions {
                replace: true,
                ..NavigateOptions::default()
            },
        );
    });
    move || match projects.status.get() {
        Status::Failed(error) => view! {
            <PageHeading text=t("Projects") />
            <ProblemPanel error on_retry=move |()| projects.retry() />
        }
        .into_any(),
        _ => view! { <Skeleton what=t("projects") /> }.into_any(),
    }
}
