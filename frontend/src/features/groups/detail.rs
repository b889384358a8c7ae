//! One group: its description and condition, its holders; renaming and deleting with a preview.

use leptos::prelude::*;
use toolgate_api::groups::{Group, NameEffects, PutGroup, RenameName};

use super::cost::cost;
use crate::action::Action;
use crate::api::{Ask, Body, in_project, with_query};
use crate::components::{
    Badge, Confirm, Dialog, EditorHandle, Field, Placement, Tags, TextArea, TextInput, Toasts, Tone, fact,
    facts, word,
};
use crate::expectations;
use crate::language::{t, tf};
use crate::loaded::Loaded;
use crate::reactive::{When, effect, part, text};
use crate::session::{Permission, Session};
use crate::url::UrlParam;

/// The drawer with the group that the address names.
#[component]
pub(super) fn GroupDetail(
    /// The project's id.
    project: Memo<String>,
    /// The group's name.
    chosen: UrlParam,
    /// Something about it was changed.
    #[prop(into)]
    on_changed: Callback<()>,
) -> impl IntoView {
    let session = Session::get();
    let open = chosen.drawer();
    let path = move |parts: &[&str]| {
        let name = chosen.get();
        let mut all = vec!["groups", name.as_str()];
        all.extend(parts);
        in_project(&project.get(), &all)
    };
    let loaded = Loaded::new(move || {
        if chosen.get().is_empty() {
            String::new()
        } else {
            path(&[])
        }
    });
    let description = RwSignal::new(String::new());
    let condition = RwSignal::new(String::new());
    let new_name = RwSignal::new(String::new());
    let effects = RwSignal::new(None::<NameEffects>);
    let saving = Action::new();
    let [looking, moving] = [(); 2].map(|()| Action::new());
    let [ignored, ignored_saving] = [(); 2].map(|()| RwSignal::new(false));
    let toasts = Toasts::get();
    let handle = EditorHandle::new();
    effect(move || {
        effects.set(None);
        ignored_saving.set(false);
        let group = loaded.read::<Group>();
        description.set(
            group
                .as_ref()
                .map(|group| group.description.clone())
                .unwrap_or_default(),
        );
        condition.set(group.and_then(|group| group.condition).unwrap_or_default());
        new_name.set(chosen.get());
    });
    let is_same_name = move || new_name.with(|name| name.trim().is_empty() || name.trim() == chosen.get());
    let is_declared = move || loaded.read::<Group>().is_some_and(|group| group.declared);
    let save = move |_| {
        let body = Body::json(&PutGroup {
            description: description.get_untracked().trim().to_owned(),
            condition: Some(condition.get_untracked().trim().to_owned()).filter(|text| !text.is_empty()),
        });
        let query = [expectations::ignoring(ignored_saving)];
        let ask = Ask::put(with_query(untrack(|| path(&[])), &query), body);
        let ask = if untrack(is_declared) {
            ask.if_match(loaded.etag())
        } else {
            ask.if_new()
        };
        saving.send(ask, move |_| {
            toasts.done(t("The group is saved."));
            loaded.reload();
            on_changed.run(());
        });
    };
    // What renaming or deleting touches is looked at first.
    let is_rename = RwSignal::new(false);
    let asking = RwSignal::new(false);
    let request = move |query: &[(&str, &str)]| {
        if is_rename.get_untracked() {
            let body = Body::json(&RenameName {
                to: new_name.get_untracked().trim().to_owned(),
            });
            Ask::post(with_query(untrack(|| path(&["rename"])), query), body).if_match("*")
        } else {
            Ask::delete(with_query(untrack(|| path(&[])), query)).if_match("*")
        }
    };
    let ask = move |rename: bool| {
        is_rename.set(rename);
        effects.set(None);
        ignored.set(false);
        moving.error.set(None);
        // What it would break is said when it is done, with a way to do it all the same.
        let query = [("dry_run", "true"), ("ignore_policy_tests", "true")];
        looking.send(request(&query), move |answer| {
            effects.set(looking.read(&answer));
            asking.set(true);
        });
    };
    let confirm = move |()| {
        moving.send(request(&[expectations::ignoring(ignored)]), move |_| {
            asking.set(false);
            if is_rename.get_untracked() {
                toasts.done(t("Renamed everywhere."));
                chosen.push(new_name.get_untracked().trim());
            } else {
                toasts.done(t("The group was deleted, and removed from all tools."));
                open.set(false);
            }
            on_changed.run(());
        });
    };
    let question = text(move || {
        if is_rename.get() {
            tf!(
                "Rename {name} to {new_name}?",
                name = chosen.get(),
                new_name = new_name.get().trim()
            )
        } else {
            tf!("Delete {name}?", name = chosen.get())
        }
    });
    let verb = text(move || {
        if is_rename.get() {
            t("Rename the group")
        } else {
            t("Delete the group")
        }
        .to_owned()
    });
    let may_change = move || session.may(&project.get(), Permission::ManagePolicy);
    view! {
        <Dialog open title=Signal::derive(move || chosen.get()) placement=Placement::Drawer>
            <div class="dialog-body">
                {loaded.placeholder_or(t("the group"), t("There is no such group yet: saving declares it."))}
                {part(move || loaded.read::<Group>().map(about).into_any())}
                <When test=move || may_change() && loaded.is_known()>
                    <section class="stack">
                        <h3>{t("Declaration")}</h3>
                        <Field id="group-description" label=t("Description") help=t("For people, and for agents that look for groups.")>
                            <TextInput id="group-description" value=description max="500" />
                        </Field>
                        <Field
                            id="group-condition"
                            label=t("Condition (CEL)")
                            help=t("The group is closed while it does not hold, and when it cannot be evaluated. For example: now.getHours('Europe/Berlin') >= 8")
                            guide="groups-and-states#conditions"
                        >
                            <TextArea id="group-condition" value=condition rows=3 mono=true />
                        </Field>
                        {saving.refusal(handle)}
                        {expectations::escape(
                            t("Save it all the same, although policy tests would fail"),
                            ignored_saving,
                            move || saving.error.with(expectations::refused),
                        )}
                        <div class="row">
                            <button
                                type="button"
                                class="button button-primary"
                                disabled=move || saving.busy.get()
                                on:click=save
                            >
                                {t("Save")}
                            </button>
                        </div>
                    </section>
                    <section class="stack">
                        <h3>{t("Rename or delete")}</h3>
                        <Field id="group-name" label=t("New name") help=t("In all tools, children, grants, sessions, tests and limits at once.") guide="groups-and-states#renaming-and-removing">
                            <TextInput id="group-name" value=new_name mono=true max="128" />
                        </Field>
                        <div class="row">
                            <button
                                type="button"
                                class="button"
                                disabled=move || looking.busy.get() || is_same_name()
                                on:click=move |_| ask(true)
                            >
                                {t("Rename")}
                            </button>
                            <button
                                type="button"
                                class="button"
                                disabled=move || looking.busy.get()
                                on:click=move |_| ask(false)
                            >
                                {t("Delete")}
                            </button>
                        </div>
                        {looking.refusal(handle)}
                    </section>
                </When>
            </div>
            <Confirm
                open=asking
                title=question
                verb
                is_danger=Signal::derive(move || !is_rename.get())
                action=moving
                on_confirm=confirm
            >
                {part(move || effects.get().map(preview).into_any())}
                {expectations::escape(
                    t("Do it all the same, although policy tests would fail"),
                    ignored,
                    move || moving.error.with(expectations::refused),
                )}
            </Confirm>
        </Dialog>
    }
}

