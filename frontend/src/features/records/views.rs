//! Filters that were kept under a name, for oneself or for everyone who reads the record.

use leptos::prelude::*;
use toolgate_api::saved_views::{SaveView, SavedView, SavedViews};

use super::choose::Columns;
use super::filters::RecordFilter;
use crate::action::Action;
use crate::api::{Ask, Body, in_project};
use crate::components::{Badge, Field, FormDialog, Icon, Menu, Symbol, TextInput, Toasts, Tone};
use crate::language::{t, tf};
use crate::loaded::Loaded;
use crate::reactive::part;
use crate::routes::{Page, PageKind};

/// The menu of kept views, and the dialog that keeps one more.
#[component]
pub(super) fn Views(
    /// The project's id.
    project: Memo<String>,
    /// What is kept.
    filter: RecordFilter,
    /// The columns that are kept with it.
    columns: Columns,
) -> impl IntoView {
    let list = Loaded::new(move || in_project(&project.get(), &["saved-views"]));
    let saving = RwSignal::new(false);
    let removing = Action::new();
    let remove = Callback::new(move |id: String| {
        let path = in_project(&project.get_untracked(), &["saved-views", &id]);
        removing.send(Ask::delete(path), move |_| list.reload());
    });
    let items = move || {
        let views = list
            .read::<SavedViews>()
            .map(|views| views.items)
            .unwrap_or_default();
        if views.is_empty() {
            return view! { <p class="muted">{t("No views are saved yet.")}</p> }.into_any();
        }
        let rows: Vec<_> = views
            .into_iter()
            .map(|view| row(&project.get_untracked(), view, remove))
            .collect();
        view! { <ul class="views">{rows}</ul> }.into_any()
    };
    view! {
        <Menu id="record-views" name=t("Views of the record") face=|| t("Views") class="menu-end">
            <div class="menu-section">
                {part(items)}
                {removing.outcome()}
            </div>
            <div class="menu-section">
                <button type="button" class="menu-item" data-close="" on:click=move |_| saving.set(true)>
                    <Icon symbol=Symbol::Plus />
                    {t("Save this view")}
                </button>
            </div>
        </Menu>
        <SaveDialog project open=saving filter columns on_saved=move |()| list.reload() />
    }
}

fn row(project: &str, kept: SavedView, remove: Callback<String>) -> AnyView {
    let href = Page::of_project(project.to_owned(), PageKind::Records).path() + "?" + &kept.query;
    let id = kept.id.to_string();
    let delete = tf!("Delete the view {name}", name = kept.name);
    view! {
        <li class="row row-spread">
            <a class="menu-item" href=href>
                {kept.name}
                {kept.shared.then(|| view! { <Badge tone=Tone::Plain text=t("shared") /> })}
            </a>
            <button
                type="button"
                class="button button-quiet button-small"
                aria-label=delete
                on:click=move |_| remove.run(id.clone())
            >
                <Icon symbol=Symbol::Close />
            </button>
        </li>
    }
    .into_any()
}

#[component]
fn SaveDialog(
    project: Memo<String>,
    open: RwSignal<bool>,
    filter: RecordFilter,
    columns: Columns,
    #[prop(into)] on_saved: Callback<()>,
) -> impl IntoView {
    let action = Action::new();
    let toasts = Toasts::get();
    let name = RwSignal::new(String::new());
    let shared = RwSignal::new(false);
    let save = move |()| {
        let body = SaveView {
            name: name.get_untracked().trim().to_owned(),
            query: filter.kept(&columns.words()),
            shared: shared.get_untracked(),
        };
        let path = in_project(&project.get_untracked(), &["saved-views"]);
        action.send(Ask::post(path, Body::json(&body)), move |_| {
            toasts.done(t("Saved the view."));
            open.set(false);
            name.set(String::new());
            on_saved.run(());
        });
    };
    view! {
        <FormDialog
            open
            title=t("Save this view")
            verb=t("Save")
            action
            ready=Signal::derive(move || name.with(|name| !name.trim().is_empty()))
            on_submit=save
        >
            <Field id="view-name" label=t("Name") help=t("A view of the same name is replaced.")>
                <TextInput id="view-name" value=name max="80" />
            </Field>
            <label class="check">
                <input
                    type="checkbox"
                    prop:checked=move || shared.get()
                    on:change=move |event| shared.set(event_target_checked(&event))
                />
                {t("Show it to everyone who may read the record")}
            </label>
        </FormDialog>
    }
}
