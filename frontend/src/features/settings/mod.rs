//! What a project sets for itself.

mod egress;
mod project;
mod sessions;
mod transfer;

use leptos::prelude::*;
use toolgate_api::settings::{AlertThresholds, ProjectSettings, WebhookSettings};

use self::egress::Egress;
use self::project::ProjectItself;
use self::sessions::{Sessions, warnings};
use self::transfer::Transfer;
use crate::action::Action;
use crate::api::{Ask, Body, in_project};
use crate::browser;
use crate::candidates::principals;
use crate::components::{AddLine, Field, SectionHead, TextArea, TextInput, Toasts, after_paint};
use crate::language::{marked, t};
use crate::loaded::Loaded;
use crate::reactive::{When, condition, effect, part};
use crate::routes::PageKind;
use crate::session::{Permission, Session};
use crate::url::project_in_path;

/// A threshold: its field, what it counts, and where it is kept.
type Threshold = (&'static str, &'static str, fn(&mut AlertThresholds) -> &mut u32);

const THRESHOLDS: [Threshold; 8] = [
    (
        "alert-window",
        marked("Seconds over which the rules count"),
        |all| &mut all.window_s,
    ),
    (
        "alert-escalation",
        marked("Requests for groups that were not granted, by one caller"),
        |all| &mut all.escalation_attempts,
    ),
    (
        "alert-transitions",
        marked("Calls of tools that are closed in the state, by one caller"),
        |all| &mut all.invalid_transitions,
    ),
    (
        "alert-addresses",
        marked("Different addresses of one key"),
        |all| &mut all.key_addresses,
    ),
    (
        "alert-first-use",
        marked("First use of a group by a key (1 reports it)"),
        |all| &mut all.first_group_use,
    ),
    ("alert-wide", marked("Calls soon after a grant of *"), |all| {
        &mut all.calls_after_wide_grant
    }),
    (
        "alert-credentials",
        marked("Refused credentials from one address"),
        |all| &mut all.refused_credentials,
    ),
    (
        "alert-upstream",
        marked("Failures of one upstream in a row"),
        |all| &mut all.upstream_failures,
    ),
];

