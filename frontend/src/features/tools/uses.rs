//! What a tool has to do with: who reaches it, what mentions it, and how often it is called.

use chrono::{DateTime, Utc};
use leptos::prelude::*;
use serde_json::Value;

use crate::api::{in_project, with_query};
use crate::components::{TimeAgo, fact, facts};
use crate::language::{t, tf};
use crate::loaded::Loaded;
use crate::reactive::part;
use crate::routes::{Page, PageKind};
use crate::session::Session;

/// The uses, each with a link to where it is managed.
#[component]
pub(super) fn Uses(
    /// The project's id.
    project: Memo<String>,
    /// The tool's name.
    name: Memo<String>,
) -> impl IntoView {
    let loaded = Loaded::new(move || in_project(&project.get(), &["tools", &name.get(), "uses"]));
    let session = Session::get();
    view! {
        {loaded.placeholder(t("what uses the tool"))}
        {part(move || {
            let links = Links { session, project: project.get() };
            loaded.json().map(|uses| content(&uses, &links, &name.get())).into_any()
        })}
    }
}

/// Makes links to pages, for those who may see them.
struct Links {
    session: Session,
    project: String,
}

impl Links {
    fn to(&self, section: PageKind, query: &[(&str, &str)], text: String) -> AnyView {
        if !self.session.may_see(&self.project, section) {
            return text.into_any();
        }
        let href = with_query(Page::of_project(self.project.clone(), section).path(), query);
        view! { <a href=href>{text}</a> }.into_any()
    }
}

fn content(uses: &Value, links: &Links, tool: &str) -> AnyView {
    let strings = |key: &str| -> Vec<String> {
        let all = uses[key].as_array().into_iter().flatten();
        all.filter_map(|item| item.as_str().map(str::to_owned)).collect()
    };
    let people: Vec<AnyView> = uses["principals"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|person| {
            let text = |key: &str| person[key].as_str().unwrap_or_default().to_owned();
            let via: Vec<&str> = person["via"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .collect();
            let until = time(&person["expires_at"]).map(|at| view! { {t(", ends ")} <TimeAgo at /> });
            let link = links.to(
                PageKind::Permissions,
                &[("principal", &text("principal"))],
                text("name"),
            );
            view! {
                {link}
                <span class="muted">
                    {tf!(" by {groups}", groups = via.join(", "))} {until}
                </span>
            }
            .into_any()
        })
        .collect();
    let tools = strings("reached_from")
        .into_iter()
        .map(|name| {
            let href = Page::tool(links.project.clone(), name.clone()).path();
            view! { <a class="mono" href=href>{name}</a> }.into_any()
        })
        .collect();
    let named = |key: &str, section: PageKind| {
        strings(key)
            .into_iter()
            .map(|name| links.to(section, &[], name))
            .collect::<Vec<_>>()
    };
    let number = |key: &str| uses[key].as_i64().unwrap_or_default();
    let calls = |outcome: &str, count: i64| {
        links.to(
            PageKind::Records,
            &[("tool", tool), ("outcome", outcome)],
            count.to_string(),
        )
    };
    let (all, failed, denied) = (number("calls_24h"), number("failures_24h"), number("denials_24h"));
    let service = uses["service"]
        .as_str()
        .map(|name| view! { <code>{name.to_owned()}</code> });
    let sessions = links.to(PageKind::Sessions, &[], number("open_sessions").to_string());
    let figures = facts(vec![
        fact(t("Calls in 24 hours"), calls("", all)),
        fact(t("Of these failed"), calls("failed", failed)),
        fact(t("Refused in 24 hours"), calls("denied", denied)),
        fact(
            t("Last asked for"),
            time(&uses["last_at"])
                .map_or_else(|| t("never").into_any(), |at| view! { <TimeAgo at /> }.into_any()),
        ),
        fact(t("Sessions in a state it is open in"), sessions),
        fact(
            t("Service"),
            service.map_or_else(|| t("none").into_any(), IntoAny::into_any),
        ),
    ]);
    view! {
        <div class="columns">
            <section class="panel">
                <h2>{t("Use")}</h2>
                {figures}
            </section>
            {list(t("Who may ask for it"), people, t("No grant includes one of its groups."))}
            {list(t("Policy tests about it"), named("policy_tests", PageKind::PolicyTests), t("No policy test mentions it."))}
            {list(t("Secrets it uses"), named("secrets", PageKind::Secrets), t("It uses no secret."))}
            {list(t("Tools that lead to it"), tools, t("No tool leads to a state it is open in."))}
        </div>
    }
    .into_any()
}

fn time(value: &Value) -> Option<DateTime<Utc>> {
    serde_json::from_value(value.clone()).ok()
}

fn list(title: &'static str, items: Vec<AnyView>, none: &'static str) -> AnyView {
    let content = if items.is_empty() {
        view! { <p class="muted">{none}</p> }.into_any()
    } else {
        let items: Vec<_> = items.into_iter().map(|item| view! { <li>{item}</li> }).collect();
        view! { <ul class="lines">{items}</ul> }.into_any()
    };
    view! {
        <section class="panel">
            <h2>{title}</h2>
            {content}
        </section>
    }
    .into_any()
}
