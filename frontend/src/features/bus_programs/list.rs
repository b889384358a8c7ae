//! The services and workers of a project.

use leptos::prelude::*;
use toolgate_api::presence::{BusProgram, BusPrograms, BusState, RefusedAnnouncement};

use super::words::{kind_name, needs, page_of, presence};
use crate::api::in_project;
use crate::components::{EmptyState, SectionHead, Symbol, Tags, TimeAgo, table};
use crate::features::mcp_servers::follow;
use crate::language::t;
use crate::loaded::Loaded;
use crate::reactive::{When, condition, part};
use crate::routes::{Page, PageKind};
use crate::session::{Permission, Session};
use crate::url::project_in_path;

/// All of them, with their processes as this server hears them.
#[component]
pub(crate) fn BusProgramsPage() -> impl IntoView {
    let project = project_in_path();
    let session = Session::get();
    let may_edit = condition(move || session.may(&project.get(), Permission::EditDefinitions));
    let loaded = Loaded::new(move || in_project(&project.get(), &["bus-programs"]));
    follow(loaded);
    let programs = Memo::new(move |_| loaded.read::<BusPrograms>());
    let items = Memo::new(move |_| {
        programs.with(|programs| {
            programs
                .as_ref()
                .map(|programs| programs.items.clone())
                .unwrap_or_default()
        })
    });
    let refused = Memo::new(move |_| {
        programs.with(|programs| {
            programs
                .as_ref()
                .map(|programs| programs.refused.clone())
                .unwrap_or_default()
        })
    });
    let bus = Memo::new(move |_| programs.with(|programs| programs.as_ref().map(|programs| programs.bus)));
    let is_empty = condition(move || bus.get().is_some() && items.with(Vec::is_empty));
    // The rows stay while what is in them changes, so that the focus stays too.
    let keys = Memo::new(move |_| {
        items.with(|items| {
            items
                .iter()
                .map(|item| (item.kind, item.name.clone()))
                .collect::<Vec<_>>()
        })
    });
    let has_rows = condition(move || keys.with(|keys| !keys.is_empty()));
    let row = move |(kind, name): (_, String)| {
        let of = name.clone();
        let program = Memo::new(move |_| {
            items.with(|items| {
                items
                    .iter()
                    .find(|item| item.kind == kind && item.name == of)
                    .cloned()
            })
        });
        let href = page_of(&project.get_untracked(), kind, &name);
        let show = move |view: fn(&BusProgram) -> AnyView| {
            part(move || program.with(|program| program.as_ref().map(view)).into_any())
        };
        view! {
            <tr role="row">
                <th scope="row" role="rowheader">
                    <a class="tool-name" data-row="" href=href>{name}</a>
                    <span class="muted tool-description">{kind_name(kind)}</span>
                </th>
                <td role="cell" data-label=t("Processes")>{show(presence)}</td>
                <td role="cell" data-label=t("Tools")>
                    {show(|program| view! { <Tags names=program.tools.clone() none=t("none") /> }.into_any())}
                </td>
                <td role="cell" data-label=t("To decide")>{show(needs)}</td>
            </tr>
        }
    };
    view! {
        <SectionHead section=PageKind::BusPrograms text=t("Tool services and workers on the message bus. Their tools are called through the gateway, by the same rules as any other tool.")>
            <a class="button" href=move || Page::of_project(project.get(), PageKind::DeadLetters).path()>
                {t("Dead letters")}
            </a>
            <When test=move || may_edit.get()>
                <a class="button button-primary" href=move || Page::of_project(project.get(), PageKind::NewService).path()>
                    {t("New service")}
                </a>
            </When>
        </SectionHead>
        {loaded.placeholder(t("the services"))}
        {part(move || bus.get().map(note).into_any())}
        <When test=move || is_empty.get()>
            <EmptyState
                symbol=Symbol::Plug
                title=t("No services or workers yet")
                text=t("Define a tool service and upload its tools, or start a program that announces itself: its tools arrive here, disabled.")
            />
        </When>
        <When test=move || has_rows.get()>
            {table(
                t("Services and workers"),
                &[t("Program"), t("Processes"), t("Tools"), t("To decide")],
                view! { <For each=move || keys.get() key=Clone::clone children=row /> },
            )}
        </When>
        {part(move || refused.with(|refused| refusals(refused)))}
    }
}

/// What keeps programs from being called.
fn note(bus: BusState) -> AnyView {
    let text = match bus {
        BusState::Connected => return ().into_any(),
        BusState::None => {
            t("This server is connected to no message bus. The operator sets TOOLGATE_NATS_URL.")
        }
        BusState::Disconnected => {
            t("This server has no connection to the message bus now. It reconnects by itself.")
        }
    };
    view! { <p class="note">{text}</p> }.into_any()
}

/// The latest announcements that were refused.
fn refusals(refused: &[RefusedAnnouncement]) -> AnyView {
    if refused.is_empty() {
        return ().into_any();
    }
    let lines: Vec<_> = refused
        .iter()
        .map(|refused| {
            view! {
                <li class="break">
                    <span class="muted"><TimeAgo at=refused.at />": "</span>
                    {refused.reason.clone()}
                </li>
            }
        })
        .collect();
    view! {
        <section class="panel stack" aria-label=t("Refused announcements")>
            <h2>{t("Refused announcements")}</h2>
            <ul>{lines}</ul>
        </section>
    }
    .into_any()
}
