//! One principal's grant: role, groups, ends.

use chrono::{DateTime, Utc};
use leptos::prelude::*;
use toolgate_api::auth::Role;
use toolgate_api::permissions::{GrantTerms, GrantedGroup, Permission};

use crate::action::Action;
use crate::api::{Ask, Body, in_project, with_query};
use crate::browser::iso;
use crate::components::{
    Confirm, Dialog, EditorHandle, Field, Placement, Select, TextArea, TextInput, Toasts, word,
};
use crate::expectations;
use crate::features::simulator::parse_time;
use crate::language::{marked, t, tf};
use crate::loaded::Loaded;
use crate::reactive::{When, effect, part, text};
use crate::routes::{Page, PageKind};
use crate::session::{Permission as ProjectPermission, Session};
use crate::url::UrlParam;

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

/// The drawer with the grant of the principal that the address names.
#[component]
pub(super) fn GrantEditor(
    /// The project's id.
    project: Memo<String>,
    /// The principal.
    chosen: UrlParam,
    /// Its grant was changed.
    #[prop(into)]
    on_changed: Callback<()>,
) -> impl IntoView {
    let session = Session::get();
    let open = chosen.drawer();
    // Groups that a refused request lacked, from the link of its remedy.
    let wanted = UrlParam::new("grant");
    effect(move || {
        if chosen.get().is_empty() {
            wanted.replace("");
        }
    });
    let path = move || in_project(&project.get(), &["permissions", &chosen.get()]);
    let loaded = Loaded::new(move || {
        if chosen.get().is_empty() {
            String::new()
        } else {
            path()
        }
    });
    let role = RwSignal::new("agent".to_owned());
    let groups = RwSignal::new(String::new());
    let expires = RwSignal::new(String::new());
    let action = Action::new();
    let removing = Action::new();
    let [asking, ignored] = [(); 2].map(|()| RwSignal::new(false));
    let toasts = Toasts::get();
    let handle = EditorHandle::new();
    effect(move || {
        ignored.set(false);
        let permission = loaded.read::<Permission>();
        role.set(
            permission
                .as_ref()
                .map_or_else(|| "agent".to_owned(), |found| word(&found.role)),
        );
        let lines: Vec<_> = permission
            .as_ref()
            .map(|found| found.groups.iter().map(line).collect())
            .unwrap_or_default();
        groups.set(with_missing(lines, &wanted.get_untracked()));
        expires.set(
            permission
                .and_then(|found| found.expires_at)
                .map(iso)
                .unwrap_or_default(),
        );
    });
    let exists = move || loaded.is_there();
    let fault = RwSignal::new(None::<String>);
    let may_change = move || session.may(&project.get(), ProjectPermission::ManageAccess);
    let save = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        // What is meant as an end and is none must not become a grant without one.
        let read =
            groups.with_untracked(|text| text.lines().filter_map(parse).collect::<Result<Vec<_>, _>>());
        let end = expires.with_untracked(|text| end_of(text));
        let (groups, expires_at) = match (read, end) {
            (Ok(groups), Ok(end)) => (groups, end),
            (Err(text), _) | (_, Err(text)) => {
                fault.set(Some(tf!(
                    "\"{text}\" is no time. Write one like 2026-12-31T18:00:00Z.",
                    text
                )));
                return;
            }
        };
        fault.set(None);
        let terms = GrantTerms {
            role: ROLES
                .iter()
                .find(|(_, key, _)| *key == role.get_untracked())
                .map_or(Role::Agent, |(role, _, _)| *role),
            groups,
            expires_at,
        };
        let ask = Ask::put(
            with_query(untrack(path), &[expectations::ignoring(ignored)]),
            Body::json(&terms),
        );
        let ask = if untrack(exists) {
            ask.if_match(loaded.etag())
        } else {
            ask.if_new()
        };
        action.send(ask, move |_| {
            toasts.done(t("The grant is in force."));
            open.set(false);
            on_changed.run(());
        });
    };
    let remove = move |()| {
        let path = with_query(untrack(path), &[expectations::ignoring(ignored)]);
        removing.send(Ask::delete(path).if_match(loaded.etag()), move |_| {
            toasts.done(t("The grant was removed."));
            asking.set(false);
            open.set(false);
            on_changed.run(());
        });
    };
    let options = Signal::stored(
        ROLES
            .map(|(_, key, text)| (key.to_owned(), t(text).to_owned()))
            .to_vec(),
    );
    let name = move || {
        loaded
            .read::<Permission>()
            .map_or_else(|| chosen.get(), |permission| permission.name)
    };
    view! {
        <Dialog open title=Signal::derive(name) placement=Placement::Drawer>
            <form on:submit=save>
                <div class="dialog-body">
                    {loaded.placeholder_or(t("the grant"), t("There is no grant in this project yet."))}
                    <fieldset class="stack" disabled=move || !may_change()>
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
                        <TextArea id="grant-groups" value=groups rows=8 mono=true />
                    </Field>
                    <Field id="grant-expires" label=t("Everything ends") help=t("A time in RFC 3339, or empty.")>
                        <TextInput id="grant-expires" value=expires mono=true placeholder="2026-12-31T18:00:00Z" max="40" />
                    </Field>
                    </fieldset>
                    {part(move || fault.get().map(|text| view! { <p class="field-error" role="alert">{text}</p> }).into_any())}
                    {action.refusal(handle)}
                    {expectations::escape(
                        t("Save it all the same, although policy tests would fail"),
                        ignored,
                        move || action.error.with(expectations::refused),
                    )}
                    <p>
                        <a href=move || {
                            Page::of_project(project.get(), PageKind::Simulator).path() + "?principal="
                                + &crate::browser::encode(&chosen.get())
                        }>{t("What they would see, and why")}</a>
                    </p>
                </div>
                <When test=may_change>
                    <footer class="dialog-foot">
                        <When test=exists>
                            <button
                                type="button"
                                class="button button-danger"
                                on:click=move |_| {
                                    removing.error.set(None);
                                    ignored.set(false);
                                    asking.set(true);
                                }
                            >
                                {t("Remove the grant")}
                            </button>
                        </When>
                        <button
                            type="submit"
                            class="button button-primary"
                            disabled=move || action.busy.get() || !loaded.is_known()
                        >
                            {t("Save")}
                        </button>
                    </footer>
                </When>
            </form>
            <Confirm
                open=asking
                title=text(move || tf!("Remove the grant of {name}?", name = name()))
                verb=t("Remove")
                action=removing
                on_confirm=remove
            >
                <p>{t("From now on it can neither manage nor call anything in this project, running sessions included.")}</p>
                {expectations::escape(
                    t("Remove it all the same, although policy tests would fail"),
                    ignored,
                    move || removing.error.with(expectations::refused),
                )}
            </Confirm>
        </Dialog>
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
