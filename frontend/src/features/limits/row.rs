//! One limit as a line of the form.

use leptos::prelude::*;
use serde_json::{Value, json};
use toolgate_api::limits::{Limit, LimitSubject};

use crate::components::{ChoiceInput, Choices, NameInput, NamesOf};
use crate::language::{marked, t, tf};
use crate::reactive::part;

/// What can be limited, and what is to be named with it.
const SUBJECTS: [(&str, &str, &str); 8] = [
    ("each_key", marked("Every key for itself"), ""),
    ("each_user", marked("Every user for itself"), ""),
    ("each_external", marked("Every external subject for itself"), ""),
    ("each_principal", marked("Every caller for itself"), ""),
    ("principal", marked("One caller"), "principal"),
    ("tool", marked("One tool"), "tool"),
    ("group", marked("A group and its children"), "group"),
    ("project", marked("The whole project"), ""),
];

/// The heads of the columns.
const HEADS: [&str; 6] = [
    marked("Name"),
    marked("What"),
    marked("Which"),
    marked("Calls"),
    marked("In seconds"),
    marked("At once"),
];

/// A limit that is being written.
#[derive(Clone, Copy)]
pub(super) struct Row {
    name: RwSignal<String>,
    kind: RwSignal<String>,
    which: RwSignal<String>,
    count: RwSignal<String>,
    per_s: RwSignal<String>,
    concurrency: RwSignal<String>,
}

impl Row {
    fn new(texts: [String; 6]) -> Self {
        let [name, kind, which, count, per_s, concurrency] = texts.map(RwSignal::new);
        Self {
            name,
            kind,
            which,
            count,
            per_s,
            concurrency,
        }
    }

    /// A stored limit.
    pub(super) fn of(limit: Limit) -> Self {
        let (kind, which) = match limit.subject {
            LimitSubject::EachKey => ("each_key", String::new()),
            LimitSubject::EachUser => ("each_user", String::new()),
            LimitSubject::EachExternal => ("each_external", String::new()),
            LimitSubject::EachPrincipal => ("each_principal", String::new()),
            LimitSubject::Principal { principal } => ("principal", principal),
            LimitSubject::Tool { tool } => ("tool", tool),
            LimitSubject::Group { group } => ("group", group),
            LimitSubject::Project => ("project", String::new()),
        };
        let number = |number: Option<u32>| number.map(|number| number.to_string()).unwrap_or_default();
        Self::new([
            limit.name,
            kind.to_owned(),
            which,
            number(limit.requests.map(|rate| rate.count)),
            number(limit.requests.map(|rate| rate.per_s)),
            number(limit.concurrency),
        ])
    }

    /// A new limit to start from.
    pub(super) fn example(at: usize) -> Self {
        let name = if at == 0 {
            "per-key".to_owned()
        } else {
            format!("limit-{}", at + 1)
        };
        Self::new([
            name,
            "each_key".to_owned(),
            String::new(),
            "120".to_owned(),
            "60".to_owned(),
            String::new(),
        ])
    }

    /// As the API takes it. A text that is no number is sent as it is, so that the server says what is wrong with it.
    pub(super) fn limit(self) -> Value {
        let text = |field: RwSignal<String>| field.get_untracked().trim().to_owned();
        let number = |field: RwSignal<String>| {
            let text = text(field);
            text.parse::<u32>().map_or(Value::String(text), Value::from)
        };
        let kind = text(self.kind);
        let mut subject = json!({"kind": kind});
        if let Some(part) = named_part(&kind) {
            subject[part] = text(self.which).into();
        }
        let mut limit = json!({"name": text(self.name), "subject": subject});
        if !text(self.count).is_empty() {
            limit["requests"] = json!({"count": number(self.count), "per_s": number(self.per_s)});
        }
        if !text(self.concurrency).is_empty() {
            limit["concurrency"] = number(self.concurrency);
        }
        limit
    }
}

/// The field that names what a kind of subject is about.
fn named_part(kind: &str) -> Option<&'static str> {
    SUBJECTS
        .iter()
        .find(|(key, ..)| *key == kind)
        .map(|(.., part)| *part)
        .filter(|part| !part.is_empty())
}