fn about(group: Group) -> AnyView {
    let status = if group.open {
        view! { <Badge tone=Tone::Good text=t("open") /> }.into_any()
    } else {
        let by = group
            .closed_by
            .map(|by| tf!(" by {group}: {reason}", group = by.group, reason = by.reason));
        view! { <Badge tone=Tone::Bad text=t("closed") /> {by} }.into_any()
    };
    let holders: Vec<_> = group
        .holders
        .unwrap_or_default()
        .into_iter()
        .map(|holder| {
            let role = word(&holder.role);
            tf!(
                "{name} ({role} through {via})",
                name = holder.name,
                role,
                via = holder.via
            )
        })
        .collect();
    facts(vec![
        fact(t("Now"), status),
        fact(
            t("Tools"),
            tf!(
                "{tools}, {all} with children",
                tools = group.tools,
                all = group.tools_with_children
            ),
        ),
        fact(t("Tokens"), cost(group.listed_tools, group.tokens)),
        fact(t("Children"), view! { <Tags names=group.children /> }),
        fact(t("Held by"), view! { <Tags names=holders /> }),
    ])
}

/// What a change would touch.
fn preview(effects: NameEffects) -> AnyView {
    let tools: Vec<_> = effects.tools.into_iter().map(|tool| tool.tool).collect();
    let counts = tf!(
        "{tools} tools, {grants} grants, {sessions} sessions",
        tools = effects.tool_count,
        grants = effects.grant_count,
        sessions = effects.session_count
    );
    let mut lines = vec![
        fact(t("Touches"), counts),
        fact(t("Tools"), view! { <Tags names=tools /> }),
    ];
    if !effects.unreachable_tools.is_empty() {
        lines.push(fact(
            t("Unreachable then"),
            view! { <Tags names=effects.unreachable_tools /> },
        ));
    }
    if !effects.policy_tests.is_empty() {
        lines.push(fact(
            t("Policy tests"),
            view! { <Tags names=effects.policy_tests /> },
        ));
    }
    let warnings: Vec<_> = effects
        .warnings
        .into_iter()
        .map(|text| view! { <p class="note">{text}</p> })
        .collect();
    view! {
        <div class="stack" role="status">
            {facts(lines)} {warnings}
        </div>
    }
    .into_any()
}
