//! The project itself: its name, and deleting it.

use leptos::prelude::*;
use toolgate_api::projects::{Project, RenameProject};

use crate::action::Action;
use crate::api::{Ask, Body, in_project};
use crate::components::{Confirm, Field, TextInput, Toasts};
use crate::features::projects::Projects;
use crate::language::{t, tf};
use crate::loaded::Loaded;
use crate::reactive::{When, condition, effect};
use crate::routes::{Page, PageKind};
use crate::session::{Permission, Session};
use crate::url::Navigator;

/// The section; for those who may delete the project.
#[component]
pub(super) fn ProjectItself(
    /// The project's id.
    project: Memo<String>,
) -> impl IntoView {
    let session = Session::get();
    let may = condition(move || session.may(&project.get(), Permission::DeleteProject));
    let loaded = Loaded::new(move || in_project(&project.get(), &[]));
    let name = RwSignal::new(String::new());
    let asking = RwSignal::new(false);
    let [renaming, deleting] = [(); 2].map(|()| Action::new());
    let (toasts, projects, navigator) = (Toasts::get(), Projects::get(), Navigator::new());
    effect(move || {
        if let Some(stored) = loaded.read::<Project>() {
            name.set(stored.name);
        }
    });
    let path = move || in_project(&project.get_untracked(), &[]);
    let rename = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let body = RenameProject {
            name: name.get_untracked().trim().to_owned(),
        };
        let ask = Ask::patch(path(), Body::json(&body)).if_match(loaded.etag());
        renaming.send(ask, move |_| {
            toasts.done(t("The project has another name."));
            loaded.reload();
            projects.list.reload();
        });
    };
    let delete = move |()| {
        deleting.send(Ask::delete(path()).if_match(loaded.etag()), move |_| {
            asking.set(false);
            toasts.done(t("The project is deleted."));
            projects.list.reload();
            session.refresh();
            navigator.go(&Page::of_server(PageKind::Projects).path());
        });
    };
    view! {
        <When test=may>
            <section class="panel stack" id="project" aria-labelledby="project-itself">
                <h2 id="project-itself">{t("Project")}</h2>
                {loaded.placeholder(t("the project"))}
                <When test=move || loaded.is_there()>
                    <form class="stack" on:submit=rename>
                        <Field id="project-rename" label=t("Name of the project") help=t("For people. The id, which addresses and definitions use, stays.")>
                            <TextInput id="project-rename" value=name max="200" />
                        </Field>
                        {renaming.outcome()}
                        <div class="row row-spread">
                            <button type="submit" class="button" disabled=move || renaming.busy.get()>
                                {t("Rename the project")}
                            </button>
                            <button type="button" class="button button-danger" on:click=move |_| asking.set(true)>
                                {t("Delete the project")}
                            </button>
                        </div>
                    </form>
                </When>
            </section>
            <Confirm
                open=asking
                title=Signal::derive(move || tf!("Delete the project {name}?", name = project.get()))
                verb=t("Delete the project")
                typed=Signal::derive(move || project.get())
                action=deleting
                on_confirm=delete
            >
                <p>{t("Its tools, keys, grants, secrets and sessions are gone at once, and this cannot be undone. Its records stay in the database.")}</p>
            </Confirm>
        </When>
    }
}