/// All rows, and a button to remove each.
pub(super) fn form(rows: RwSignal<Vec<Row>>, may_change: bool, callers: Choices) -> AnyView {
    let lines: Vec<_> = rows
        .get()
        .into_iter()
        .enumerate()
        .map(|(at, row)| line(rows, at, row, may_change, callers))
        .collect();
    if lines.is_empty() {
        return view! { <p class="muted">{t("There are no limits yet.")}</p> }.into_any();
    }
    let heads: Vec<_> = HEADS
        .map(t)
        .into_iter()
        .map(|title| view! { <th scope="col" role="columnheader">{title}</th> })
        .collect();
    view! {
        <table class="table table-form" role="table">
            <caption class="visually-hidden">{t("Limits")}</caption>
            <thead role="rowgroup">
                <tr role="row">
                    {heads}
                    <th scope="col" role="columnheader">
                        <span class="visually-hidden">{t("Remove")}</span>
                    </th>
                </tr>
            </thead>
            <tbody role="rowgroup">{lines}</tbody>
        </table>
    }
    .into_any()
}

fn line(rows: RwSignal<Vec<Row>>, at: usize, row: Row, may_change: bool, callers: Choices) -> AnyView {
    let number = at + 1;
    let heads = HEADS.map(t);
    let input = |field: RwSignal<String>, what: &str, kind: &'static str| {
        view! {
            <input
                class="input"
                aria-label=tf!("{what} of limit {number}", what, number)
                type=kind
                min="1"
                maxlength="1100"
                autocomplete="off"
                spellcheck="false"
                readonly=!may_change
                prop:value=move || field.get()
                on:input=move |event| field.set(event_target_value(&event))
            />
        }
        .into_any()
    };
    let options: Vec<_> = SUBJECTS
        .iter()
        .map(|(key, text, _)| {
            view! {
                <option value=*key selected=row.kind.get_untracked() == *key>
                    {t(text)}
                </option>
            }
        })
        .collect();
    let which = part(move || {
        let id = format!("limit-{number}-which");
        let name = tf!("{what} of limit {number}", what = heads[2], number);
        let value = row.which;
        let of = match named_part(&row.kind.get()) {
            // A cell without a control is left out where the cells of a row wrap.
            None => return view! { <span hidden></span> }.into_any(),
            Some("tool") => NamesOf::Tools,
            Some("group") => NamesOf::Groups,
            Some(_) => {
                let choices = Some(callers);
                return view! { <ChoiceInput id value choices name readonly=!may_change /> }.into_any();
            }
        };
        view! { <NameInput id value of name readonly=!may_change max="1100" /> }.into_any()
    });
    let remove = may_change.then(|| {
        view! {
            <button
                type="button"
                class="button button-small"
                aria-label=tf!("Remove limit {number}", number)
                on:click=move |_| {
                    rows.update(|rows| {
                        rows.remove(at);
                    });
                }
            >
                {t("Remove")}
            </button>
        }
    });
    view! {
        <tr role="row">
            <td role="cell" data-label=heads[0]>{input(row.name, heads[0], "text")}</td>
            <td role="cell" data-label=heads[1]>
                <select
                    class="input select"
                    aria-label=tf!("{what} of limit {number}", what = heads[1], number)
                    disabled=!may_change
                    on:change=move |event| row.kind.set(event_target_value(&event))
                >
                    {options}
                </select>
            </td>
            <td role="cell" data-label=heads[2]>
                {which}
            </td>
            <td role="cell" data-label=heads[3] class="cell-number">{input(row.count, heads[3], "number")}</td>
            <td role="cell" data-label=heads[4] class="cell-number">{input(row.per_s, heads[4], "number")}</td>
            <td role="cell" data-label=heads[5] class="cell-number">{input(row.concurrency, heads[5], "number")}</td>
            <td role="cell">{remove}</td>
        </tr>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use leptos::prelude::Owner;
    use serde_json::{Value, json};

    use super::Row;

    #[test]
    fn a_stored_limit_comes_back_as_it_was() {
        let owner = Owner::new();
        owner.set();
        let limits: [Value; 3] = [
            json!({"name": "a", "subject": {"kind": "tool", "tool": "t"}, "requests": {"count": 1, "per_s": 60}}),
            json!({"name": "b", "subject": {"kind": "project"}, "concurrency": 2}),
            json!({"name": "c", "subject": {"kind": "principal", "principal": "user:1"}, "concurrency": 1}),
        ];
        for limit in limits {
            let row = Row::of(serde_json::from_value(limit.clone()).expect("it is a limit"));
            assert_eq!(row.limit(), limit);
        }
    }
}
