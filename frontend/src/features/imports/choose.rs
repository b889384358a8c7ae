//! Choosing among the operations of a description: by tag, then path, with boxes that know "some of it".

use std::collections::{BTreeMap, BTreeSet};

use leptos::prelude::*;
use toolgate_api::imports::{ImportPreview, ImportSecurity, ImportedOperation};

use super::badges::{operation_name, outcome_badge};
use super::layers::Layering;
use super::rule::{Rule, can_be_chosen, finds, is_pattern};
use crate::components::{Badge, Icon, SearchBox, Select, Symbol, Tone};
use crate::language::{marked, t, tf};
use crate::reactive::part;
use crate::url::UrlParam;
use crate::words::counted;

/// Operations up to which all tags are unfolded at first.
const UNFOLDED: usize = 60;
const UNTAGGED: &str = marked("Without a tag");

/// What is chosen of a preview.
#[derive(Clone, Copy)]
pub(super) struct Choosing {
    /// What the description has.
    pub(super) preview: RwSignal<Option<ImportPreview>>,
    /// The names of the tools that are wanted.
    pub(super) chosen: RwSignal<BTreeSet<String>>,
    /// The path pattern that was used to choose last.
    pattern: RwSignal<String>,
    q: UrlParam,
    method: UrlParam,
}

impl Choosing {
    /// Nothing was read yet.
    pub(super) fn new() -> Self {
        Self {
            preview: RwSignal::new(None),
            chosen: RwSignal::new(BTreeSet::new()),
            pattern: RwSignal::new(String::new()),
            q: UrlParam::new("q"),
            method: UrlParam::new("method"),
        }
    }

    /// Takes a preview. Of a description that was there before, the choice stays; another prefix renames its tools, and `rename`
    /// gets the new names by the old ones.
    pub(super) fn show(
        self,
        preview: ImportPreview,
        is_same: bool,
        rename: impl FnOnce(&BTreeMap<String, String>),
    ) {
        if is_same {
            let names = self
                .preview
                .with_untracked(|before| renamed(before.as_ref(), &preview));
            self.chosen.update(|chosen| {
                *chosen = chosen
                    .iter()
                    .filter_map(|name| names.get(name).cloned())
                    .collect();
            });
            rename(&names);
        } else {
            let all = preview.operations.iter().filter(|one| can_be_chosen(one));
            self.chosen.set(all.map(|one| one.tool.clone()).collect());
        }
        self.preview.set(Some(preview));
    }

    /// The choice in the shortest way, reactively.
    pub(super) fn rule(self) -> Rule {
        self.preview.with(|preview| {
            let all = preview.as_ref().map(|preview| preview.operations.as_slice());
            self.chosen.with(|chosen| {
                self.pattern
                    .with(|pattern| Rule::of(all.unwrap_or_default(), chosen, pattern))
            })
        })
    }

    /// How many operations are chosen, reactively.
    pub(super) fn count(self) -> usize {
        self.chosen.with(BTreeSet::len)
    }

    fn is_shown(self, one: &ImportedOperation) -> bool {
        let (q, method) = (self.q.get(), self.method.get());
        (q.is_empty() || finds(&q, one)) && (method.is_empty() || one.method == method)
    }

    fn shown(self) -> Vec<ImportedOperation> {
        self.preview.with(|preview| {
            let all = preview.iter().flat_map(|preview| &preview.operations);
            all.filter(|one| self.is_shown(one)).cloned().collect()
        })
    }

    /// The search, the tree, and what the choice means.
    pub(super) fn view(self, layering: Layering) -> AnyView {
        let methods = Signal::derive(move || {
            let of_all = self.preview.with(|preview| {
                let all = preview.iter().flat_map(|preview| &preview.operations);
                all.map(|one| one.method.clone()).collect::<BTreeSet<_>>()
            });
            let every = (String::new(), t("All methods").to_owned());
            let each = of_all.into_iter().map(|method| (method.clone(), method));
            std::iter::once(every).chain(each).collect::<Vec<_>>()
        });
        let names = move || {
            let shown = untrack(|| self.shown());
            let possible = shown.into_iter().filter(can_be_chosen);
            possible.map(|one| one.tool).collect::<Vec<_>>()
        };
        let note_pattern = move || {
            let q = self.q.get_untracked();
            let is_meant = is_pattern(&q) && self.method.get_untracked().is_empty();
            self.pattern.set(if is_meant { q } else { String::new() });
        };
        let only = move |_| {
            note_pattern();
            self.chosen.set(names().into_iter().collect());
        };
        let add = move |_| self.chosen.update(|chosen| chosen.extend(names()));
        let remove = move |_| {
            self.chosen
                .update(|chosen| names().iter().for_each(|name| _ = chosen.remove(name)));
        };
        view! {
            <div class="filters">
                <SearchBox param=self.q name=t("Search operations") placeholder=t("Search, or a pattern such as /pets/**") />
                <Select
                    id="import-method"
                    name=t("Method")
                    value=self.method.signal()
                    options=methods
                    on_change=move |method: String| self.method.push(&method)
                />
            </div>
            <div class="row">
                <button type="button" class="button button-small" on:click=only>
                    {t("Choose only what is listed")}
                </button>
                <button type="button" class="button button-small" on:click=add>
                    {t("Add what is listed")}
                </button>
                <button type="button" class="button button-small" on:click=remove>
                    {t("Leave out what is listed")}
                </button>
            </div>
            {part(move || self.tree(layering))}
            <p role="status">
                <strong>
                    {move || {
                        let all = self.preview.with(|preview| preview.as_ref().map_or(0, |preview| preview.operations.len()));
                        tf!("{count} of {all} chosen. ", count = self.count(), all = counted(all, "operation"))
                    }}
                </strong>
                <span class="muted">{move || self.rule().summary()}</span>
            </p>
        }
        .into_any()
    }

