//! What changed in an operation: upstream, here, and where both did.

use std::collections::BTreeMap;

use leptos::prelude::*;
use serde_json::Value;
use toolgate_api::quarantine::{MergeConflict, MergeSide, MergeSides, OperationChange, PropertyChange};

use crate::components::{Badge, Diff, Tone};
use crate::features::tools::diff;
use crate::language::{t, tf};
use crate::words::counted;

/// How conflicts are decided, by pointer.
pub(super) type Decisions = RwSignal<BTreeMap<String, MergeSide>>;

/// The change of a tool in short: places with the values before and after. With `decisions`, conflicts can be
/// decided.
pub(super) fn change_view(tool: &str, change: &OperationChange, decisions: Option<Decisions>) -> AnyView {
    let conflicts: Vec<_> = change
        .conflicts
        .iter()
        .enumerate()
        .map(|(at, conflict)| conflict_view(tool, at, conflict, decisions))
        .collect();
    let has_conflicts = !conflicts.is_empty();
    let result = change.diff.clone().map(|text| {
        view! {
            <details>
                <summary>{t("What approving changes in the tool")}</summary>
                <Diff text name=tf!("What approving changes in {tool}", tool) />
            </details>
        }
    });
    let breaks = breaking(change).map(|badge| {
        view! { <p>{badge} {t(" Calls that work now can fail afterwards, or answer less.")}</p> }
    });
    view! {
        <div class="stack-small">
            {breaks}
            {has_conflicts
                .then(|| {
                    view! {
                        <section class="stack-small" aria-label=tf!("Conflicts of {tool}", tool)>
                            <p>
                                <Badge tone=Tone::Bad text=counted(conflicts.len(), "conflict") />
                                {t(" The description and an edit in this project changed the same place in different ways.")}
                            </p>
                            {conflicts}
                        </section>
                    }
                })}
            {places(tool, t("The description changed"), &change.upstream)}
            {places(tool, t("Edited here, and kept"), &change.local)}
            {result}
        </div>
    }
    .into_any()
}

/// How many changes of the description can refuse calls that are accepted now.
pub(super) fn breaking(change: &OperationChange) -> Option<AnyView> {
    let count = change.upstream.iter().filter(|place| place.breaking).count();
    (count != 0).then(|| {
        let text = counted(count, "breaking change");
        view! { <Badge tone=Tone::Bad text /> }.into_any()
    })
}

fn places(tool: &str, title: &'static str, places: &[PropertyChange]) -> AnyView {
    if places.is_empty() {
        return ().into_any();
    }
    let items: Vec<_> = places
        .iter()
        .map(|place| {
            let (before, after) = (written(place.before.as_ref()), written(place.after.as_ref()));
            view! {
                <li>
                    <code>{pointer(&place.pointer)}</code>
                    {place.breaking.then(|| view! { " " <Badge tone=Tone::Bad text=t("breaking") /> })}
                    <div class="diff" tabindex="0" role="region" aria-label=format!("{title}: {tool} {}", place.pointer)>
                        {lines("-", before)}
                        {lines("+", after)}
                    </div>
                </li>
            }
        })
        .collect();
    view! {
        <details open=places.len() <= 5>
            <summary>{format!("{title}: {}", counted(places.len(), "place"))}</summary>
            <ul class="stack-small">{items}</ul>
        </details>
    }
    .into_any()
}

fn lines(sign: &'static str, text: Option<String>) -> AnyView {
    let class = if sign == "+" {
        "diff-line diff-added"
    } else {
        "diff-line diff-removed"
    };
    let text = text.unwrap_or_default();
    let lines = text.lines().map(|line| {
        view! {
            <div class=class>
                <span>{sign}</span>
                <span>{line.to_owned()}</span>
            </div>
        }
    });
    lines.collect::<Vec<_>>().into_any()
}

fn conflict_view(tool: &str, at: usize, conflict: &MergeConflict, decisions: Option<Decisions>) -> AnyView {
    let side = |title: &'static str, value: Option<&Value>| {
        let text = written(value).unwrap_or_else(|| t("(nothing)").to_owned());
        let name = format!("{title}: {tool} {}", pointer(&conflict.pointer));
        view! {
            <div>
                <p class="muted">{title}</p>
                <pre tabindex="0" role="region" aria-label=name class="side">
                    {text}
                </pre>
            </div>
        }
        .into_any()
    };
    let choice = decisions.map(|decisions| {
        let [ours, theirs] = [MergeSide::Ours, MergeSide::Theirs].map(|side| {
            let (read, written) = (conflict.pointer.clone(), conflict.pointer.clone());
            let words = match side {
                MergeSide::Ours => t("Keep what was edited here"),
                MergeSide::Theirs => t("Take what the description says"),
            };
            view! {
                <label class="check">
                    <input
                        type="radio"
                        name=format!("conflict-{at}")
                        prop:checked=move || decisions.with(|all| all.get(&read) == Some(&side))
                        on:change=move |_| decisions.update(|all| _ = all.insert(written.clone(), side))
                    />
                    {words}
                </label>
            }
        });
        view! { <div class="row">{ours} {theirs}</div> }
    });
    view! {
        <fieldset class="panel stack-small">
            <legend>
                <code>{pointer(&conflict.pointer)}</code>
            </legend>
            <div class="sides">
                {side(t("Last import"), conflict.base.as_ref())} {side(t("Edited here"), conflict.ours.as_ref())}
                {side(t("Description now"), conflict.theirs.as_ref())}
            </div>
            {choice}
        </fieldset>
    }
    .into_any()
}

/// The whole definitions, side against side.
pub(super) fn sides_view(sides: &MergeSides) -> AnyView {
    let [base, ours, theirs] = [&sides.base, &sides.ours, &sides.theirs].map(|side| format!("{side:#}\n"));
    let merged = sides.merged.as_ref().map(|merged| format!("{merged:#}\n"));
    let section = |title: &'static str, text: String, open: bool| {
        view! {
            <details class="panel" open=open>
                <summary>{title}</summary>
                <Diff text name=title />
            </details>
        }
        .into_any()
    };
    view! {
        {section(t("What the description changed"), diff(&base, &theirs), true)}
        {section(t("What was edited here"), diff(&base, &ours), true)}
        {merged.map(|merged| section(t("Both together, compared with the tool as it is"), diff(&ours, &merged), true))}
    }
    .into_any()
}

fn pointer(pointer: &str) -> String {
    if pointer.is_empty() {
        t("the whole definition").to_owned()
    } else {
        pointer.to_owned()
    }
}

/// A value for people: a text as it is, all else as JSON.
fn written(value: Option<&Value>) -> Option<String> {
    Some(match value? {
        Value::String(text) => text.clone(),
        value => format!("{value:#}"),
    })
}
