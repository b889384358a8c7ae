//! Suspicious patterns, and who has acknowledged them.

use std::sync::Arc;

use leptos::prelude::*;
use toolgate_api::alerts::{Alert, AlertDelivery, AlertRule};

use crate::action::Action;
use crate::api::{Ask, Body, in_project, with_query};
use crate::components::{
    Badge, Cells, Deed, EmptyState, List, SearchBox, SectionHead, Select, Symbol, TimeAgo, TimeRange,
    TimeRangePicker, Tone,
};
use crate::language::{marked, t, tf};
use crate::paged::{Item, Paged};
use crate::reactive::text_memo;
use crate::routes::{Page, PageKind};
use crate::session::Session;
use crate::url::{UrlParam, project_in_path};

const CHOICES: [(&str, &str); 3] = [
    ("", marked("All alerts")),
    ("false", marked("Unacknowledged")),
    ("true", marked("Acknowledged")),
];

/// All alerts, newest first.
#[component]
pub(crate) fn AlertsPage() -> impl IntoView {
    let project = project_in_path();
    let [acknowledged, rule, q] = ["acknowledged", "rule", "q"].map(UrlParam::new);
    let range = TimeRange::new("");
    let address = text_memo(move || {
        let [(since, from), (until, to)] = range.query();
        with_query(
            in_project(&project.get(), &["alerts"]),
            &[
                ("acknowledged", acknowledged.get().as_str()),
                ("rule", &rule.get()),
                ("q", &q.get()),
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
    let session = Session::get();
    let cells: Cells = Arc::new(move |item: &Item| {
        let alert = item.read::<Alert>()?;
        let places = Places::of(&project.get_untracked(), session, &alert);
        Some(row(alert, places, acknowledge))
    });
    let bulk = Deed {
        verb: t("Acknowledge"),
        one: "alert",
        means: t("They are marked as seen, with your name."),
        of: Arc::new(|item: &Item| {
            let alert = item.read::<Alert>()?;
            alert
                .acknowledged_at
                .is_none()
                .then(|| (alert.id.to_string(), alert.message))
        }),
        ask: Arc::new(move |id: &str| {
            let path = in_project(&project.get_untracked(), &["alerts", id, "acknowledge"]);
            Ask::post(path, Body::None)
        }),
    };
    let rules = AlertRule::ALL.map(|rule| (rule.as_str().to_owned(), words_of(rule)));
    let rules = [(String::new(), t("Every pattern").to_owned())]
        .into_iter()
        .chain(rules);
    let rules = Signal::stored(rules.collect::<Vec<_>>());
    let empty = || {
        view! {
            <EmptyState
                symbol=Symbol::Bell
                title=t("No alerts")
                text=t("Repeated attempts to get more groups, a key used from many addresses, an upstream that fails in a row: such patterns appear here.")
            />
        }
    };
    let options = Signal::stored(
        CHOICES
            .map(|(key, text)| (key.to_owned(), t(text).to_owned()))
            .to_vec(),
    );
    view! {
        <SectionHead section=PageKind::Alerts text=t("Suspicious patterns in the record, and upstreams that fail. The settings say when an alert is raised.")>
            <a class="button" href=move || Page::of_project(project.get(), PageKind::Settings).path()>
                {t("Thresholds")}
            </a>
        </SectionHead>
        <div class="filters">
            <SearchBox param=q name=t("Search alerts") placeholder=t("Search by message or caller") />
            <Select id="alert-rule" name=t("Pattern") value=rule.signal() options=rules on_change=move |key: String| rule.push(&key) />
            <Select
                id="alert-acknowledged"
                name=t("Which alerts")
                value=acknowledged.signal()
                options
                on_change=move |key: String| acknowledged.push(&key)
            />
            <TimeRangePicker range />
        </div>
        {action.outcome()}
        <List list bulk what=t("alerts") columns=[t("When"), t("Pattern"), t("Message"), t("Links"), t("Status")] cells empty />
    }
}

/// A rule in words.
fn words_of(rule: AlertRule) -> String {
    let words = match rule {
        AlertRule::EscalationAttempts => t("Asked for groups that were not granted"),
        AlertRule::FirstGroupUse => t("First use of a group"),
        AlertRule::InvalidTransitions => t("Calls of tools that are closed in the state"),
        AlertRule::CallsAfterWideGrant => t("Many calls after a grant of *"),
        AlertRule::KeyAddresses => t("One key from many addresses"),
        AlertRule::RefusedCredentials => t("Many refused credentials"),
        AlertRule::UpstreamFailures => t("Upstream fails"),
    };
    words.to_owned()
}

/// Where an alert leads: the record that completed the pattern, the caller's records, and what the caller holds.
struct Places {
    record: Option<String>,
    records: Option<String>,
    caller: Option<String>,
}

impl Places {
    fn of(project: &str, session: Session, alert: &Alert) -> Self {
        let page = |kind: PageKind, query: &[(&str, &str)]| {
            untrack(|| session.may_see(project, kind))
                .then(|| with_query(Page::of_project(project.to_owned(), kind).path(), query))
        };
        let is_upstream = alert.rule == AlertRule::UpstreamFailures;
        let is_principal = !is_upstream && !alert.subject.starts_with("address:");
        let request = alert.details["request_id"].as_str();
        Self {
            record: request.and_then(|id| page(PageKind::Records, &[("request_id", id)])),
            records: alert
                .subject_name
                .as_deref()
                .filter(|_| is_principal)
                .and_then(|name| page(PageKind::Records, &[("principal_name", name)]))
                .or_else(|| is_upstream.then(|| page(PageKind::Records, &[("outcome", "failed")]))?),
            caller: is_principal
                .then(|| page(PageKind::Permissions, &[("principal", &alert.subject)]))
                .flatten(),
        }
    }
}

fn row(alert: Alert, places: Places, acknowledge: Callback<String>) -> AnyView {
    let links: Vec<_> = [
        (t("Record"), places.record),
        (t("Calls"), places.records),
        (t("Caller"), places.caller),
    ]
    .into_iter()
    .filter_map(|(text, href)| Some((text, href?)))
    .map(|(text, href)| view! { <a href=href>{text}</a> })
    .collect();
    let who = alert
        .subject_name
        .clone()
        .unwrap_or_else(|| alert.subject.clone());
    let id = alert.id.to_string();
    let status = match alert.acknowledged_by {
        Some(by) => view! { <span class="muted">{t("Acknowledged by ")} {by}</span> }.into_any(),
        None => view! {
            <button type="button" class="button button-small" on:click=move |_| acknowledge.run(id.clone())>
                {t("Acknowledge")}
            </button>
        }
        .into_any(),
    };
    let delivery = match alert.delivery {
        AlertDelivery::None => None,
        AlertDelivery::Delivered => Some(view! { <Badge tone=Tone::Good text=t("sent") /> }),
        AlertDelivery::Pending => Some(view! { <Badge tone=Tone::Note text=t("sending") /> }),
        AlertDelivery::Failed => Some(view! { <Badge tone=Tone::Bad text=t("not delivered") /> }),
    };
    let error = alert
        .last_error
        .filter(|_| alert.delivery != AlertDelivery::Delivered)
        .map(|error| {
            let text = tf!(
                "Webhook, attempt {attempts}: {error}",
                attempts = alert.attempts,
                error
            );
            view! { <span class="cell-end muted">{text}</span> }
        });
    view! {
        <th scope="row" role="rowheader">
            <TimeAgo at=alert.at />
        </th>
        <td role="cell" data-label=t("Pattern")>{words_of(alert.rule)}</td>
        <td role="cell" data-label=t("Message")>{alert.message}</td>
        <td role="cell" data-label=t("Links")>
            <span class="row" role="group" aria-label=tf!("Links of the alert about {who}", who)>
                {links}
            </span>
        </td>
        <td role="cell" data-label=t("Status")>
            <span class="row">{status} {delivery}</span>
            {error}
        </td>
    }
    .into_any()
}
