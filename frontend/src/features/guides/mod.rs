//! Guides: how tools are used, for agents and for people.

mod edit;

use std::sync::Arc;

use leptos::prelude::*;
use toolgate_api::guides::Guide;

use self::edit::GuideDialog;
use crate::action::Action;
use crate::api::{Ask, in_project};
use crate::components::{
    Cells, Confirm, Dialog, EmptyState, List, Markdown, Placement, SectionHead, Symbol, TimeAgo, Toasts,
};
use crate::language::{t, tf};
use crate::loaded::Loaded;
use crate::paged::{Item, Paged};
use crate::reactive::{When, condition, text};
use crate::routes::PageKind;
use crate::session::{Permission, Session};
use crate::url::project_in_path;

/// The guides that one may see; those who edit definitions write them here.
#[component]
pub(crate) fn GuidesPage() -> impl IntoView {
    let project = project_in_path();
    let session = Session::get();
    let list = Paged::new(move || in_project(&project.get(), &["guides"]));
    let may_edit = condition(move || session.may(&project.get(), Permission::EditDefinitions));
    let chosen = RwSignal::new(String::new());
    let (reading, editing, removing) = (RwSignal::new(false), RwSignal::new(false), RwSignal::new(false));
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
        let choose = Callback::new(move |(id, dialog)| open(id, dialog));
        Some(row(
            guide,
            may_edit.get_untracked(),
            choose,
            [reading, editing, removing],
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
        if reading.get() {
            in_project(&project.get(), &["guides", &chosen.get()])
        } else {
            String::new()
        }
    });
    let content = text(move || {
        loaded
            .read::<Guide>()
            .and_then(|guide| guide.text)
            .unwrap_or_default()
    });
    view! {
        <SectionHead section=PageKind::Guides text=t("How tools are used, in Markdown. Agents get them by MCP as tools, prompts and resources.")>
            <When test=move || may_edit.get()>
                <button type="button" class="button button-primary" on:click=new>
                    {t("New guide")}
                </button>
            </When>
        </SectionHead>
        <List list what=t("guides") columns=[t("Guide"), t("About"), t("Changed"), t("Actions")] cells empty />
        <Dialog open=reading title=text(move || chosen.get()) placement=Placement::Wide>
            <div class="dialog-body">
                {loaded.placeholder(t("the guide"))}
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

fn row(
    guide: Guide,
    may_edit: bool,
    choose: Callback<(String, RwSignal<bool>)>,
    [reading, editing, removing]: [RwSignal<bool>; 3],
) -> AnyView {
    let about = match (&guide.group, &guide.source) {
        (Some(group), _) => tf!("Group {group}", group),
        (None, Some(source)) => tf!("Import {source}", source),
        (None, None) => t("The project").to_owned(),
    };
    let button = |text: &'static str, dialog: RwSignal<bool>| {
        let id = guide.id.clone();
        view! {
            <button type="button" class="button button-small" on:click=move |_| choose.run((id.clone(), dialog))>
                {text}
            </button>
        }
    };
    let (read, edit, remove) = (
        button(t("Read"), reading),
        button(t("Edit"), editing),
        button(t("Remove"), removing),
    );
    view! {
        <th scope="row" role="rowheader">
            <span class="tool-name">{guide.id.clone()}</span>
            <span class="muted">{guide.summary}</span>
        </th>
        <td role="cell" data-label=t("About")>{about}</td>
        <td role="cell" data-label=t("Changed")>
            <TimeAgo at=guide.updated_at />
            {guide.updated_by.map(|by| tf!(" by {by}", by))}
        </td>
        <td role="cell" data-label=t("Actions")>
            <span class="row">
                {read}
                {may_edit.then(|| view! { {edit} {remove} })}
            </span>
        </td>
    }
    .into_any()
}
