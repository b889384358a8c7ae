//! Programs in words.

use leptos::prelude::*;
use toolgate_api::presence::{AnnouncerKind, BusInstance, BusProgram, InstanceState};

use crate::api::with_query;
use crate::components::{Badge, Tone};
use crate::language::{t, tf};
use crate::routes::Page;
use crate::words::counted;

/// The parameter of an address that says what a program is.
pub(super) const KIND: &str = "kind";

/// What a program is.
pub(super) fn kind_name(kind: AnnouncerKind) -> &'static str {
    match kind {
        AnnouncerKind::ToolService => t("Tool service"),
        AnnouncerKind::Worker => t("Worker"),
    }
}

/// What a program is, in addresses.
pub(super) const fn kind_word(kind: AnnouncerKind) -> &'static str {
    match kind {
        AnnouncerKind::ToolService => "tool_service",
        AnnouncerKind::Worker => "worker",
    }
}

/// The page of a program.
pub(super) fn page_of(project: &str, kind: AnnouncerKind, name: &str) -> String {
    let page = Page::bus_program(project.to_owned(), name.to_owned()).path();
    match kind {
        AnnouncerKind::ToolService => page,
        AnnouncerKind::Worker => with_query(page, &[(KIND, kind_word(kind))]),
    }
}

/// How many processes run, and in which versions.
pub(super) fn presence(program: &BusProgram) -> AnyView {
    let alive = || {
        let instances = program.instances.iter();
        instances.filter(|instance| instance.state == InstanceState::Alive)
    };
    let mut versions: Vec<&str> = alive().map(|instance| instance.version.as_str()).collect();
    versions.sort_unstable();
    versions.dedup();
    versions.retain(|version| !version.is_empty());
    let versions = versions.join(", ");
    let count = u32::try_from(alive().count()).unwrap_or(u32::MAX);
    let badge = match (count, program.instances.is_empty()) {
        (0, true) => view! { <Badge text=t("no heartbeats") /> },
        (0, false) => view! { <Badge tone=Tone::Bad text=t("none runs") /> },
        (count, _) => {
            view! { <Badge tone=Tone::Good text=tf!("{count} running", count) /> }
        }
    };
    view! {
        <span class="row">
            {badge} {(!versions.is_empty()).then(|| view! { <span class="muted break">{versions}</span> })}
        </span>
    }
    .into_any()
}

/// Whether a process runs.
pub(super) fn state_badge(instance: &BusInstance) -> AnyView {
    match instance.state {
        InstanceState::Alive => view! { <Badge tone=Tone::Good text=t("running") /> },
        InstanceState::Stopped => view! { <Badge text=t("stopped") /> },
        InstanceState::Silent => view! { <Badge tone=Tone::Bad text=t("silent") /> },
    }
    .into_any()
}

/// What needs a decision.
pub(super) fn needs(program: &BusProgram) -> AnyView {
    let announced = program.announced.as_ref();
    let changes = announced.map_or(0, |announced| announced.waiting);
    let descriptor = announced.is_some_and(|announced| announced.descriptor_diff.is_some());
    let problems = announced.is_some_and(|announced| !announced.problems.is_empty());
    let badges = [
        (program.disabled > 0).then(|| {
            (
                Tone::Plain,
                tf!("{tools} disabled", tools = counted(program.disabled, "tool")),
            )
        }),
        (changes > 0).then(|| {
            (
                Tone::Note,
                tf!("{changes} waiting", changes = counted(changes, "change")),
            )
        }),
        descriptor.then(|| (Tone::Note, t("descriptor waiting").to_owned())),
        problems.then(|| (Tone::Bad, t("refused in part").to_owned())),
    ];
    let badges: Vec<_> = badges
        .into_iter()
        .flatten()
        .map(|(tone, text)| view! { <Badge tone text /> })
        .collect();
    if badges.is_empty() {
        return view! { <span class="muted">{t("nothing")}</span> }.into_any();
    }
    view! { <span class="row">{badges}</span> }.into_any()
}
