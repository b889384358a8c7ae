//! The page of one service or worker.

use leptos::prelude::*;
use toolgate_api::presence::{
    Announced, AnnouncerKind, BusInstance, BusProgramStatus, FailedCall, QueueStatus,
};

use super::words::{KIND, kind_name, kind_word, presence, state_badge};
use crate::action::Action;
use crate::api::{Ask, Body, in_project, object, with_query};
use crate::components::{Badge, Breadcrumbs, Diff, PageHeading, TimeAgo, Toasts, Tone, fact, facts, table};
use crate::features::imports::Next;
use crate::features::mcp_servers::follow;
use crate::language::{t, tf};
use crate::loaded::Loaded;
use crate::reactive::{When, condition, part};
use crate::routes::{Page, PageKind};
use crate::session::{Permission, Session};
use crate::url::{UrlParam, bus_program_in_path, project_in_path};
use crate::words::counted;

/// One program: its processes, its queue, what it announced, its tools, and what went wrong.
#[component]
pub(crate) fn BusProgramPage() -> impl IntoView {
    let project = project_in_path();
    let name = bus_program_in_path();
    let kind = UrlParam::new(KIND);
    let kind = Memo::new(move |_| match kind.get().as_str() {
        "worker" => AnnouncerKind::Worker,
        _ => AnnouncerKind::ToolService,
    });
    let session = Session::get();
    let may_edit = condition(move || session.may(&project.get(), Permission::EditDefinitions));
    let may_audit = condition(move || session.may(&project.get(), Permission::ReadAudit));
    let loaded = Loaded::new(move || {
        in_project(
            &project.get(),
            &["bus-programs", kind_word(kind.get()), &name.get()],
        )
    });
    follow(loaded);
    let status = Memo::new(move |_| loaded.read::<BusProgramStatus>());
    let is_there = condition(move || loaded.is_there());
    let has_definition = condition(move || is_there.get() && kind.get() == AnnouncerKind::ToolService);
    let show = move |view: fn(&str, &BusProgramStatus) -> AnyView| {
        part(move || {
            status
                .with(|status| status.as_ref().map(|status| view(&project.get(), status)))
                .into_any()
        })
    };
    let announced = Memo::new(move |_| status.with(|status| status.as_ref()?.program.announced.clone()));
    let waits = condition(move || {
        announced.with(|announced| {
            announced
                .as_ref()
                .is_some_and(|one| one.descriptor_diff.is_some())
        })
    });
    let tools = Memo::new(move |_| {
        status.with(|status| {
            status
                .as_ref()
                .map(|status| status.program.tools.clone())
                .unwrap_or_default()
        })
    });
    let has_disabled = condition(move || {
        status.with(|status| status.as_ref().is_some_and(|status| status.program.disabled > 0))
    });
    view! {
        <Breadcrumbs project section=PageKind::BusPrograms here=name />
        <div class="page-head">
            <div>
                <PageHeading text=name />
                <p class="muted">{move || kind_name(kind.get())}</p>
            </div>
            <When test=move || has_definition.get()>
                <div class="page-actions">
                    <a class="button" href=move || Page::service_definition(project.get(), name.get()).path()>
                        {t("Definition")}
                    </a>
                </div>
            </When>
        </div>
        {loaded.placeholder(t("the program"))}
        <When test=move || is_there.get()>
            <div class="stack">
                <div class="columns import-about">
                    <section class="panel" aria-label=t("Now")>
                        <h2>{t("Now")}</h2>
                        {show(now)}
                    </section>
                    <section class="panel" aria-label=t("Announced")>
                        <h2>{t("Announced")}</h2>
                        {show(said)}
                    </section>
                </div>
                <When test=move || waits.get()>
                    <Waiting project name announced may_edit on_done=move |()| loaded.reload() />
                </When>
                <section class="stack" aria-label=t("Processes")>
                    <h2>{t("Processes")}</h2>
                    {show(|_, status| processes(&status.program.instances))}
                </section>
                <section class="stack" aria-label=t("Tools")>
                    <h2>{t("Tools")}</h2>
                    {show(tool_list)}
                    <When test=move || may_edit.get() && has_disabled.get()>
                        <details class="settings-more">
                            <summary>{t("Enable disabled tools, and try them")}</summary>
                            <div class="stack">
                                <Next project tools on_changed=move |()| loaded.reload() />
                            </div>
                        </details>
                    </When>
                </section>
                <When test=move || may_audit.get()>
                    <section class="stack" aria-label=t("Latest failures")>
                        <h2>{t("Latest failures")}</h2>
                        {show(failures)}
                    </section>
                </When>
            </div>
        </When>
    }
}

