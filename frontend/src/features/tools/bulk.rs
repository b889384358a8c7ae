//! Changing many tools at once: what is selected, what would happen, and the way back.

use leptos::prelude::*;
use serde_json::Value;

use super::change::{address, offer_undo};
use super::filters::ToolFilter;
use super::selection::Selection;
use crate::api::{Ask, Body, object, parse};
use crate::components::{Diff, Field, TextInput, Toasts};
use crate::expectations;
use crate::language::{marked, t, tf};
use crate::paged::Paged;
use crate::reactive::{When, condition, effect, text};
use crate::review::{Frame, Review};
use crate::session::Session;
use crate::words::counted;

/// Differences that are shown; the others are counted.
const SHOWN: usize = 5;

/// One kind of change.
struct Deed {
    /// What its button says.
    verb: &'static str,
    /// Its member of the API's change.
    key: &'static str,
    /// What must be entered; empty for nothing.
    asks: &'static str,
    /// Its value when nothing is asked.
    value: bool,
}

const DEEDS: [Deed; 8] = [
    deed(marked("Enable"), "enabled", "", true),
    deed(marked("Disable"), "enabled", "", false),
    deed(marked("Add groups"), "add_groups", marked("Groups to add"), true),
    deed(
        marked("Remove groups"),
        "remove_groups",
        marked("Groups to remove"),
        true,
    ),
    deed(
        marked("Open in states"),
        "add_states",
        marked("States to open them in"),
        true,
    ),
    deed(
        marked("Close in states"),
        "remove_states",
        marked("States to close them in"),
        true,
    ),
    deed(
        marked("Set state after success"),
        "set_state",
        marked("State after a success; empty for none"),
        true,
    ),
    deed(marked("Delete"), "delete", "", true),
];

const fn deed(verb: &'static str, key: &'static str, asks: &'static str, value: bool) -> Deed {
    Deed {
        verb,
        key,
        asks,
        value,
    }
}

impl Deed {
    /// The change as the API takes it.
    fn change(&self, typed: &str) -> Value {
        let value = match (self.asks, self.key) {
            ("", _) => Value::Bool(self.value),
            (_, "set_state") => Some(typed.trim()).filter(|state| !state.is_empty()).into(),
            _ => typed
                .split(',')
                .map(str::trim)
                .filter(|name| !name.is_empty())
                .collect(),
        };
        object(vec![(self.key, value)])
    }

    fn is_delete(&self) -> bool {
        self.key == "delete"
    }
}

/// The bar with what can be done with the selected tools, and the dialog that shows what would happen.
#[component]
pub(super) fn Bulk(
    /// The project's id.
    project: Memo<String>,
    /// What the list is filtered by.
    filter: ToolFilter,
    /// The list.
    list: Paged,
    /// What is selected of it.
    selection: Selection,
) -> impl IntoView {
    let session = Session::get();
    let toasts = Toasts::get();
    let chosen = RwSignal::new(0_usize);
    let [typed, number] = [(); 2].map(|()| RwSignal::new(String::new()));
    let review = Review::new();
    let plan = review.plan;
    let now = move || &DEEDS[chosen.get()];
    let count = move || selection.count(list.total.get());
    // What was typed when the server was asked last. Its verdict is about that, and about nothing else.
    let asked_for = StoredValue::new(None::<String>);
    effect(move || {
        let now = typed.get();
        if asked_for.with_value(|asked| asked.as_ref() != Some(&now)) {
            review.forget();
        }
    });
    let body = move || {
        let deed = untrack(now);
        let mut body = object(vec![
            ("select", selection.to_json(filter)),
            ("change", deed.change(&typed.get_untracked())),
        ]);
        let note = review.note.get_untracked();
        if !note.trim().is_empty() {
            body["note"] = note.trim().into();
        }
        body
    };
    let send = move |dry_run: bool| {
        let mut body = body();
        let mut path = address(&project.get_untracked());
        if dry_run {
            path.push_str("?dry_run=true");
        } else {
            body["expect_count"] = plan.with_untracked(|plan| plan["count"].clone());
            if review.ignored.get_untracked() {
                path.push_str("?ignore_policy_tests=true");
            }
        }
        let ask = Ask::post(path, Body::Json(body.to_string()));
        if dry_run {
            asked_for.set_value(Some(typed.get_untracked()));
            review.look(ask);
            return;
        }
        review.action.send(ask, move |answer| {
            let answer = parse(&answer.text).unwrap_or_default();
            review.open.set(false);
            selection.clear();
            list.reload();
            let text = format!(
                "{}: {}.",
                t(untrack(now).verb),
                counted(affected(&answer), "tool")
            );
            let place = address(&project.get_untracked());
            offer_undo(toasts, session, place, text, &answer["undo"]);
        });
    };
    let begin = move |at: usize| {
        chosen.set(at);
        typed.set(String::new());
        number.set(String::new());
        review.begin();
        if DEEDS[at].asks.is_empty() {
            send(true);
        }
    };
    let buttons = move || {
        (0..DEEDS.len())
            .map(|at| {
                view! {
                    <button type="button" class="button button-small" on:click=move |_| begin(at)>
                        {t(DEEDS[at].verb)}
                    </button>
                }
            })
            .collect::<Vec<_>>()
    };
    let must_type = move || now().is_delete() && plan.with(|plan| plan["count"].as_u64() > Some(1));
    let is_ready = move || {
        let is_typed = |plan: &Value| number.get().trim().parse().ok() == plan["count"].as_u64();
        review.is_meant() && plan.with(|plan| affected(plan) != 0 && (!must_type() || is_typed(plan)))
    };
    let asked = move || {
        view! {
            <When test=move || !now().asks.is_empty()>
                <form
                    class="stack"
                    on:submit=move |event| {
                        event.prevent_default();
                        send(true);
                    }
                >
                    <Field id="bulk-names" label=text(move || t(now().asks).to_owned()) help=t("Several are separated by commas.")>
                        <TextInput id="bulk-names" value=typed mono=true />
                    </Field>
                    <div>
                        <button type="submit" class="button" disabled=move || review.is_looking()>
                            {t("Preview")}
                        </button>
                    </div>
                </form>
            </When>
        }
    };
    let confirmed = move || {
        view! {
            <When test=must_type>
                <Field
                    id="bulk-number"
                    label=text(move || plan.with(|plan| tf!("Type {name} to confirm", name = plan["count"])))
                >
                    <TextInput id="bulk-number" value=number mono=true max="10" />
                </Field>
            </When>
        }
    };
    let dialog = review.view(Frame {
        title: text(move || format!("{}: {}", t(now().verb), counted(count(), "tool"))),
        before: Some(asked.into()),
        outlook,
        all_the_same: t("Change them all the same, although policy tests would fail"),
        note_id: "bulk-note",
        is_noted: condition(move || plan.with(affected) != 0).into(),
        after: Some(confirmed.into()),
        verb: text(move || format!("{} ({})", t(now().verb), plan.with(affected))),
        is_danger: condition(move || now().is_delete()).into(),
        is_ready: condition(is_ready).into(),
        on_confirm: Callback::new(move |()| send(false)),
    });
    view! {
        <When test=move || count() != 0>
            <section class="bulk" aria-label=t("Selected tools")>
                <p role="status">
                    <strong>{move || counted(count(), "tool")}</strong>
                    {t(" selected")}
                </p>
                <When test=move || !selection.is_all() && count() < list.total.get()>
                    <button type="button" class="button button-small" on:click=move |_| selection.add_all()>
                        {move || tf!("Select all {count} that match", count = list.total.get())}
                    </button>
                </When>
                {buttons()}
                <button type="button" class="button button-small button-quiet" on:click=move |_| selection.clear()>
                    {t("Clear selection")}
                </button>
            </section>
        </When>
        {dialog}
    }
}

