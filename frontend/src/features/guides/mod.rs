//! Guides: how tools are used, for agents and for people.

mod edit;

use std::sync::Arc;

use leptos::prelude::*;
use toolgate_api::guides::Guide;

use self::edit::GuideDialog;
use crate::action::Action;
use crate::api::{Ask, in_project, with_query};
use crate::components::{
    Cells, Confirm, Dialog, EmptyState, List, Markdown, Placement, SectionHead, Symbol, TimeAgo, Toasts,
};
use crate::language::{t, tf};
use crate::loaded::Loaded;
use crate::paged::{Item, Paged};
use crate::reactive::{When, condition, part, text};
use crate::routes::{Page, PageKind};
use crate::session::{Permission, Session};
use crate::url::{UrlParam, project_in_path};

/// The guides that one may see; those who edit definitions write them here.
#[component]
pub(crate) fn GuidesPage() -> impl IntoView {
    let project = project_in_path();
    let session = Session::get();
    let list = Paged::new(move || in_project(&project.get(), &["guides"]));
    let may_edit = condition(move || session.may(&project.get(), Permission::EditDefinitions));
    let chosen = RwSignal::new(String::new());
    // A tool's page leads to a guide.
    let read = UrlParam::new("guide");
    let reading = read.drawer();
    let [editing, removing] = [(); 2].map(|()| RwSignal::new(false));
    let open = move |id: String, dialog: RwSignal<bool>| {
        chosen.set(id);
        dialog.set(true);
    };
    let action = Action::new();
    let toasts = Toasts::get();
    let remove = move |()| {
        let id = chosen.get_untracked();
        let path = in_project(&project.get_untracked(), &["guides", &id]);
        action.send(Ask::delete(path).if_match("*"), move |_| {
            removing.set(false);
            toasts.done(tf!("{name} was removed.", name = id));
            list.reload();
        });
    };
    let cells: Cells = Arc::new(move |item: &Item| {
        let guide = item.read::<Guide>()?;
        let read = Callback::new(move |id: String| read.push(&id));
        let choose = Callback::new(move |(id, dialog)| open(id, dialog));
        let choose = may_edit.get_untracked().then_some(choose);
        Some(row(
            &project.get_untracked(),
            guide,
            read,
            choose,
            [editing, removing],
        ))
    });
    let new = move |_| open(String::new(), editing);
    let empty = move || {
        view! {
            <EmptyState
                symbol=Symbol::Book
                title=t("No guides yet")
                text=t("Agents read guides before they use tools that they do not know: write down in which order tools are called, and what goes wrong.")
            >
                <When test=move || may_edit.get()>
                    <button type="button" class="button button-primary" on:click=new>
                        {t("Write the first guide")}
                    </button>
                </When>
            </EmptyState>
        }
    };
    let loaded = Loaded::new(move || {
        let id = read.get();
        if id.is_empty() {
            id
        } else {
            in_project(&project.get(), &["guides", &id])
        }
    });
    let guide = Memo::new(move |_| loaded.read::<Guide>());
    let content = text(move || guide.get().and_then(|guide| guide.text).unwrap_or_default());
    view! {
        <SectionHead section=PageKind::Guides text=t("How tools are used, in Markdown. Agents get them by MCP as tools, prompts and resources.")>
            <When test=move || may_edit.get()>
                <button type="button" class="button button-primary" on:click=new>
                    {t("New guide")}
                </button>
            </When>
        </SectionHead>
        <List list what=t("guides") columns=[t("Guide"), t("About"), t("Changed"), t("Actions")] cells empty />
        <Dialog open=reading title=text(move || read.get()) placement=Placement::Wide>
            <div class="dialog-body">
                {loaded.placeholder(t("the guide"))}
                {part(move || {
                    guide.get().map(|guide| view! { <p class="row">{t("About")} ": " {about(&project.get(), &guide)}</p> }).into_any()
                })}
                <Markdown text=content />
            </div>
        </Dialog>
        <GuideDialog project open=editing id=chosen on_saved=move |()| list.reload() />
        <Confirm
            open=removing
            title=text(move || tf!("Remove {name}?", name = chosen.get()))
            verb=t("Remove the guide")
            action
            on_confirm=remove
        >
            <p>{t("Agents are not offered it any more.")}</p>
        </Confirm>
    }
}

/// What a guide is about, with the way to these tools.
fn about(project: &str, guide: &Guide) -> AnyView {
    let tools = Page::of_project(project.to_owned(), PageKind::Tools).path();
    let (text, href) = match (&guide.group, &guide.source) {
        (Some(group), _) => (
            tf!("Group {group}", group),
            with_query(tools, &[("group", group)]),
        ),
        (None, Some(source)) => {
            let import = Page::import(project.to_owned(), source.clone());
            (tf!("Import {source}", source), import.path())
        }
        (None, None) => (t("The project").to_owned(), tools),
    };
    if untrack(|| Session::get().may_follow(&href)) {
        view! { <a href=href>{text}</a> }.into_any()
    } else {
        text.into_any()
    }
}

fn row(
    project: &str,
    guide: Guide,
    read: Callback<String>,
    choose: Option<Callback<(String, RwSignal<bool>)>>,
    [editing, removing]: [RwSignal<bool>; 2],
) -> AnyView {
    let about = about(project, &guide);
    let change = choose.map(|choose| {
        [(t("Edit"), editing), (t("Remove"), removing)].map(|(text, dialog)| {
            let id = guide.id.clone();
            button(text, move || choose.run((id.clone(), dialog)))
        })
    });
    let id = guide.id.clone();
    view! {
        <th scope="row" role="rowheader">
            <span class="tool-name">{guide.id}</span>
            <span class="muted">{guide.summary}</span>
        </th>
        <td role="cell" data-label=t("About")>{about}</td>
        <td role="cell" data-label=t("Changed")>
            <TimeAgo at=guide.updated_at />
            {guide.updated_by.map(|by| tf!(" by {by}", by))}
        </td>
        <td role="cell" data-label=t("Actions")>
            <span class="row">
                {button(t("Read"), move || read.run(id.clone()))}
                {change.map(Vec::from)}
            </span>
        </td>
    }
    .into_any()
}

fn button(text: &'static str, press: impl Fn() + 'static) -> AnyView {
    view! {
        <button type="button" class="button button-small" on:click=move |_| press()>
            {text}
        </button>
    }
    .into_any()
}
