//! Rates and concurrency: what is set, and how much of it is used.

mod row;

use leptos::prelude::*;
use serde_json::json;
use toolgate_api::limits::{LimitUsage, ProjectLimits};

use self::row::{Row, form};
use crate::action::Action;
use crate::api::{Ask, Body, in_project};
use crate::candidates::principals;
use crate::components::{EditorHandle, SectionHead, Toasts};
use crate::language::{t, tf};
use crate::loaded::Loaded;
use crate::reactive::{When, condition, effect, part};
use crate::routes::PageKind;
use crate::session::{Permission, Session};
use crate::url::project_in_path;

/// The limits as they are stored, and how full they are.
#[component]
pub(crate) fn LimitsPage() -> impl IntoView {
    let project = project_in_path();
    let session = Session::get();
    let loaded = Loaded::new(move || in_project(&project.get(), &["limits"]));
    let may_see_usage = condition(move || session.may(&project.get(), Permission::ReadAudit));
    let usage = Loaded::new(move || {
        if may_see_usage.get() {
            in_project(&project.get(), &["limits", "usage"])
        } else {
            String::new()
        }
    });
    let callers = principals(project);
    callers.read_for(move || usage.is_there());
    let rows = RwSignal::new(Vec::<Row>::new());
    let handle = EditorHandle::new();
    let action = Action::new();
    let toasts = Toasts::get();
    let may_change = condition(move || session.may(&project.get(), Permission::ManagePolicy));
    effect(move || {
        if let Some(stored) = loaded.read::<ProjectLimits>() {
            rows.set(stored.limits.into_iter().map(Row::of).collect());
        }
    });
    let save = move |_| {
        let limits = rows.with_untracked(|rows| rows.iter().map(|row| row.limit()).collect::<Vec<_>>());
        let path = in_project(&project.get_untracked(), &["limits"]);
        let body = Body::Json(json!({"limits": limits}).to_string());
        action.send(Ask::put(path, body).if_match(loaded.etag()), move |_| {
            toasts.done(t("The limits are in force."));
            loaded.reload();
            usage.reload();
        });
    };
    let fills = move || {
        let usage = usage.read::<LimitUsage>()?;
        let rows: Vec<_> = usage
            .items
            .into_iter()
            .map(|fill| {
                let left = fill.remaining.map(|left| tf!("{left} left", left));
                let running = fill.running.map(|running| tf!("{running} running", running));
                let resets = fill.resets_in_s.map(|s| tf!("full again in {s} s", s));
                let principal = fill.principal.unwrap_or_default();
                let words: Vec<_> = [left, running, resets].into_iter().flatten().collect();
                view! {
                    <li class="row row-spread">
                        <span>
                            <span class="mono">{fill.limit}</span>
                            " "
                            <span class="muted">{move || callers.label(&principal)}</span>
                        </span>
                        <span class="muted">{words.join(", ")}</span>
                    </li>
                }
            })
            .collect();
        let none = rows
            .is_empty()
            .then(|| view! { <p class="muted">{t("Nothing has counted against a limit lately.")}</p> });
        Some(view! {
            <section class="panel">
                <h2>{t("In use now")}</h2>
                {none}
                <ul class="stack">{rows}</ul>
            </section>
        })
    };
    view! {
        <SectionHead section=PageKind::Limits text=t("How often and how many at once: for each key or user, for one tool, for a group, for the project.")>
            <When test=move || may_see_usage.get()>
                <button type="button" class="button" on:click=move |_| usage.reload()>
                    {t("Refresh")}
                </button>
            </When>
        </SectionHead>
        {loaded.placeholder(t("the limits"))}
        <div class="stack" hidden=move || !loaded.is_there()>
            {fills}
            <section class="panel stack">
                <h2>{t("Limits")}</h2>
                <p class="muted">{t("A call must be within every limit that applies to it. Leave calls or \"at once\" empty to limit only the other.")}</p>
                {part(move || form(rows, may_change.get(), callers))}
                {action.refusal(handle)}
                <When test=move || may_change.get()>
                    <div class="row">
                        <button
                            type="button"
                            class="button button-primary"
                            disabled=move || action.busy.get()
                            on:click=save
                        >
                            {t("Save")}
                        </button>
                        <button
                            type="button"
                            class="button"
                            on:click=move |_| rows.update(|rows| rows.push(Row::example(rows.len())))
                        >
                            {t("Add a limit")}
                        </button>
                    </div>
                </When>
            </section>
        </div>
    }
}