/// The form.
#[component]
pub(crate) fn SettingsPage() -> impl IntoView {
    let project = project_in_path();
    let session = Session::get();
    let loaded = Loaded::new(move || in_project(&project.get(), &["settings"]));
    let may_change = condition(move || session.may(&project.get(), Permission::ManagePolicy));
    let endpoint = RwSignal::new(String::new());
    let webhook = RwSignal::new(String::new());
    let secret = RwSignal::new(String::new());
    let thresholds = THRESHOLDS.map(|_| RwSignal::new(String::new()));
    let sessions = Sessions::new(project);
    let trusted = RwSignal::new(false);
    let searches = RwSignal::new(false);
    let pinned = RwSignal::new(String::new());
    let takes_session = RwSignal::new(false);
    let announcers = RwSignal::new(String::new());
    // Set by the API; the form keeps it.
    let entrance = RwSignal::new(None);
    let action = Action::new();
    let toasts = Toasts::get();
    let warned = RwSignal::new(Vec::<String>::new());
    let shown = StoredValue::new(false);
    effect(move || {
        let Some(mut settings) = loaded.read::<ProjectSettings>() else {
            return;
        };
        endpoint.set(settings.agent_endpoint.unwrap_or_default());
        let (url, name) = settings
            .webhook
            .map_or_else(Default::default, |webhook| (webhook.url, webhook.secret));
        sessions.show(settings.sessions, settings.start_states.unwrap_or_default());
        trusted.set(settings.trust_registrations);
        searches.set(settings.mcp_search);
        pinned.set(settings.mcp_pinned.join("\n"));
        takes_session.set(settings.mcp_session_argument);
        announcers.set(settings.trusted_announcers.join("\n"));
        entrance.set(settings.bus_entrance);
        webhook.set(url);
        secret.set(name);
        for ((_, _, part), field) in THRESHOLDS.iter().zip(thresholds) {
            field.set(part(&mut settings.alerts).to_string());
        }
        // Once: after a change has been saved, the cursor stays where it is.
        if !shown.get_value() {
            shown.set_value(true);
            after_paint(browser::show_anchor);
        }
    });
    let save = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let text = |field: RwSignal<String>| {
            Some(field.get_untracked().trim().to_owned()).filter(|text| !text.is_empty())
        };
        let mut alerts = AlertThresholds::default();
        for ((_, _, part), field) in THRESHOLDS.iter().zip(thresholds) {
            if let Ok(number) = field.get_untracked().trim().parse() {
                *part(&mut alerts) = number;
            }
        }
        let settings = ProjectSettings {
            agent_endpoint: text(endpoint),
            webhook: text(webhook).map(|url| WebhookSettings {
                url,
                secret: text(secret).unwrap_or_default(),
            }),
            alerts,
            sessions: sessions.usage(),
            start_states: sessions.start_states(),
            trust_registrations: trusted.get_untracked(),
            mcp_search: searches.get_untracked(),
            mcp_pinned: pinned.with_untracked(|text| lines(text)),
            mcp_session_argument: takes_session.get_untracked(),
            trusted_announcers: announcers.with_untracked(|text| lines(text)),
            bus_entrance: entrance.get_untracked(),
        };
        let path = in_project(&project.get_untracked(), &["settings"]);
        let ask = Ask::put(path, Body::json(&settings)).if_match(loaded.etag());
        action.send(ask, move |answer| {
            toasts.done(t("The settings are saved."));
            warned.set(warnings(&answer.text));
            loaded.reload();
        });
    };
    let fields = THRESHOLDS
        .iter()
        .zip(thresholds)
        .map(|((id, label, _), field)| {
            view! {
                <Field id label=t(label)>
                    <TextInput id value=field kind="number" max="9" />
                </Field>
            }
            .into_any()
        })
        .collect::<Vec<_>>();
    let fields = StoredValue::new_local(Some(fields));
    view! {
        <SectionHead section=PageKind::Settings text=t("What this project sets for itself. Changes are effective at once, in every replica.") />
        {loaded.placeholder(t("the settings"))}
        <form class="stack" on:submit=save hidden=move || !loaded.is_there()>
            <fieldset class="stack" disabled=move || !may_change.get()>
            <section class="panel stack">
                <h2>{t("Agent")}</h2>
                <Field
                    id="agent-endpoint"
                    label=t("Endpoint")
                    help=t("Agent requests are forwarded here with the tools they may use. Without it they are answered with the tools.")
                    guide="sessions#agent-requests"
                >
                    <TextInput id="agent-endpoint" value=endpoint mono=true placeholder="https://agent.example.com/run" max="2048" />
                </Field>
            </section>
            <section class="panel stack">
                <h2>{t("Webhook for alerts and notifications")}</h2>
                <div class="columns">
                    <Field id="webhook-url" label=t("Address") help=t("Reached through the egress rules.") guide="alerts#webhook">
                        <TextInput id="webhook-url" value=webhook mono=true placeholder="https://hooks.example.com/toolgate" max="2048" />
                    </Field>
                    <Field id="webhook-secret" label=t("Signing secret") help=t("The name of a secret of this project.") guide="limits-and-secrets#secrets">
                        <TextInput id="webhook-secret" value=secret mono=true placeholder="WEBHOOK_KEY" max="128" />
                    </Field>
                </div>
            </section>
            <section class="panel stack" id="alert-thresholds">
                <h2>{t("When to raise an alert")}</h2>
                <p class="muted">
                    {t("0 switches a rule off. ")}
                    <a href="/help/alerts#patterns" rel="external" target="_blank" aria-label=t("Learn more about the rules of alerts")>
                        {t("Learn more")}
                    </a>
                </p>
                <div class="columns columns-level">{fields.try_update_value(Option::take).flatten()}</div>
            </section>
            {sessions.view()}
            <section class="panel stack">
                <h2>{t("Tools for MCP clients")}</h2>
                <label class="check">
                    <input
                        type="checkbox"
                        prop:checked=move || searches.get()
                        on:change=move |event| searches.set(event_target_checked(&event))
                    />
                    {t("Clients search for tools instead of listing them")}
                </label>
                <Field
                    id="pinned-tools"
                    label=t("Pinned tools")
                    help=t("Names of tools that are listed beside the search, one a line, for clients that may call them.")
                    guide="mcp#searching-instead-of-listing"
                >
                    <TextArea id="pinned-tools" value=pinned rows=3 mono=true />
                </Field>
                <label class="check">
                    <input
                        type="checkbox"
                        prop:checked=move || takes_session.get()
                        on:change=move |event| takes_session.set(event_target_checked(&event))
                    />
                    {t("Tools have an argument toolgate_session, for clients that have no session of their own")}
                </label>
            </section>
            <section class="panel stack">
                <h2>{t("MCP servers that tools register")}</h2>
                <label class="check">
                    <input
                        type="checkbox"
                        prop:checked=move || trusted.get()
                        on:change=move |event| trusted.set(event_target_checked(&event))
                    />
                    {t("Connect to a server that mcp_register_server registers without waiting for approval")}
                </label>
            </section>
            <section class="panel stack">
                <h2>{t("Services that announce themselves")}</h2>
                <Field
                    id="trusted-announcers"
                    label=t("Trusted announcers")
                    help=t("Whose announcements on the message bus count at once, one a line: service_key:{id}, user:{id} or external:{issuer}|{subject}. What others announce waits for a decision.")
                    guide="tool-services#services-that-announce-themselves"
                >
                    <TextArea id="trusted-announcers" value=announcers rows=3 mono=true />
                </Field>
                <AddLine id="announcer-add" label=t("Add an announcer") lines=announcers choices=principals(project) />
            </section>
            </fieldset>
            {action.outcome()}
            {part(move || {
                let notes = warned.get().into_iter().map(|text| view! { <p class="note">{text}</p> });
                notes.collect::<Vec<_>>().into_any()
            })}
            <When test=move || may_change.get()>
                <div class="row">
                    <button type="submit" class="button button-primary" disabled=move || action.busy.get()>
                        {t("Save")}
                    </button>
                </div>
            </When>
        </form>
        <div class="settings-more">
            <Egress project />
            <Transfer project />
            <ProjectItself project />
        </div>
    }
}

/// The lines of a text that have something in them.
fn lines(text: &str) -> Vec<String> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.map(str::to_owned).collect()
}
