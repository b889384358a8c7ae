//! The page: who one is, how the dashboard looks, and where one is signed in.

use leptos::prelude::*;

use super::appearance::Appearance;
use super::sign_ins::SignInsPanel;
use crate::components::{Badge, SectionHead, Tone, fact, facts};
use crate::features::projects::Projects;
use crate::language::{t, tf};
use crate::rare_parts::rare_dialog;
use crate::reactive::{When, condition, part};
use crate::routes::{Page, PageKind};
use crate::session::Session;
use crate::words::counted;

/// The page.
#[component]
pub(crate) fn ProfilePage() -> impl IntoView {
    let [password, factor] = [(); 2].map(|()| RwSignal::new(false));
    let session = Session::get();
    // Who signs in at a provider has both there.
    let has_password = condition(move || session.me().is_some_and(|me| me.sign_in_way.is_none()));
    view! {
        <SectionHead section=PageKind::Profile text=t("Your account on this server, how the dashboard looks for you, and where you are signed in.") />
        <div class="stack">
            <section class="panel stack" aria-labelledby="profile-account">
                <h2 id="profile-account">{t("Account")}</h2>
                {part(move || account(session))}
                <When test=has_password>
                    <div class="row">
                        <button type="button" class="button" on:click=move |_| password.set(true)>
                            {t("Change your password")}
                        </button>
                        <button type="button" class="button" on:click=move |_| factor.set(true)>
                            {t("Second factor")}
                        </button>
                    </div>
                </When>
            </section>
            <Appearance />
            <SignInsPanel />
            <section class="panel stack" aria-labelledby="profile-accounts">
                <h2 id="profile-accounts">{t("Accounts at other services")}</h2>
                <p class="muted">{t("Tools of a project can call services with your own account. You connect it in the project.")}</p>
                {part(move || connected(session))}
            </section>
        </div>
        {rare_dialog(password, |parts| parts.password)}
        {rare_dialog(factor, |parts| parts.second_factor)}
    }
}

fn account(session: Session) -> AnyView {
    let Some(me) = session.me() else {
        return ().into_any();
    };
    let role = if me.system_admin {
        t("System administrator").to_owned()
    } else {
        tf!(
            "Member of {projects}",
            projects = counted(me.projects.len(), "project")
        )
    };
    let factor = if me.second_factor {
        view! { <Badge tone=Tone::Good text=t("on") /> }
    } else {
        view! { <Badge text=t("off") /> }
    };
    let has_password = me.sign_in_way.is_none();
    let way = me.sign_in_way.unwrap_or_else(|| t("password").to_owned());
    let mut items = vec![
        fact(t("User name"), me.name),
        fact(t("Role"), role),
        fact(t("Signs in by"), way),
    ];
    if has_password {
        items.push(fact(t("Second factor"), factor));
    }
    facts(items)
}

/// The page of accounts of each project.
fn connected(session: Session) -> AnyView {
    let projects = Projects::get().all();
    let rows: Vec<_> = projects
        .into_iter()
        .filter(|project| session.may_see(&project.id, PageKind::Accounts))
        .map(|project| {
            let href = Page::of_project(project.id, PageKind::Accounts).path();
            view! {
                <li>
                    <a href=href>{project.name}</a>
                </li>
            }
        })
        .collect();
    if rows.is_empty() {
        return view! { <p class="muted">{t("You belong to no project yet.")}</p> }.into_any();
    }
    view! { <ul class="list">{rows}</ul> }.into_any()
}