/// What is true of it now.
fn now(_: &str, status: &BusProgramStatus) -> AnyView {
    let program = &status.program;
    let count = u32::try_from(program.tools.len()).unwrap_or(u32::MAX);
    facts(vec![
        fact(t("Processes"), presence(program)),
        fact(t("Queue"), queue(&status.queue)),
        fact(
            t("Tools"),
            tf!(
                "{tools}, {disabled} disabled",
                tools = counted(count, "tool"),
                disabled = program.disabled
            ),
        ),
    ])
}

/// What waits in its queue.
fn queue(queue: &QueueStatus) -> AnyView {
    match queue {
        QueueStatus::NotKept => {
            t("not kept: the bus delivers requests to processes that listen, and keeps none").into_any()
        }
        QueueStatus::Empty => t("nothing was sent yet").into_any(),
        QueueStatus::Unknown { reason } => {
            view! { <span class="break">{t("not known: ")} {reason.clone()}</span> }.into_any()
        }
        QueueStatus::Kept {
            subject,
            waiting,
            in_progress,
            redelivered,
        } => {
            let waiting = match waiting {
                Some(count) => tf!("{count} waiting", count),
                None => t("not read yet by any process").to_owned(),
            };
            let repeated = (*redelivered > 0).then(
                || view! { <Badge tone=Tone::Note text=tf!("{redelivered} delivered again", redelivered) /> },
            );
            view! {
                <span class="stack-small">
                    <span class="row">{tf!("{waiting}, {in_progress} in progress", waiting, in_progress)} {repeated}</span>
                    <code class="muted break">{subject.clone()}</code>
                </span>
            }
            .into_any()
        }
    }
}

/// What it announced last.
fn said(project: &str, status: &BusProgramStatus) -> AnyView {
    let Some(announced) = &status.program.announced else {
        return view! { <p class="muted">{t("It announced nothing: its tools were uploaded.")}</p> }
            .into_any();
    };
    let inbox = Page::of_project(project.to_owned(), PageKind::Quarantine).path();
    let import = Page::import(project.to_owned(), announced.import.clone()).path();
    let waiting = match announced.waiting {
        0 => t("none").into_any(),
        count => {
            view! { <a href=inbox>{tf!("{changes} in the quarantine", changes = counted(count, "change"))}</a> }.into_any()
        }
    };
    let problems: Vec<_> = announced
        .problems
        .iter()
        .map(|problem| view! { <p class="note break">{problem.message.clone()}</p> })
        .collect();
    view! {
        {facts(vec![
            fact(t("Version"), announced.version.clone()),
            fact(t("First announced"), view! { <TimeAgo at=announced.at /> {t(" by ")} <code class="break">{announced.instance.clone()}</code> }),
            fact(t("Import"), view! { <a class="break" href=import>{announced.import.clone()}</a> }),
            fact(t("Changes waiting"), waiting),
        ])}
        {problems}
    }
    .into_any()
}

