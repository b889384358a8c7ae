//! The top of a page: where one is, its heading, what it is for, and what can be done.

use leptos::prelude::*;

use super::PageHeading;
use crate::help::guide_of;
use crate::language::{t, tf};
use crate::routes::{Page, PageKind};

/// The top of a page of a project.
#[component]
pub(crate) fn SectionHead(
    /// Which page.
    section: PageKind,
    /// What it is for; one sentence.
    text: &'static str,
    /// Buttons.
    #[prop(optional)]
    children: Option<Children>,
) -> impl IntoView {
    view! {
        <div class="page-head">
            <div>
                <PageHeading text=section.title() />
                <p class="muted">
                    {text}
                    {guide_of(section)
                        .map(|guide| {
                            let label = tf!("Learn more about {section}", section = section.title());
                            view! {
                                " "
                                <a href=guide rel="external" target="_blank" aria-label=label>
                                    {t("Learn more")}
                                </a>
                            }
                        })}
                </p>
            </div>
            {children.map(|children| view! { <div class="page-actions">{children()}</div> })}
        </div>
    }
}

/// The way back from a page below a page of a project.
#[component]
pub(crate) fn Breadcrumbs(
    /// The project's id.
    #[prop(into)]
    project: Signal<String>,
    /// The page above.
    section: PageKind,
    /// What this page is about.
    #[prop(into)]
    here: Signal<String>,
) -> impl IntoView {
    view! {
        <nav class="breadcrumbs" aria-label=t("Breadcrumbs")>
            <ol>
                <li>
                    <a href=move || Page::of_project(project.get(), section).path()>{section.title()}</a>
                </li>
                <li aria-current="page">{here}</li>
            </ol>
        </nav>
    }
}