    fn tree(self, layering: Layering) -> AnyView {
        let shown = self.shown();
        if shown.is_empty() {
            return view! { <p class="muted" role="status">{t("No operation matches. Try a shorter word, or /** for all paths.")}</p> }
                .into_any();
        }
        let unfolded = shown.len() <= UNFOLDED;
        let tags: Vec<_> = by(shown, |one| {
            one.tags
                .first()
                .cloned()
                .unwrap_or_else(|| t(UNTAGGED).to_owned())
        })
        .into_iter()
        .map(|(tag, operations)| self.tag(tag, operations, unfolded, layering))
        .collect();
        view! { <ul class="operations" aria-label=t("Operations")>{tags}</ul> }.into_any()
    }

    fn tag(
        self,
        tag: String,
        operations: Vec<ImportedOperation>,
        unfolded: bool,
        layering: Layering,
    ) -> AnyView {
        let open = RwSignal::new(unfolded);
        let names = possible(&operations);
        let label = tf!("Operations of {tag}", tag);
        let total = counted(operations.len(), "operation");
        let operations = StoredValue::new(operations);
        let paths = move || {
            if !open.get() {
                return ().into_any();
            }
            let paths: Vec<_> = by(operations.get_value(), |one| one.path.clone())
                .into_iter()
                .map(|(path, operations)| self.path(path, operations, layering))
                .collect();
            view! { <ul>{paths}</ul> }.into_any()
        };
        view! {
            <li>
                <div class="row">
                    <button
                        type="button"
                        class="fold"
                        aria-label=label
                        aria-expanded=move || open.get().to_string()
                        on:click=move |_| open.update(|open| *open = !*open)
                    >
                        <Icon symbol=Symbol::ChevronDown />
                    </button>
                    {self.tick(tag, names, true)}
                    <span class="muted">{total}</span>
                </div>
                {part(paths)}
            </li>
        }
        .into_any()
    }

    fn path(self, path: String, operations: Vec<ImportedOperation>, layering: Layering) -> AnyView {
        let names = possible(&operations);
        let is_single = operations.len() == 1;
        let rows: Vec<_> = operations
            .into_iter()
            .map(|one| self.operation(one, is_single, layering))
            .collect();
        if is_single {
            return rows.into_any();
        }
        view! {
            <li>
                <div class="row">{self.tick(path, names, true)}</div>
                <ul>{rows}</ul>
            </li>
        }
        .into_any()
    }

    fn operation(self, one: ImportedOperation, with_path: bool, layering: Layering) -> AnyView {
        let names = possible(std::slice::from_ref(&one));
        let is_possible = !names.is_empty();
        let name = if with_path {
            format!("{} {}", one.method, one.path)
        } else {
            one.method.clone()
        };
        let about = about(&one, false);
        let tool = one.tool.clone();
        view! {
            <li>
                <div class="row">
                    {self.tick(name, names, false)}
                    <span class="tool-name">{one.tool}</span>
                    {outcome_badge(one.outcome, true)}
                    {one.deprecated.then(|| view! { <Badge tone=Tone::Note text=t("deprecated") /> })}
                    {is_possible.then(|| layering.button(tool))}
                </div>
                {one.summary.map(|summary| view! { <p class="muted">{summary}</p> })}
                {about}
            </li>
        }
        .into_any()
    }

