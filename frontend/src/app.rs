//! The application: context, frame and routes.

use leptos::prelude::*;
use leptos_router::components::Router;

use crate::components::{
    Icon, PageHeading, ProblemPanel, Skeleton, Symbol, ToastRegion, Toasts, provide_heading_focus,
};
use crate::features::imports::Waiting;
use crate::features::projects::Projects;
use crate::language::t;
use crate::layout::{Navigation, TopBar};
use crate::page_bundle::{PageBundles, page_of};
use crate::preferences::Preferred;
use crate::reactive::{condition, part};
use crate::routes::{Page, PageKind};
use crate::session::{Session, SessionState};
use crate::url::provide_page;

/// Everything but the sign-in page.
#[component]
pub(crate) fn App() -> impl IntoView {
    let session = Session::provide();
    provide_heading_focus();
    let signed_in = condition(move || matches!(session.state(), SessionState::SignedIn(_)));
    view! {
        <Router>
            <Show when=move || signed_in.get() fallback=move || view! { <Waiting session /> }>
                <Frame />
            </Show>
        </Router>
    }
}

/// What is shown while it is not known who is at the screen.
#[component]
fn Waiting(session: Session) -> impl IntoView {
    // The same as in the shell that the server sends, so that nothing moves when this takes its place.
    let bars = || {
        let bars = (0..12).map(|_| view! { <span class="skeleton-bar"></span> });
        bars.collect::<Vec<_>>()
    };
    view! {
        <header class="top-bar" aria-hidden="true">
            <span class="brand">
                <span class="brand-mark">
                    <Icon symbol=Symbol::Gate />
                </span>
                <span class="brand-name">"Toolgate"</span>
            </span>
        </header>
        <div class="frame">
            <div class="sidebar" aria-hidden="true">
                <div class="skeleton shell-side">{bars()}</div>
            </div>
            <main class="page">
                {move || match session.state() {
                    SessionState::Failed(error) => {
                        view! { <ProblemPanel error on_retry=move |()| session.refresh() /> }.into_any()
                    }
                    _ => view! { <Skeleton what=t("the dashboard") /> }.into_any(),
                }}
            </main>
        </div>
    }
}

/// The frame and the page in it.
#[component]
fn Frame() -> impl IntoView {
    Preferred::provide();
    Projects::provide();
    Toasts::provide();
    PageBundles::provide();
    let page = provide_page();
    Waiting::provide();
    let kind = Memo::new(move |_| page.with(|page| page.as_ref().map(Page::kind)));
    let session = Session::get();
    let may_open =
        condition(move || page.with(|page| page.as_ref().is_none_or(|page| session.may_open(page))));
    view! {
        <a class="skip-link" href="#main" rel="external">
            {t("Skip to content")}
        </a>
        <TopBar />
        <div class="frame">
            <div class="sidebar">
                <Navigation />
            </div>
            <main
                class="page"
                class:page-wide=move || kind.get().is_some_and(PageKind::is_wide)
                id="main"
                tabindex="-1"
            >
                {part(move || if may_open.get() { content(kind.get()) } else { view! { <NoAccess /> }.into_any() })}
            </main>
        </div>
        <ToastRegion />
    }
}

/// The page of a kind. One that stays while its subject changes follows the address by itself.
fn content(kind: Option<PageKind>) -> AnyView {
    match kind {
        Some(kind) => page_of(kind),
        None => view! { <NotFound /> }.into_any(),
    }
}

/// A page that the server would refuse to this person.
#[component]
fn NoAccess() -> impl IntoView {
    view! {
        <div class="empty">
            <PageHeading text=t("You have no access to this page") />
            <p class="muted">{t("Your role does not include it. Ask an owner of the project, or a system administrator.")}</p>
            <p>
                <a class="button button-primary" href=Page::of_server(PageKind::Start).path()>
                    {t("Go to the start")}
                </a>
            </p>
        </div>
    }
}

/// An address that leads nowhere.
#[component]
fn NotFound() -> impl IntoView {
    view! {
        <div class="empty">
            <PageHeading text=t("There is no such page") />
            <p class="muted">{t("The address may be mistyped, or the page has moved.")}</p>
            <p>
                <a class="button button-primary" href=Page::of_server(PageKind::Projects).path()>
                    {t("Show all projects")}
                </a>
            </p>
        </div>
    }
}
