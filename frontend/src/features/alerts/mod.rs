//! Suspicious patterns, and who has acknowledged them.

use std::sync::Arc;

use leptos::prelude::*;
use toolgate_api::alerts::{Alert, AlertDelivery};

use crate::action::Action;
use crate::api::{Ask, Body, in_project, with_query};
use crate::components::{
    Badge, Cells, EmptyState, List, SectionHead, Select, Symbol, TimeAgo, TimeRange, TimeRangePicker, Tone,
    word,
};
use crate::paged::{Item, Paged};
use crate::reactive::text_memo;
use crate::routes::{Page, PageKind};
use crate::url::{UrlParam, project_in_path};

const CHOICES: [(&str, &str); 3] = [
    ("", "All alerts"),
    ("false", "Unacknowledged"),
    ("true", "Acknowledged"),
];

/// All alerts, newest first.
#[component]
pub(crate) fn AlertsPage() -> impl IntoView {
    let project = project_in_path();
    let acknowledged = UrlParam::new("acknowledged");
    let range = TimeRange::new("");
    let address = text_memo(move || {
        let [(since, from), (until, to)] = range.query();
        with_query(
            in_project(&project.get(), &["alerts"]),
            &[
                ("acknowledged", acknowledged.get().as_str()),
                (since, &from),
                (until, &to),
            ],
        )
    });
    let list = Paged::new(move || address.get());
    let action = Action::new();
    let acknowledge = Callback::new(move |id: String| {
        let path = in_project(&project.get_untracked(), &["alerts", &id, "acknowledge"]);
        action.send(Ask::post(path, Body::None), move |_| list.reload());
    });
    let cells: Cells = Arc::new(move |item: &Item| item.read::<Alert>().map(|alert| row(alert, acknowledge)));
    let empty = || {
        view! {
            <EmptyState
                symbol=Symbol::Bell
                title="Nothing suspicious"
                text="Repeated attempts to get more groups, bursts of calls in wrong states, a key used from many addresses: such patterns appear here."
            />
        }
    };
    let options = Signal::stored(
        CHOICES
            .map(|(key, text)| (key.to_owned(), text.to_owned()))
            .to_vec(),
    );
    view! {
        <SectionHead section=PageKind::Alerts text="Suspicious patterns in the record. The settings say when an alert is raised.">
            <a class="button" href=move || Page::of_project(project.get(), PageKind::Settings).path()>
                "Thresholds"
            </a>
        </SectionHead>
        <div class="filters">
            <Select
                id="alert-acknowledged"
                name="Which alerts"
                value=acknowledged.signal()
                options
                on_change=move |key: String| acknowledged.push(&key)
            />
            <TimeRangePicker range />
        </div>
        {action.outcome()}
        <List list what="alerts" columns=&["When", "What", "Message", "Status"] cells empty />
    }
}

fn row(alert: Alert, acknowledge: Callback<String>) -> AnyView {
    let id = alert.id.to_string();
    let status = match alert.acknowledged_by {
        Some(by) => view! { <span class="muted">"Acknowledged by " {by}</span> }.into_any(),
        None => view! {
            <button type="button" class="button button-small" on:click=move |_| acknowledge.run(id.clone())>
                "Acknowledge"
            </button>
        }
        .into_any(),
    };
    let delivery = match alert.delivery {
        AlertDelivery::None => None,
        AlertDelivery::Delivered => Some(view! { <Badge tone=Tone::Good text="sent" /> }),
        AlertDelivery::Pending => Some(view! { <Badge tone=Tone::Note text="sending" /> }),
        AlertDelivery::Failed => Some(view! { <Badge tone=Tone::Bad text="not delivered" /> }),
    };
    view! {
        <th scope="row" role="rowheader">
            <TimeAgo at=alert.at />
        </th>
        <td role="cell" data-label="What">{word(&alert.rule).replace('_', " ")}</td>
        <td role="cell" data-label="Message">{alert.message}</td>
        <td role="cell" data-label="Status">
            <span class="row">{status} {delivery}</span>
        </td>
    }
    .into_any()
}