/// How many tools an answer says are affected.
pub(crate) fn affected(answer: &Value) -> usize {
    let items = answer["items"].as_array().into_iter().flatten();
    items.filter(|item| item["outcome"] != "unchanged").count()
}

/// What would happen: numbers, policy tests, and the first differences.
pub(crate) fn outlook(plan: &Value) -> AnyView {
    let count = affected(plan);
    let same = plan["items"].as_array().map_or(0, Vec::len) - count;
    let tests = expectations::outlook(&plan["policy_tests"]);
    let changed = plan["items"].as_array().into_iter().flatten();
    let changed = changed.filter(|item| item["outcome"] != "unchanged");
    let items: Vec<_> = changed
        .take(SHOWN)
        .map(|item| {
            let diff = item["diff"].as_str().filter(|_| item["outcome"] != "deleted");
            view! {
                <li>
                    <span class="tool-name">{item["name"].as_str().unwrap_or_default().to_owned()}</span>
                    {diff.map(|diff| view! { <Diff text=diff.to_owned() /> })}
                </li>
            }
        })
        .collect();
    let more = count.saturating_sub(SHOWN);
    view! {
        <div class="row row-spread">
            <p>
                <strong>{tf!("{tools} would change.", tools = counted(count, "tool"))}</strong>
                {(same != 0).then(|| tf!(" Unchanged: {same}.", same))}
            </p>
            {tests}
        </div>
        <ul class="stack">{items}</ul>
        {(more != 0).then(|| view! { <p class="muted">{tf!("And {tools} more.", tools = counted(more, "tool"))}</p> })}
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{DEEDS, affected};

    #[test]
    fn deeds_become_changes() {
        let change = |verb: &str, typed: &str| {
            let deed = DEEDS.iter().find(|deed| deed.verb == verb);
            deed.map(|deed| deed.change(typed)).unwrap_or_default()
        };
        assert_eq!(change("Disable", ""), json!({"enabled": false}));
        assert_eq!(change("Delete", ""), json!({"delete": true}));
        assert_eq!(change("Add groups", " a, b,"), json!({"add_groups": ["a", "b"]}));
        assert_eq!(
            change("Set state after success", " done "),
            json!({"set_state": "done"})
        );
        assert_eq!(change("Set state after success", " "), json!({"set_state": null}));
    }

    #[test]
    fn what_stays_is_not_counted() {
        let answer =
            json!({"items": [{"outcome": "changed"}, {"outcome": "unchanged"}, {"outcome": "deleted"}]});
        assert_eq!(affected(&answer), 2);
        assert_eq!(affected(&json!(null)), 0);
    }
}
