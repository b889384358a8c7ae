//! The application: context, frame and routes.

use leptos::prelude::*;
use leptos_router::components::{FlatRoutes, Route, Router};
use leptos_router::path;

use crate::components::{
    PageHeading, ProblemPanel, Skeleton, ToastRegion, Toasts, provide_heading_focus,
};
use crate::features::projects::{Projects, ProjectsPage, StartPage};
use crate::features::connect::ConnectPage;
use crate::features::keys::KeysPage;
use crate::features::tools::{ToolPage, ToolsPage};
use crate::features::upload::UploadPage;
use crate::layout::{Navigation, TopBar};
use crate::routes::Page;
use crate::session::{Session, SessionState};

/// Everything but the sign-in page.
#[component]
pub(crate) fn App() -> impl IntoView {
    let session = Session::provide();
    provide_heading_focus();
    let signed_in = Memo::new(move |_| matches!(session.state(), SessionState::SignedIn(_)));
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
    view! {
        <main class="page">
            {move || match session.state() {
                SessionState::Failed(error) => {
                    view! { <ProblemPanel error on_retry=move |()| session.refresh() /> }.into_any()
                }
                _ => view! { <Skeleton what="the dashboard" /> }.into_any(),
            }}
        </main>
    }
}

/// The frame and the page in it.
#[component]
fn Frame() -> impl IntoView {
    Projects::provide();
    Toasts::provide();
    view! {
        <a class="skip-link" href="#main" rel="external">
            "Skip to content"
        </a>
        <TopBar />
        <div class="frame">
            <aside class="sidebar">
                <Navigation />
            </aside>
            <main class="page" id="main" tabindex="-1">
                <FlatRoutes fallback=NotFound>
                    <Route path=path!("/ui") view=StartPage />
                    <Route path=path!("/ui/projects") view=ProjectsPage />
                    <Route path=path!("/ui/projects/:project_id/tools") view=ToolsPage />
                    <Route path=path!("/ui/projects/:project_id/tools/:tool_name") view=ToolPage />
                    <Route path=path!("/ui/projects/:project_id/upload") view=UploadPage />
                    <Route path=path!("/ui/projects/:project_id/keys") view=KeysPage />
                    <Route path=path!("/ui/projects/:project_id/connect") view=ConnectPage />
                </FlatRoutes>
            </main>
        </div>
        <ToastRegion />
    }
}

/// An address that leads nowhere.
#[component]
fn NotFound() -> impl IntoView {
    view! {
        <div class="empty">
            <PageHeading text="There is no such page" />
            <p class="muted">"The address may be mistyped, or the page has moved."</p>
            <p>
                <a class="button button-primary" href=Page::Projects.path()>
                    "Show all projects"
                </a>
            </p>
        </div>
    }
}
