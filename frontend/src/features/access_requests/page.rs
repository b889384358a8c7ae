//! The inbox: all requests to those who decide, one's own to the others.

use std::sync::Arc;

use leptos::prelude::*;
use toolgate_api::access_requests::{AccessRequest, AccessRequestStatus, AccessVerdict};

use super::ask::{AskForm, asked};
use super::decide::{DecideDialog, Deciding};
use super::in_words;
use crate::api::{in_project, with_query};
use crate::components::{Badge, Cells, EmptyState, List, SectionHead, Symbol, TimeAgo, Tone};
use crate::contract_words::contract_word;
use crate::language::{t, tf};
use crate::paged::{Item, Paged};
use crate::reactive::condition;
use crate::routes::PageKind;
use crate::session::{Permission, Session};
use crate::url::{UrlParam, project_in_path};

/// The page.
#[component]
pub(crate) fn AccessRequestsPage() -> impl IntoView {
    let project = project_in_path();
    let session = Session::get();
    let status = UrlParam::new("status");
    let [groups, host] = ["groups", "host"].map(UrlParam::new);
    let wanted = Memo::new(move |_| asked(&groups.get(), &host.get()));
    let list = Paged::new(move || {
        with_query(
            in_project(&project.get(), &["access-requests"]),
            &[("status", &status.get())],
        )
    });
    let may_decide = condition(move || session.may(&project.get(), Permission::ManageAccess));
    let deciding = RwSignal::new(None::<(AccessRequest, AccessVerdict)> as Deciding);
    let open = RwSignal::new(false);
    let decide = Callback::new(move |chosen: (AccessRequest, AccessVerdict)| {
        deciding.set(Some(chosen));
        open.set(true);
    });
    let cells: Cells = Arc::new(move |item: &Item| {
        item.read::<AccessRequest>()
            .map(|request| row(request, may_decide.get_untracked(), decide))
    });
    let first = move || {
        view! {
            <EmptyState
                symbol=Symbol::Check
                title=t("No requests")
                text=t("Who is refused for a missing group, or for a host that is not allowed, can ask for it. Requests are decided here.")
            />
        }
    };
    let states = ["", "open", "granted", "declined"].map(|value| {
        let text = match value {
            "" => t("All"),
            "open" => t("Open"),
            "granted" => t("Granted"),
            _ => t("Declined"),
        };
        view! {
            <button
                type="button"
                class="button button-small"
                class:button-primary=move || status.get() == value
                aria-pressed=move || (status.get() == value).to_string()
                on:click=move |_| status.push(value)
            >
                {text}
            </button>
        }
    });
    view! {
        <SectionHead section=PageKind::AccessRequests text=t("What principals asked for after a refusal: groups for themselves, or hosts for the tools of the project.") />
        <div class="stack">
            <AskForm project wanted on_sent=move |()| list.reload() />
            <div class="row" role="group" aria-label=t("Status")>
                {states.into_iter().collect::<Vec<_>>()}
            </div>
            <List
                list
                what=t("requests")
                columns=[t("Who"), t("Asks for"), t("Reason"), t("When"), t("Status")]
                cells
                empty=first
            />
        </div>
        <DecideDialog project open deciding on_decided=move |()| list.reload() />
    }
}

fn row(
    request: AccessRequest,
    may_decide: bool,
    decide: Callback<(AccessRequest, AccessVerdict)>,
) -> AnyView {
    let tone = match request.status {
        AccessRequestStatus::Open => Tone::Note,
        AccessRequestStatus::Granted => Tone::Good,
        AccessRequestStatus::Declined => Tone::Bad,
    };
    let buttons = (may_decide && request.status == AccessRequestStatus::Open).then(|| {
        [
            (t("Grant"), AccessVerdict::Grant),
            (t("Decline"), AccessVerdict::Decline),
        ]
        .map(|(verb, verdict)| {
            let chosen = request.clone();
            view! {
                <button
                    type="button"
                    class="button button-small"
                    aria-label=tf!("{verb}: {what} for {who}", verb, what = in_words(&request.asked), who = request.principal_name)
                    on:click=move |_| decide.run((chosen.clone(), verdict))
                >
                    {verb}
                </button>
            }
        })
        .into_iter()
        .collect::<Vec<_>>()
    });
    let decided = request.decided_by.clone().map(|by| match &request.note {
        Some(note) => tf!("by {by}: {note}", by, note),
        None => tf!("by {by}", by),
    });
    view! {
        <th scope="row" role="rowheader">
            {request.principal_name.clone()}
        </th>
        <td role="cell" data-label=t("Asks for")>
            <span class="mono">{in_words(&request.asked)}</span>
        </td>
        <td role="cell" data-label=t("Reason")>{request.reason.clone()}</td>
        <td role="cell" data-label=t("When")>
            <TimeAgo at=request.created_at />
        </td>
        <td role="cell" data-label=t("Status")>
            <span class="row">
                <Badge tone text=contract_word(&request.status) />
                {buttons}
            </span>
            <span class="cell-end">{decided}</span>
        </td>
    }
    .into_any()
}