    /// A box for one operation or for several: none, some or all of them.
    fn tick(self, label: String, names: Vec<String>, is_heading: bool) -> AnyView {
        let total = names.len();
        let names = StoredValue::new(names);
        let count = Memo::new(move |_| {
            self.chosen.with(|chosen| {
                names.with_value(|names| names.iter().filter(|name| chosen.contains(*name)).count())
            })
        });
        let toggle = move |_| {
            let is_all = count.get_untracked() == total;
            self.chosen.update(|chosen| {
                for name in names.get_value() {
                    if is_all {
                        chosen.remove(&name);
                    } else {
                        chosen.insert(name);
                    }
                }
            });
        };
        view! {
            <label class="check" class:operation-head=is_heading>
                <input
                    type="checkbox"
                    disabled=total == 0
                    prop:checked=move || total != 0 && count.get() == total
                    prop:indeterminate=move || count.get() != 0 && count.get() < total
                    on:change=toggle
                />
                <span class="mono">{label}</span>
            </label>
        }
        .into_any()
    }
}

/// The names of a later preview's tools, by those that they had.
fn renamed(before: Option<&ImportPreview>, after: &ImportPreview) -> BTreeMap<String, String> {
    let after: BTreeMap<&str, &str> = after
        .operations
        .iter()
        .map(|one| (one.pointer.as_str(), one.tool.as_str()))
        .collect();
    let before = before.iter().flat_map(|preview| &preview.operations);
    before
        .filter_map(|one| Some((one.tool.clone(), (*after.get(one.pointer.as_str())?).to_owned())))
        .collect()
}

fn possible(operations: &[ImportedOperation]) -> Vec<String> {
    let possible = operations.iter().filter(|one| can_be_chosen(one));
    possible.map(|one| one.tool.clone()).collect()
}

/// The operations by a word of theirs, in the order in which the words appear.
fn by(
    operations: Vec<ImportedOperation>,
    word: impl Fn(&ImportedOperation) -> String,
) -> Vec<(String, Vec<ImportedOperation>)> {
    let mut all: Vec<(String, Vec<ImportedOperation>)> = Vec::new();
    for one in operations {
        let word = word(&one);
        match all.iter_mut().find(|(known, _)| *known == word) {
            Some((_, operations)) => operations.push(one),
            None => all.push((word, vec![one])),
        }
    }
    all
}

/// Why an operation cannot become a tool, what is to be known of the tool (unfolded if `is_open`), and how the API lets callers in.
pub(super) fn about(one: &ImportedOperation, is_open: bool) -> AnyView {
    let reason = one.reason.clone();
    let notes: Vec<_> = one
        .notes
        .iter()
        .map(|note| view! { <li>{note.clone()}</li> })
        .collect();
    let notes = (!notes.is_empty()).then(|| {
        view! {
            <details open=is_open>
                <summary>{counted(notes.len(), "note")}</summary>
                <ul class="problem-faults">{notes}</ul>
            </details>
        }
    });
    let security = (!one.security.is_empty())
        .then(|| view! { <p class="muted">{t("Asks for ")} {ways_in(&one.security)}</p> });
    view! {
        {reason.map(|reason| view! { <p class="field-error">{reason}</p> })}
        {notes}
        {security}
    }
    .into_any()
}

fn ways_in(security: &[Vec<ImportSecurity>]) -> String {
    let ways = security.iter().map(|together| {
        let things = together.iter().map(|one| {
            let missing = if one.supported { "" } else { t(" (not supported)") };
            format!("{}{missing}", one.what)
        });
        let things = things.collect::<Vec<_>>().join(t(" and "));
        if things.is_empty() {
            t("nothing").to_owned()
        } else {
            things
        }
    });
    ways.collect::<Vec<_>>().join(t(", or "))
}

/// An operation's line in a report.
pub(super) fn name_of(one: &ImportedOperation) -> AnyView {
    operation_name(&one.method, &one.path)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolgate_api::imports::ImportPreview;

    use super::renamed;

    fn preview(tools: &[(&str, &str)]) -> ImportPreview {
        let operation = |(pointer, tool): &(&str, &str)| {
            json!({
                "method": "GET", "path": "/", "pointer": pointer, "tags": [], "deprecated": false, "tool": tool, "outcome": "new",
                "notes": [], "security": []
            })
        };
        let operations: Vec<_> = tools.iter().map(operation).collect();
        serde_json::from_value(json!({
            "title": "", "version": "", "format": "openapi31", "total": 2, "operations": operations, "hosts": [], "problems": [],
            "warnings": []
        }))
        .unwrap()
    }

    #[test]
    fn another_prefix_names_the_same_operations() {
        let before = preview(&[("/a", "login"), ("/b", "getMe"), ("/c", "gone")]);
        let after = preview(&[("/b", "x_getMe"), ("/a", "x_login"), ("/d", "x_new")]);
        let names: Vec<_> = renamed(Some(&before), &after).into_iter().collect();
        let expected = [("getMe", "x_getMe"), ("login", "x_login")];
        assert_eq!(names, expected.map(|(old, new)| (old.to_owned(), new.to_owned())));
    }
}
