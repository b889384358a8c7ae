//! Messages of the bus that could not be handled: what they are, sending one again, and dropping one.

use std::sync::Arc;

use leptos::prelude::*;
use toolgate_api::dead_letters::DeadLetter;

use crate::action::Action;
use crate::api::{Ask, Body, in_project, object};
use crate::components::{
    Breadcrumbs, Cells, CodeBlock, Confirm, Dialog, EmptyState, List, Placement, SectionHead, Symbol,
    TimeAgo, Toasts, fact, facts,
};
use crate::language::{t, tf};
use crate::paged::{Item, Paged};
use crate::reactive::{condition, part};
use crate::routes::PageKind;
use crate::session::{Permission, Session};
use crate::url::project_in_path;
use crate::words::counted;

/// All of the project, the oldest first.
#[component]
pub(crate) fn DeadLettersPage() -> impl IntoView {
    let project = project_in_path();
    let session = Session::get();
    let may_edit = condition(move || session.may(&project.get(), Permission::EditDefinitions));
    let list = Paged::new(move || in_project(&project.get(), &["dead-letters"]));
    let chosen = RwSignal::new(None::<DeadLetter>);
    let [looking, dropping] = [(); 2].map(|()| RwSignal::new(false));
    let [sending, removing] = [(); 2].map(|()| Action::new());
    let toasts = Toasts::get();
    let path = move |id: u64| in_project(&project.get_untracked(), &["dead-letters", &id.to_string()]);
    let look = Callback::new(move |letter: DeadLetter| {
        sending.error.set(None);
        chosen.set(Some(letter));
        looking.set(true);
    });
    let retry = move |id: u64| {
        let ask = Ask::post(format!("{}/retry", path(id)), Body::json(&object(Vec::new())));
        sending.send(ask, move |_| {
            looking.set(false);
            toasts.done(t("The message was sent again, as a call of yours."));
            list.reload();
        });
    };
    let ask_to_drop = move |()| {
        removing.error.set(None);
        looking.set(false);
        dropping.set(true);
    };
    let remove = move |()| {
        let Some(id) = chosen.with_untracked(|letter| letter.as_ref().map(|letter| letter.id)) else {
            return;
        };
        removing.send(Ask::delete(path(id)), move |_| {
            dropping.set(false);
            toasts.done(t("The message was dropped."));
            list.reload();
        });
    };
    let cells: Cells = Arc::new(move |item: &Item| item.read::<DeadLetter>().map(|letter| row(letter, look)));
    let empty = move || {
        view! {
            <EmptyState
                symbol=Symbol::Check
                title=t("No dead letters")
                text=t("Every message for this project was executed or answered. A message that can be neither is kept here for 7 days.")
            />
        }
    };
    let here = Signal::stored(PageKind::DeadLetters.title().to_owned());
    view! {
        <Breadcrumbs project section=PageKind::BusPrograms here />
        <SectionHead section=PageKind::DeadLetters text=t("Messages for this project on the message bus that were neither executed nor answered. They are kept for 7 days.") />
        <List list what=t("dead letters") columns=[t("Message"), t("Why"), t("Given up"), t("Deliveries")] cells empty />
        <Dialog open=looking title=t("Dead letter") placement=Placement::Drawer>
            <div class="dialog-body">
                {part(move || {
                    let letter = chosen.get();
                    letter.map(|letter| content(&letter)).into_any()
                })}
                {sending.outcome()}
                {part(move || {
                    if !may_edit.get() {
                        return ().into_any();
                    }
                    let id = chosen.with(|letter| letter.as_ref().map(|letter| letter.id)).unwrap_or_default();
                    view! {
                        <p class="muted">
                            {t("Sent again, it is a call of yours: your groups decide about it, and the record names you.")}
                        </p>
                        <div class="row">
                            <button
                                type="button"
                                class="button button-primary"
                                disabled=move || sending.busy.get()
                                on:click=move |_| retry(id)
                            >
                                {t("Send again")}
                            </button>
                            <button type="button" class="button" on:click=move |_| ask_to_drop(())>
                                {t("Drop")}
                            </button>
                        </div>
                    }
                    .into_any()
                })}
            </div>
        </Dialog>
        <Confirm open=dropping title=t("Drop the message?") verb=t("Drop the message") action=removing on_confirm=remove>
            <p>{t("It is deleted and never executed. The sender is not informed.")}</p>
        </Confirm>
    }
}

fn row(letter: DeadLetter, look: Callback<DeadLetter>) -> AnyView {
    let whole = letter.clone();
    let name = letter
        .tool_call_id
        .clone()
        .unwrap_or_else(|| tf!("number {id}", id = letter.id));
    view! {
        <th scope="row" role="rowheader">
            <button
                type="button"
                class="fault-place"
                data-row=""
                on:click=move |_| look.run(whole.clone())
            >
                {name}
            </button>
            <code class="muted break">{letter.subject}</code>
        </th>
        <td role="cell" data-label=t("Why")><span class="break">{letter.reason}</span></td>
        <td role="cell" data-label=t("Given up")><TimeAgo at=letter.at /></td>
        <td role="cell" data-label=t("Deliveries")>{letter.deliveries.to_string()}</td>
    }
    .into_any()
}

fn content(letter: &DeadLetter) -> AnyView {
    let mut lines = vec![
        fact(
            t("Why"),
            view! { <span class="break">{letter.reason.clone()}</span> },
        ),
        fact(t("Given up"), view! { <TimeAgo at=letter.at /> }),
        fact(t("Delivered"), counted(letter.deliveries, "time")),
        fact(
            t("Subject"),
            view! { <code class="break">{letter.subject.clone()}</code> },
        ),
    ];
    let said = [(t("Call"), &letter.tool_call_id), (t("Agent"), &letter.agent_id)];
    lines.extend(said.into_iter().filter_map(|(name, said)| {
        let said = said.clone()?;
        Some(fact(
            name,
            view! { <code class="break">{said}</code> {t(" (as the message says)")} },
        ))
    }));
    lines.push(fact(t("Payload"), counted(letter.size, "byte")));
    let payload = match letter.payload.clone() {
        Some(text) => view! { <CodeBlock caption=t("Payload") text /> }.into_any(),
        None => view! { <p class="note">{t("The payload is shown to auditors only.")}</p> }.into_any(),
    };
    view! { {facts(lines)} {payload} }.into_any()
}
