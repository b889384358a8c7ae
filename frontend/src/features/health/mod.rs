//! The health of the server: what works, what does not and what to do about it, and the figures.

mod place;

use leptos::prelude::*;
use toolgate_api::status::{StatusCheck, StatusLevel, SystemStatus};

use self::place::place;
use crate::components::{Badge, CodeBlock, PageHeading, Tone};
use crate::language::{found, marked, t, tf};
use crate::loaded::Loaded;
use crate::reactive::{When, part};

/// The titles of checks, which the server says.
const _: [&str; 19] = [
    marked("Completing records"),
    marked("Configuration"),
    marked("Connections"),
    marked("Database"),
    marked("Encrypting secrets"),
    marked("Encryption"),
    marked("Host names"),
    marked("Host of tools"),
    marked("Integrity of the record"),
    marked("MCP server"),
    marked("Message bus"),
    marked("Messages to the webhook"),
    marked("Metrics"),
    marked("Private addresses"),
    marked("Secrets"),
    marked("Servers"),
    marked("Signing in"),
    marked("Upstream of a tool"),
    marked("Writing the record"),
];

/// Everything that the server looks at about itself, and the metrics as they are scraped.
#[component]
pub(crate) fn HealthPage() -> impl IntoView {
    let status = Loaded::new(|| "/status".to_owned());
    let wants_metrics = RwSignal::new(false);
    let metrics = Loaded::new(move || {
        if wants_metrics.get() {
            "/metrics".to_owned()
        } else {
            String::new()
        }
    });
    let text = Signal::derive(move || metrics.answer.get().map(|answer| answer.text).unwrap_or_default());
    view! {
        <div class="page-head">
            <div>
                <PageHeading text=t("Health") />
                <p class="muted">{t("What this server depends on, and what its configuration leaves open.")}</p>
            </div>
            <div class="page-actions">
                <button
                    type="button"
                    class="button"
                    on:click=move |_| {
                        status.reload();
                        metrics.reload();
                    }
                >
                    {t("Check again")}
                </button>
            </div>
        </div>
        {status.placeholder(t("the health of the server"))}
        {part(move || status.read::<SystemStatus>().map(checks).into_any())}
        // It is below the checks, so it comes with them.
        <When test=move || status.is_there()>
            <details class="panel" on:toggle=move |_| wants_metrics.set(true)>
                <summary>{t("Figures for Prometheus")}</summary>
                {part(move || if wants_metrics.get() { metrics.placeholder(t("the figures")) } else { ().into_any() })}
                <When test=move || metrics.is_there()>
                    <CodeBlock caption="/metrics" text />
                </When>
            </details>
        </When>
    }
}

/// The worst first.
fn checks(status: SystemStatus) -> AnyView {
    // They are few, and sorting is heavier code.
    let mut checks: Vec<StatusCheck> = Vec::new();
    for check in status.checks {
        let at = checks.partition_point(|other| other.status >= check.status);
        checks.insert(at, check);
    }
    let text = match status.status {
        StatusLevel::Ok => t("Everything works."),
        StatusLevel::Warning => t("Everything works; some checks have warnings."),
        StatusLevel::Failing => t("Something does not work."),
    };
    let rows: Vec<_> = checks.into_iter().map(check).collect();
    view! {
        <p class="row" role="status">
            {badge(status.status)} {text}
        </p>
        <ul class="checks">{rows}</ul>
    }
    .into_any()
}

fn check(check: StatusCheck) -> AnyView {
    let fix = check.fix.map(|fix| view! { <p class="note">{fix}</p> });
    let way = place(&check.id).map(|(page, query)| {
        let text = match page.subject() {
            "" => tf!(
                "{page} of {project}",
                page = page.kind().title(),
                project = page.project().unwrap_or_default()
            ),
            subject => subject.to_owned(),
        };
        view! { <p><a href=page.path() + query>{text}</a></p> }
    });
    view! {
        <li class="panel">
            <h2 class="row row-spread">{found(&check.title).map_or_else(|| check.title.clone(), str::to_owned)} {badge(check.status)}</h2>
            <p class="muted">{check.summary}</p>
            {fix}
            {way}
        </li>
    }
    .into_any()
}

fn badge(level: StatusLevel) -> AnyView {
    let (tone, text) = match level {
        StatusLevel::Ok => (Tone::Good, t("works")),
        StatusLevel::Warning => (Tone::Note, t("look")),
        StatusLevel::Failing => (Tone::Bad, t("fails")),
    };
    view! { <Badge tone text /> }.into_any()
}
