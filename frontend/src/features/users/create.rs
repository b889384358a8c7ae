//! Making a user, and at once a member of a project.

use leptos::prelude::*;
use serde_json::Value;
use toolgate_api::permissions::GrantTerms;
use toolgate_api::users::{CreateUser, CreatedUser};

use super::password::shown_once;
use crate::action::Action;
use crate::api::{Ask, Body, in_project, with_query};
use crate::components::{Field, FormDialog, ProblemPanel, Select, TextInput, Toasts};
use crate::features::permissions::TermsFields;
use crate::language::{t, tf};
use crate::loaded::Loaded;
use crate::reactive::{When, effect, part};
use crate::routes::{Page, PageKind};
use crate::url::UrlParam;

/// A grant that is made after its user: the project, the principal, the user's name, and what is granted.
#[derive(Clone)]
struct Membership {
    project: String,
    principal: String,
    username: String,
    terms: GrantTerms,
}

/// The dialog, and what became of the grant.
#[component]
pub(super) fn NewUser(
    /// Whether it is open.
    open: RwSignal<bool>,
    /// The name that a link brings; the parameter `project` beside it is the project.
    new: UrlParam,
    /// A user was made.
    #[prop(into)]
    on_created: Callback<()>,
) -> impl IntoView {
    let [username, display, project] = [(); 3].map(|()| RwSignal::new(String::new()));
    let admin = RwSignal::new(false);
    let terms = TermsFields::new();
    let password = shown_once();
    let [action, granting] = [(); 2].map(|()| Action::new());
    let membership = RwSignal::new(None::<Membership>);
    let toasts = Toasts::get();
    let of = UrlParam::new("project");
    effect(move || {
        if !open.get() {
            for field in [username, display, project] {
                field.set(String::new());
            }
            admin.set(false);
            terms.set(None, "");
        }
    });
    effect(move || {
        let name = new.get();
        if name.is_empty() {
            of.replace("");
        } else {
            username.set(name);
            project.set(of.get_untracked());
        }
    });
    let projects = Loaded::new(move || match open.get() {
        true => "/projects?limit=200".to_owned(),
        false => String::new(),
    });
    let options = Signal::derive(move || {
        let found = projects.json().unwrap_or_default();
        let found = found["items"].as_array().into_iter().flatten();
        let word = |item: &Value, key: &str| item[key].as_str().unwrap_or_default().to_owned();
        let mut options = vec![(String::new(), t("No project").to_owned())];
        options.extend(found.map(|item| (word(item, "id"), word(item, "name"))));
        // That of the link may be none of the first.
        let chosen = project.get();
        if options.iter().all(|(id, _)| *id != chosen) {
            options.push((chosen.clone(), chosen));
        }
        options
    });
    let grant = move || {
        let Some(member) = membership.get_untracked() else {
            return;
        };
        let path = in_project(&member.project, &["permissions", &member.principal]);
        granting.send(Ask::put(path, Body::json(&member.terms)).if_new(), move |_| {
            toasts.done(t("The grant is in force."));
        });
    };
    let create = move |()| {
        let place = project.get_untracked();
        let terms = if place.is_empty() { None } else { terms.read() };
        if !place.is_empty() && terms.is_none() {
            return;
        }
        let request = CreateUser {
            username: username.get_untracked().trim().to_owned(),
            display_name: Some(display.get_untracked().trim().to_owned()).filter(|name| !name.is_empty()),
            password: None,
            system_admin: admin.get_untracked(),
        };
        action.send(Ask::post("/users", Body::json(&request)), move |answer| {
            on_created.run(());
            let Some(created) = action.read::<CreatedUser>(&answer) else {
                return;
            };
            password.text.set(created.generated_password);
            granting.error.set(None);
            membership.set(terms.map(|terms| Membership {
                project: place,
                principal: created.user.principal,
                username: created.user.username,
                terms,
            }));
            grant();
        });
    };
    let refused = move || {
        let error = granting.error.get().filter(|_| !open.get())?;
        let member = membership.get()?;
        let path = Page::of_project(member.project.clone(), PageKind::Permissions).path();
        let href = with_query(path, &[("principal", &member.principal)]);
        Some(view! {
            <section class="stack" aria-label=t("The grant")>
                <p>{tf!("The user {name} was made, but not the grant in {project}.", name = member.username, project = member.project)}</p>
                <ProblemPanel error on_retry=move |()| grant() />
                <p>
                    <a href=href>{t("Grant it in the permissions of the project")}</a>
                </p>
            </section>
        })
    };
    view! {
        {part(move || refused().into_any())}
        <FormDialog
            open
            title=t("New user")
            verb=t("Create the user")
            action
            once=password
            ready=Signal::derive(move || username.with(|name| !name.trim().is_empty()))
            on_submit=create
        >
            <Field id="user-name" label=t("User name") help=t("To sign in with.")>
                <TextInput id="user-name" value=username mono=true max="64" />
            </Field>
            <Field id="user-display" label=t("Name") help=t("For people; may be left out.")>
                <TextInput id="user-display" value=display max="100" />
            </Field>
            <label class="check">
                <input
                    type="checkbox"
                    prop:checked=move || admin.get()
                    on:change=move |event| admin.set(event_target_checked(&event))
                />
                {t("System administrator: manages every project, and users")}
            </label>
            <Field id="user-project" label=t("Project") help=t("Makes the user a member of it at once; may be left out.")>
                <Select
                    id="user-project"
                    value=project
                    options
                    on_change=move |chosen: String| project.set(chosen)
                />
            </Field>
            <When test=move || project.with(|project| !project.is_empty())>{terms.view(project.into())}</When>
        </FormDialog>
    }
}