/// A descriptor that waits, with the decision.
#[component]
fn Waiting(
    project: Memo<String>,
    name: Memo<String>,
    announced: Memo<Option<Announced>>,
    may_edit: Memo<bool>,
    on_done: impl Fn(()) + Copy + Send + Sync + 'static,
) -> impl IntoView {
    let action = Action::new();
    let toasts = Toasts::get();
    let decide = move |decision: &'static str, done: &'static str| {
        let digest = announced.with_untracked(|announced| announced.as_ref().map(|one| one.digest.clone()));
        let path = in_project(
            &project.get_untracked(),
            &["tool-services", &name.get_untracked(), "announced-descriptor"],
        );
        let body = object(vec![
            ("decision", decision.into()),
            ("digest", digest.unwrap_or_default().into()),
        ]);
        action.send(Ask::post(path, Body::Json(body.to_string())), move |_| {
            toasts.done(done.to_owned());
            on_done(());
        });
    };
    let diff = move || {
        let text = announced.with(|announced| announced.as_ref()?.descriptor_diff.clone());
        text.map(|text| view! { <Diff text name=t("Change of the descriptor") /> })
            .into_any()
    };
    view! {
        <section class="panel stack" aria-label=t("Descriptor waiting")>
            <h2>{t("Another descriptor waits")}</h2>
            <p>{t("The service announces other queues, parameters or bounds than it has here. Calls go on as before until this is decided.")}</p>
            {part(diff)}
            {action.outcome()}
            <When test=move || may_edit.get()>
                <div class="row">
                    <button
                        type="button"
                        class="button button-primary"
                        disabled=move || action.busy.get()
                        on:click=move |_| decide("approve", t("The service is what it announced."))
                    >
                        {t("Approve")}
                    </button>
                    <button
                        type="button"
                        class="button"
                        disabled=move || action.busy.get()
                        on:click=move |_| decide("reject", t("The service stays as it is."))
                    >
                        {t("Reject")}
                    </button>
                </div>
            </When>
        </section>
    }
}

/// Its processes.
fn processes(instances: &[BusInstance]) -> AnyView {
    if instances.is_empty() {
        return view! { <p class="muted">{t("This server hears no heartbeats of it. A program that sends none may run nevertheless.")}</p> }
            .into_any();
    }
    let rows: Vec<_> = instances
        .iter()
        .map(|instance| {
            view! {
                <tr role="row">
                    <th scope="row" role="rowheader">
                        <code class="break">{instance.instance.clone()}</code>
                    </th>
                    <td role="cell" data-label=t("State")>{state_badge(instance)}</td>
                    <td role="cell" data-label=t("Version")><span class="break">{instance.version.clone()}</span></td>
                    <td role="cell" data-label=t("Heard first")><TimeAgo at=instance.since /></td>
                    <td role="cell" data-label=t("Heard last")><TimeAgo at=instance.seen /></td>
                </tr>
            }
        })
        .collect();
    table(
        t("Processes"),
        &[
            t("Process"),
            t("State"),
            t("Version"),
            t("Heard first"),
            t("Heard last"),
        ],
        rows,
    )
}

/// Its tools; each page has the form to try it.
fn tool_list(project: &str, status: &BusProgramStatus) -> AnyView {
    let tools = &status.program.tools;
    if tools.is_empty() {
        return view! { <p class="muted">{t("No tool of this project is executed by it.")}</p> }.into_any();
    }
    let items: Vec<_> = tools
        .iter()
        .map(|tool| {
            let href = Page::tool(project.to_owned(), tool.clone()).path();
            view! {
                <li>
                    <a class="tool-name" href=href>{tool.clone()}</a>
                </li>
            }
        })
        .collect();
    view! { <ul>{items}</ul> }.into_any()
}

/// Its latest failed calls.
fn failures(project: &str, status: &BusProgramStatus) -> AnyView {
    if status.failures.is_empty() {
        return view! { <p class="muted">{t("None of the latest failed calls is one of its tools.")}</p> }
            .into_any();
    }
    let row = |failed: &FailedCall| {
        let records = Page::of_project(project.to_owned(), PageKind::Records).path();
        let href = with_query(records, &[("record", &failed.call_id.to_string())]);
        let code = failed.code.map_or(t("failed"), |code| code.as_str());
        view! {
            <tr role="row">
                <th scope="row" role="rowheader">
                    <a class="tool-name" href=href>{failed.tool.clone()}</a>
                </th>
                <td role="cell" data-label=t("Why")><code>{code}</code></td>
                <td role="cell" data-label=t("When")><TimeAgo at=failed.at /></td>
            </tr>
        }
    };
    let rows: Vec<_> = status.failures.iter().map(row).collect();
    table(t("Latest failures"), &[t("Tool"), t("Why"), t("When")], rows)
}
