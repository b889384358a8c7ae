//! Suspicious patterns, and who has acknowledged them: those of a project, and those of the server.

use std::sync::Arc;

use leptos::prelude::*;
use toolgate_api::alerts::{Alert, AlertDelivery, AlertRule};

use crate::action::Action;
use crate::api::{Ask, Body, in_project_or_server, with_query};
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

/// The alerts of the project, newest first.
#[component]
pub(crate) fn AlertsPage() -> impl IntoView {
    let project = project_in_path();
    view! {
        <SectionHead section=PageKind::Alerts text=t("Suspicious patterns in the record, and upstreams that fail. The settings say when an alert is raised.")>
            <a class="button" href=move || Page::of_project(project.get(), PageKind::Settings).path()>
                {t("Thresholds")}
            </a>
        </SectionHead>
        {alerts(
            Some(project),
            t("Repeated attempts to get more groups, a key used from many addresses, an upstream that fails in a row: such patterns appear here."),
        )}
    }
}

/// The alerts that belong to no project, newest first.
#[component]
pub(crate) fn ServerAlertsPage() -> impl IntoView {
    view! {
        <SectionHead
            section=PageKind::ServerAlerts
            text=t("Suspicious patterns that belong to no single project: many sign-ins or credentials that one address sent were refused.")
        />
        {alerts(None, t("Many refused sign-ins or credentials from one address appear here."))}
    }
}

/// Those of the project, or of the server, with filters.
fn alerts(project: Option<Memo<String>>, none: &'static str) -> AnyView {
    let [acknowledged, rule, q] = ["acknowledged", "rule", "q"].map(UrlParam::new);
    let range = TimeRange::new("");
    let address = text_memo(move || {
        let [(since, from), (until, to)] = range.query();
        with_query(
            in_project_or_server(&project.map(|id| id.get()).unwrap_or_default(), &["alerts"]),
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
    let ask = move |id: &str| {
        let project = project.map(|id| id.get_untracked()).unwrap_or_default();
        let path = in_project_or_server(&project, &["alerts", id, "acknowledge"]);
        Ask::post(path, Body::None)
    };
    let acknowledge = Callback::new(move |id: String| action.send(ask(&id), move |_| list.reload()));
    let session = Session::get();
    let cells: Cells = Arc::new(move |item: &Item| {
        let alert = item.read::<Alert>()?;
        let places = project.map(|id| Places::of(&id.get_untracked(), session, &alert));
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
        ask: Arc::new(ask),
    };
    let rules = AlertRule::ALL.map(|rule| (rule.as_str().to_owned(), words_of(rule)));
    let rules = [(String::new(), t("Every pattern").to_owned())]
        .into_iter()
        .chain(rules);
    let rules = Signal::stored(rules.collect::<Vec<_>>());
    let empty = move || view! { <EmptyState symbol=Symbol::Bell title=t("No alerts") text=none /> };
    let options = Signal::stored(
        CHOICES
            .map(|(key, text)| (key.to_owned(), t(text).to_owned()))
            .to_vec(),
    );
    let columns = [t("When"), t("Pattern"), t("Message"), t("Links"), t("Status")];
    let columns = columns
        .into_iter()
        .filter(|column| project.is_some() || *column != t("Links"));
    let columns = columns.collect::<Vec<_>>();
    view! {
        <div class="filters">
            <SearchBox param=q name=t("Search alerts") placeholder=t("Search by message or caller") />
            {project.map(|_| view! {
                <Select id="alert-rule" name=t("Pattern") value=rule.signal() options=rules on_change=move |key: String| rule.push(&key) />
            })}
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
        <List list bulk what=t("alerts") columns cells empty />
    }
    .into_any()
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

fn links(places: Places, alert: &Alert) -> impl IntoView + use<> {
    let links = [
        (t("Record"), places.record),
        (t("Calls"), places.records),
        (t("Caller"), places.caller),
    ]
    .into_iter()
    .filter_map(|(text, href)| Some((text, href?)))
    .map(|(text, href)| view! { <a href=href>{text}</a> })
    .collect::<Vec<_>>();
    let who = alert.subject_name.as_ref().unwrap_or(&alert.subject);
    view! {
        <td role="cell" data-label=t("Links")>
            <span class="row" role="group" aria-label=tf!("Links of the alert about {who}", who)>
                {links}
            </span>
        </td>
    }
}

/// An alert of the server leads nowhere: what was refused before it was known who asks is not on the record.
fn row(alert: Alert, places: Option<Places>, acknowledge: Callback<String>) -> AnyView {
    let links = places.map(|places| links(places, &alert));
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
        {links}
        <td role="cell" data-label=t("Status")>
            <span class="row">{status} {delivery}</span>
            {error}
        </td>
    }
    .into_any()
}
