//! Deciding several changes together: what is selected, what would become of it, and doing it.

use std::collections::BTreeSet;

use leptos::prelude::*;
use serde_json::Value;

use super::waiting::Waiting;
use crate::api::{Ask, Body, in_project, object, parse, with_query};
use crate::components::{Diff, Toasts};
use crate::expectations;
use crate::language::{marked, t, tf};
use crate::paged::Paged;
use crate::reactive::{condition, text};
use crate::review::{Frame, Review};
use crate::words::counted;

/// Differences that are shown; the others are counted.
const SHOWN: usize = 5;

/// What can be done with the selected changes: what the button says, the decision, and whose change counts in conflicts.
const DEEDS: [(&str, &str, &str); 4] = [
    (marked("Approve those without conflicts"), "approve", ""),
    (marked("Approve, keep ours in conflicts"), "approve", "ours"),
    (marked("Approve, take theirs in conflicts"), "approve", "theirs"),
    (marked("Reject"), "reject", ""),
];

/// The tools whose changes are selected.
pub(super) type Selected = RwSignal<BTreeSet<String>>;

/// The box that selects a row.
pub(super) fn select_box(selected: Selected, tool: &str) -> AnyView {
    let label = tf!("Select {tool}", tool);
    let tool = StoredValue::new(tool.to_owned());
    view! {
        <input
            type="checkbox"
            class="select-row"
            aria-label=label
            prop:checked=move || tool.with_value(|tool| selected.with(|selected| selected.contains(tool)))
            on:change=move |_| {
                let tool = tool.get_value();
                selected.update(|selected| {
                    if !selected.remove(&tool) {
                        selected.insert(tool);
                    }
                });
            }
        />
    }
    .into_any()
}

/// The bar with what can be done, and the dialog that shows what would happen.
#[component]
pub(super) fn Several(project: Memo<String>, list: Paged, selected: Selected) -> impl IntoView {
    let chosen = RwSignal::new(0_usize);
    let review = Review::new();
    // The tag of what the dry run was about.
    let tag = RwSignal::new(String::new());
    let (toasts, waiting) = (Toasts::get(), Waiting::get());
    let count = move || selected.with(BTreeSet::len);
    let send = move |dry_run: bool| {
        let (verb, decision, conflicts) = DEEDS[chosen.get_untracked()];
        let names: Value = selected.with_untracked(|names| names.iter().cloned().collect());
        let mut body = object(vec![
            ("select", object(vec![("names", names)])),
            ("decision", decision.into()),
        ]);
        let note = review.note.get_untracked();
        for (key, value) in [("conflicts", conflicts), ("note", note.trim())] {
            if !value.is_empty() {
                body[key] = value.into();
            }
        }
        let query = [
            ("dry_run", if dry_run { "true" } else { "" }),
            expectations::ignoring(review.ignored),
        ];
        let path = with_query(
            in_project(&project.get_untracked(), &["quarantine-decisions"]),
            &query,
        );
        let ask = Ask::post(path, Body::Json(body.to_string()));
        if dry_run {
            review.look_then(ask, move |answer| tag.set(answer.etag.clone()));
            return;
        }
        review
            .action
            .send(ask.if_match(tag.get_untracked()), move |answer| {
                let found = parse(&answer.text).unwrap_or_default();
                review.open.set(false);
                selected.update(BTreeSet::clear);
                list.reload();
                waiting.reload();
                toasts.done(format!("{}: {}.", t(verb), counted(decided(&found), "change")));
            });
    };
    let begin = move |at: usize| {
        chosen.set(at);
        review.begin();
        send(true);
    };
    let buttons = (0..DEEDS.len())
        .map(|at| {
            view! {
                <button type="button" class="button button-small" on:click=move |_| begin(at)>
                    {t(DEEDS[at].0)}
                </button>
            }
        })
        .collect::<Vec<_>>();
    let is_reject = move || DEEDS[chosen.get()].1 == "reject";
    let is_approved = condition(move || !is_reject());
    let count_decided = move || review.plan.with(decided);
    let dialog = review.view(Frame {
        title: text(move || t(DEEDS[chosen.get()].0).to_owned()),
        before: None,
        outlook,
        all_the_same: t("Approve them all the same, although policy tests would fail"),
        note_id: "several-note",
        is_noted: is_approved.into(),
        after: None,
        verb: text(move || {
            let changes = counted(count_decided(), "change");
            if is_reject() {
                tf!("Reject {changes}", changes)
            } else {
                tf!("Approve {changes}", changes)
            }
        }),
        is_danger: false.into(),
        is_ready: condition(move || review.is_meant() && count_decided() != 0).into(),
        on_confirm: Callback::new(move |()| send(false)),
    });
    view! {
        <section class="bulk" aria-label=t("Selected changes") hidden=move || count() == 0>
            <p role="status">
                <strong>{move || counted(count(), "change")}</strong>
                {t(" selected")}
            </p>
            {buttons}
            <button
                type="button"
                class="button button-small button-quiet"
                on:click=move |_| selected.update(BTreeSet::clear)
            >
                {t("Clear selection")}
            </button>
        </section>
        {dialog}
    }
}

fn items(plan: &Value, waits: bool) -> impl Iterator<Item = &Value> {
    let items = plan["items"].as_array().into_iter().flatten();
    items.filter(move |item| (item["outcome"] == "waiting") == waits)
}

/// How many changes an answer says are decided.
fn decided(plan: &Value) -> usize {
    items(plan, false).count()
}

/// What would become of the changes: the first differences, policy tests, and what goes on waiting.
fn outlook(plan: &Value) -> AnyView {
    let name = |item: &Value| item["tool"].as_str().unwrap_or_default().to_owned();
    let shown: Vec<_> = items(plan, false)
        .take(SHOWN)
        .map(|item| {
            let diff = item["diff"].as_str();
            let stays = diff.is_none().then_some(t(" stays as it is"));
            view! {
                <li>
                    <span class="tool-name">{name(item)}</span>
                    {stays}
                    {diff.map(|diff| view! { <Diff text=diff.to_owned() /> })}
                </li>
            }
        })
        .collect();
    let more = decided(plan).saturating_sub(SHOWN);
    let waits: Vec<String> = items(plan, true).map(name).collect();
    let waits = (!waits.is_empty())
        .then(|| view! { <p>{tf!("Conflicts have to be decided, so these go on waiting: {names}.", names = waits.join(", "))}</p> });
    view! {
        {expectations::outlook(&plan["policy_tests"])}
        {waits}
        <ul class="stack">{shown}</ul>
        {(more != 0).then(|| view! { <p class="muted">{tf!("And {changes} more.", changes = counted(more, "change"))}</p> })}
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::decided;

    #[test]
    fn what_goes_on_waiting_is_not_decided() {
        let item = |outcome: &str| json!({"tool": "a", "outcome": outcome});
        let plan = json!({"items": [item("approved"), item("waiting"), item("rejected")]});
        assert_eq!(decided(&plan), 2);
        assert_eq!(decided(&json!(null)), 0);
    }
}
