//! Defining a tool service: a new one, changing one, and deleting it.

use leptos::prelude::*;
use toolgate_api::ErrorCode;
use toolgate_api::tool_services::ToolService;

use super::service_form::ServiceForm;
use crate::action::Action;
use crate::api::{ApiError, Ask, Body, in_project};
use crate::components::{Breadcrumbs, Confirm, Field, PageHeading, SectionHead, Tags, TextInput, Toasts};
use crate::language::{t, tf};
use crate::loaded::Loaded;
use crate::reactive::{When, condition, effect, part, text};
use crate::routes::{Page, PageKind};
use crate::session::{Permission, Session};
use crate::url::{Navigator, project_in_path, service_in_path};

fn path(project: &str, id: &str) -> String {
    in_project(project, &["tool-services", id])
}

/// Whether an attempt failed for a reason.
fn failed_for(action: Action, code: ErrorCode) -> bool {
    action
        .error
        .with(|error| error.as_ref().and_then(ApiError::code) == Some(code))
}

/// The form of a service that is not there yet.
#[component]
pub(crate) fn NewServicePage() -> impl IntoView {
    let project = project_in_path();
    let id = RwSignal::new(String::new());
    let form = ServiceForm::new();
    let action = Action::new();
    let toasts = Toasts::get();
    let navigator = Navigator::new();
    effect(move || {
        id.track();
        form.track();
        action.error.set(None);
    });
    let save = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let id = id.with_untracked(|id| id.trim().to_owned());
        let project = project.get_untracked();
        let ask = Ask::put(path(&project, &id), Body::json(&form.definition()));
        action.send(ask, move |_| {
            toasts.done(tf!("{id} is stored. Upload its tools next.", id));
            navigator.go(&Page::bus_program(project, id).path());
        });
    };
    let is_taken = condition(move || failed_for(action, ErrorCode::PreconditionRequired));
    let taken = Signal::derive(move || {
        is_taken.get().then(|| {
            t("There is a service of this id; open it from the page Services to change it.").to_owned()
        })
    });
    let here = Signal::stored(PageKind::NewService.title().to_owned());
    view! {
        <Breadcrumbs project section=PageKind::BusPrograms here />
        <SectionHead section=PageKind::NewService text=t("A program behind the message bus that executes tools: where it reads requests, where it answers, and what its tools say to it.") />
        <form class="panel stack" aria-label=t("New tool service") on:submit=save>
            <Field id="service-id" label=t("Id") help=t("How its tools refer to it (service: ...). It cannot be changed later.") error=taken>
                <TextInput id="service-id" value=id mono=true max="128" placeholder="joke-service" />
            </Field>
            {form.view(action)}
            {part(move || if is_taken.get() { ().into_any() } else { action.outcome() })}
            <div class="row">
                <button
                    type="submit"
                    class="button button-primary"
                    disabled=move || action.busy.get() || id.with(|id| id.trim().is_empty())
                >
                    {t("Create the service")}
                </button>
            </div>
        </form>
    }
}

/// The definition of a service.
#[component]
pub(crate) fn ServiceDefinitionPage() -> impl IntoView {
    let project = project_in_path();
    let id = service_in_path();
    let session = Session::get();
    let may_edit = condition(move || session.may(&project.get(), Permission::EditDefinitions));
    let loaded = Loaded::new(move || path(&project.get(), &id.get()));
    let service = Memo::new(move |_| loaded.read::<ToolService>());
    let is_there = condition(move || loaded.is_there());
    // That of what is in the form.
    let tag = StoredValue::new(String::new());
    let removing = RwSignal::new(false);
    let removal = Action::new();
    let toasts = Toasts::get();
    let navigator = Navigator::new();
    let ask_removal = move |_| {
        removal.error.set(None);
        removing.set(true);
    };
    let remove = move |()| {
        let id = id.get_untracked();
        let ask = Ask::delete(path(&project.get_untracked(), &id)).if_match(tag.get_value());
        removal.send(ask, move |_| {
            removing.set(false);
            toasts.done(tf!("{name} was deleted.", name = id));
            navigator.go(&Page::of_project(project.get_untracked(), PageKind::BusPrograms).path());
        });
    };
    let used_by = move || {
        let tools = service.with(|service| service.as_ref().map(|service| service.tools.clone()));
        tools
            .map(
                |names| view! { <p class="row">{t("Tools that use it: ")} <Tags names none=t("none") /></p> },
            )
            .into_any()
    };
    let edit = move || {
        let stored = service.get().map(|service| {
            tag.set_value(loaded.etag());
            view! { <Edit project service tag may_edit on_stale=move |()| loaded.reload() /> }
        });
        stored.into_any()
    };
    view! {
        <Breadcrumbs project section=PageKind::BusPrograms here=id />
        <div class="page-head">
            <div>
                <PageHeading text=id />
                <p class="muted">{t("The definition of the tool service. A change counts for the next call of its tools.")}</p>
            </div>
            <div class="page-actions">
                <a class="button" href=move || Page::bus_program(project.get(), id.get()).path()>
                    {t("Processes and queue")}
                </a>
                <When test=move || may_edit.get() && is_there.get()>
                    <button type="button" class="button" on:click=ask_removal>
                        {t("Delete")}
                    </button>
                </When>
            </div>
        </div>
        {loaded.placeholder(t("the definition"))}
        {part(used_by)}
        {part(edit)}
        <Confirm
            open=removing
            title=text(move || tf!("Delete {name}?", name = id.get()))
            verb=t("Delete the service")
            action=removal
            on_confirm=remove
        >
            <p>{t("A service that tools use is not deleted. A program that announces it again brings it back.")}</p>
        </Confirm>
    }
}

/// The form with a service in it. A service that others change meanwhile is not overwritten.
#[component]
fn Edit(
    /// The project's id.
    project: Memo<String>,
    /// As it is now.
    service: ToolService,
    /// The tag of what is in the form.
    tag: StoredValue<String>,
    /// Whether it may be changed.
    may_edit: Memo<bool>,
    /// What is stored now is to be shown.
    #[prop(into)]
    on_stale: Callback<()>,
) -> impl IntoView {
    let form = ServiceForm::new();
    let action = Action::new();
    let toasts = Toasts::get();
    let id = StoredValue::new(service.id.clone());
    form.show(service);
    effect(move || {
        form.track();
        action.error.set(None);
    });
    let save = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let path = path(&project.get_untracked(), &id.get_value());
        let ask = Ask::put(path, Body::json(&form.definition())).if_match(tag.get_value());
        action.send(ask, move |answer| {
            tag.set_value(answer.etag);
            toasts.done(tf!(
                "{id} is stored. It counts for the next call.",
                id = id.get_value()
            ));
        });
    };
    let is_stale = condition(move || failed_for(action, ErrorCode::PreconditionFailed));
    view! {
        <form class="panel" aria-label=t("Definition") on:submit=save>
            <fieldset class="stack" disabled=move || !may_edit.get()>
                {form.view(action)}
                {action.outcome()}
                <When test=move || is_stale.get()>
                    <div>
                        <button type="button" class="button" on:click=move |_| on_stale.run(())>
                            {t("Show what is stored now")}
                        </button>
                    </div>
                </When>
                <When test=move || may_edit.get()>
                    <div class="row">
                        <button type="submit" class="button button-primary" disabled=move || action.busy.get()>
                            {t("Save")}
                        </button>
                    </div>
                </When>
            </fieldset>
        </form>
    }
}
