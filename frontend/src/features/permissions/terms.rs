//! The fields of a grant: role, groups, ends.

use chrono::{DateTime, Utc};
use leptos::prelude::*;
use toolgate_api::auth::Role;
use toolgate_api::permissions::{GrantTerms, GrantedGroup};

use crate::browser::iso;
use crate::components::{Field, NameInput, NamesOf, Select, TextArea, TextInput, append, word};
use crate::features::simulator::parse_time;
use crate::language::{marked, t, tf};
use crate::reactive::part;

const ROLES: [(Role, &str, &str); 5] = [
    (Role::Agent, "agent", marked("Agent: sees and calls tools")),
    (Role::Viewer, "viewer", marked("Viewer: reads definitions")),
    (Role::Editor, "editor", marked("Editor: changes tools")),
    (
        Role::Auditor,
        "auditor",
        marked("Auditor: reads the record, arguments included"),
    ),
    (Role::Owner, "owner", marked("Owner: manages everything")),
];

/// What is typed into the fields.
#[derive(Clone, Copy)]
pub(crate) struct TermsFields {
    role: RwSignal<String>,
    groups: RwSignal<String>,
    expires: RwSignal<String>,
    fault: RwSignal<Option<String>>,
}

impl TermsFields {
    /// Those of an agent without groups.
    pub(crate) fn new() -> Self {
        Self {
            role: RwSignal::new(ROLES[0].1.to_owned()),
            groups: RwSignal::new(String::new()),
            expires: RwSignal::new(String::new()),
            fault: RwSignal::new(None),
        }
    }

    /// Shows a grant, or that of an agent without groups; with further groups, separated by commas.
    pub(crate) fn set(self, terms: Option<GrantTerms>, wanted: &str) {
        let terms = terms.unwrap_or(GrantTerms {
            role: Role::Agent,
            groups: Vec::new(),
            expires_at: None,
        });
        self.fault.set(None);
        self.role.set(word(&terms.role));
        self.groups
            .set(with_missing(terms.groups.iter().map(line).collect(), wanted));
        self.expires.set(terms.expires_at.map(iso).unwrap_or_default());
    }

    /// The grant; none when a time is none, which is said in the form.
    pub(crate) fn read(self) -> Option<GrantTerms> {
        // What is meant as an end and is none must not become a grant without one.
        let read = self
            .groups
            .with_untracked(|text| text.lines().filter_map(parse).collect::<Result<Vec<_>, _>>());
        let end = self.expires.with_untracked(|text| end_of(text));
        let (groups, expires_at) = match (read, end) {
            (Ok(groups), Ok(end)) => (groups, end),
            (Err(text), _) | (_, Err(text)) => {
                self.fault.set(Some(tf!(
                    "\"{text}\" is no time. Write one like 2026-12-31T18:00:00Z.",
                    text
                )));
                return None;
            }
        };
        self.fault.set(None);
        let chosen = self.role.get_untracked();
        Some(GrantTerms {
            role: ROLES
                .iter()
                .find(|(_, key, _)| *key == chosen)
                .map_or(Role::Agent, |(role, _, _)| *role),
            groups,
            expires_at,
        })
    }

    /// The fields; the groups of the project are offered.
    pub(crate) fn view(self, project: Signal<String>) -> AnyView {
        let Self {
            role,
            groups,
            expires,
            fault,
        } = self;
        let options = Signal::stored(
            ROLES
                .map(|(_, key, text)| (key.to_owned(), t(text).to_owned()))
                .to_vec(),
        );
        let group = RwSignal::new(String::new());
        view! {
            <Field id="grant-role" label=t("Role") help=t("What it may manage.") guide="permissions#roles">
                <Select
                    id="grant-role"
                    value=role
                    options
                    on_change=move |key: String| role.set(key)
                />
            </Field>
            <Field
                id="grant-groups"
                label=t("Groups")
                help=t("What it may ask for when calling, one in a line; an end may follow: write until 2026-12-31T18:00:00Z")
                guide="permissions#grants"
            >
                <TextArea id="grant-groups" value=groups rows=4 mono=true />
            </Field>
            <div
                on:keydown=move |event| {
                    // Enter would send the form.
                    if event.key() == "Enter" {
                        event.prevent_default();
                        append(groups, group);
                    }
                }
            >
                <Field id="grant-add" label=t("Add a group") help=t("It becomes a line above.")>
                    <div class="row row-field">
                        <NameInput id="grant-add" value=group of=NamesOf::Groups project=Some(project) />
                        <button type="button" class="button" on:click=move |_| append(groups, group)>
                            {t("Add")}
                        </button>
                    </div>
                </Field>
            </div>
            <Field id="grant-expires" label=t("Everything ends") help=t("A time in RFC 3339, or empty.")>
                <TextInput id="grant-expires" value=expires mono=true placeholder="2026-12-31T18:00:00Z" max="40" />
            </Field>
            {part(move || fault.get().map(|text| view! { <p class="field-error" role="alert">{text}</p> }).into_any())}
        }
        .into_any()
    }
}

/// A granted group as a line.
fn line(group: &GrantedGroup) -> String {
    match group.expires_at {
        Some(at) => format!("{} until {}", group.group, iso(at)),
        None => group.group.clone(),
    }
}

/// The lines with groups that are wanted too, separated by commas: one that is held until some time is held for good then.
fn with_missing(mut lines: Vec<String>, wanted: &str) -> String {
    for group in wanted.split(',').filter(|group| !group.is_empty()) {
        lines.retain(|line| line.split(" until ").next() != Some(group));
        lines.push(group.to_owned());
    }
    lines.join("\n")
}

/// A line as a granted group; nothing for an empty one, and the end when that is no time.
fn parse(line: &str) -> Option<Result<GrantedGroup, String>> {
    let line = line.trim();
    let (group, end) = line
        .rsplit_once(" until ")
        .map_or((line, ""), |(group, end)| (group.trim(), end));
    (!group.is_empty()).then(|| {
        Ok(GrantedGroup {
            group: group.to_owned(),
            expires_at: end_of(end)?,
        })
    })
}

/// An end that was typed: none for an empty text, which is given back when it is no time.
fn end_of(text: &str) -> Result<Option<DateTime<Utc>>, String> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    parse_time(text).map(Some).ok_or_else(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{line, parse, with_missing};

    #[test]
    fn lines_and_grants_round_trip() {
        for text in ["write", "*"] {
            assert_eq!(
                parse(text).map(|group| group.map(|group| line(&group))),
                Some(Ok(text.to_owned()))
            );
        }
        let group = parse("knowledge/read until 2026-12-31T18:00:00Z").and_then(Result::ok);
        let ends = group.and_then(|group| group.expires_at);
        assert_eq!(ends.map(|at| at.timestamp()), Some(1_798_740_000));
        assert_eq!(parse("   "), None);
    }

    #[test]
    fn wanted_groups_come_once_and_without_an_end() {
        let held = || {
            ["read", "write until 2020-12-31T18:00:00Z"]
                .map(str::to_owned)
                .to_vec()
        };
        assert_eq!(with_missing(held(), "write,plan"), "read\nwrite\nplan");
        assert_eq!(with_missing(held(), ""), held().join("\n"));
    }

    #[test]
    fn an_end_that_is_no_time_is_not_left_out() {
        assert_eq!(parse("write until tomorrow"), Some(Err("tomorrow".to_owned())));
    }
}
