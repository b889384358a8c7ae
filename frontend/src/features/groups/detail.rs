//! One group: its description and condition, its holders; renaming and deleting with a preview.

use leptos::prelude::*;
use toolgate_api::groups::{Group, NameEffects, PutGroup, RenameName};

use crate::action::Action;
use crate::api::{Ask, Body, in_project};
use crate::components::{
    Badge, Dialog, EditorHandle, Field, Placement, Tags, TextArea, TextInput, Toasts, Tone, fact, facts, word,
};
use crate::loaded::Loaded;
use crate::reactive::{When, effect, part};
use crate::session::{Need, Session};
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
    let moving = Action::new();
    let toasts = Toasts::get();
    let handle = EditorHandle::new();
    effect(move || {
        effects.set(None);
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
    let is_declared = move || loaded.read::<Group>().is_some_and(|group| group.declared);
    let save = move |_| {
        let body = Body::json(&PutGroup {
            description: description.get_untracked().trim().to_owned(),
            condition: Some(condition.get_untracked().trim().to_owned()).filter(|text| !text.is_empty()),
        });
        let ask = Ask::put(untrack(|| path(&[])), body);
        let ask = if untrack(is_declared) {
            ask.if_match(loaded.etag())
        } else {
            ask.if_new()
        };
        saving.send(ask, move |_| {
            toasts.done("The group is saved.");
            loaded.reload();
            on_changed.run(());
        });
    };
    let rename = Callback::new(move |dry_run: bool| {
        let body = Body::json(&RenameName {
            to: new_name.get_untracked().trim().to_owned(),
        });
        let query = if dry_run { "?dry_run=true" } else { "" };
        let address = untrack(|| path(&["rename"])) + query;
        moving.send(Ask::post(address, body).if_match("*"), move |answer| {
            if dry_run {
                effects.set(moving.read(&answer));
            } else {
                toasts.done("Renamed everywhere.");
                chosen.push(new_name.get_untracked().trim());
                on_changed.run(());
            }
        });
    });
    let delete = Callback::new(move |dry_run: bool| {
        let query = if dry_run { "?dry_run=true" } else { "" };
        let address = untrack(|| path(&[])) + query;
        moving.send(Ask::delete(address).if_match("*"), move |answer| {
            if dry_run {
                effects.set(moving.read(&answer));
            } else {
                toasts.done("The group is gone, from all tools too.");
                open.set(false);
                on_changed.run(());
            }
        });
    });
    let may_change = move || session.may(&project.get(), Need::Own);
    view! {
        <Dialog open title=Signal::derive(move || chosen.get()) placement=Placement::Drawer>
            <div class="dialog-body">
                {loaded.placeholder_or("the group", "There is no such group yet: saving declares it.")}
                {part(move || loaded.read::<Group>().map(about).into_any())}
                <When test=may_change>
                    <section class="stack">
                        <h3>"Declaration"</h3>
                        <Field id="group-description" label="Description" help="For people, and for agents that look for groups.">
                            <TextInput id="group-description" value=description max="500" />
                        </Field>
                        <Field
                            id="group-condition"
                            label="Condition (CEL)"
                            help="The group is closed while it does not hold, and when it cannot be evaluated. For example: now.getHours('Europe/Berlin') >= 8"
                        >
                            <TextArea id="group-condition" value=condition rows=3 mono=true />
                        </Field>
                        {saving.refusal(handle)}
                        <div class="row">
                            <button
                                type="button"
                                class="button button-primary"
                                disabled=move || saving.busy.get() || !loaded.is_known()
                                on:click=save
                            >
                                "Save"
                            </button>
                        </div>
                    </section>
                    <section class="stack">
                        <h3>"Rename or delete"</h3>
                        <Field id="group-name" label="New name" help="In all tools, children, grants, sessions, tests and limits at once.">
                            <TextInput id="group-name" value=new_name mono=true max="128" />
                        </Field>
                        <div class="row">
                            <button type="button" class="button" on:click=move |_| rename.run(true)>
                                "Preview renaming"
                            </button>
                            <button type="button" class="button" on:click=move |_| rename.run(false)>
                                "Rename"
                            </button>
                            <button type="button" class="button" on:click=move |_| delete.run(true)>
                                "Preview deleting"
                            </button>
                            <button type="button" class="button button-danger" on:click=move |_| delete.run(false)>
                                "Delete"
                            </button>
                        </div>
                        {moving.refusal(handle)}
                        {part(move || effects.get().map(preview).into_any())}
                    </section>
                </When>
            </div>
        </Dialog>
    }
}

fn about(group: Group) -> AnyView {
    let standing = if group.open {
        view! { <Badge tone=Tone::Good text="open" /> }.into_any()
    } else {
        let by = group
            .closed_by
            .map(|by| format!(" by {}: {}", by.group, by.reason));
        view! { <Badge tone=Tone::Bad text="closed" /> {by} }.into_any()
    };
    let holders: Vec<_> = group
        .holders
        .unwrap_or_default()
        .into_iter()
        .map(|holder| {
            format!(
                "{} ({} through {})",
                holder.principal,
                word(&holder.role),
                holder.via
            )
        })
        .collect();
    facts(vec![
        fact("Now", standing),
        fact(
            "Tools",
            format!("{}, {} with children", group.tools, group.tools_with_children),
        ),
        fact("Children", view! { <Tags names=group.children /> }),
        fact("Held by", view! { <Tags names=holders /> }),
    ])
}

/// What a change would touch.
fn preview(effects: NameEffects) -> AnyView {
    let tools: Vec<_> = effects.tools.into_iter().map(|tool| tool.tool).collect();
    let counts = format!(
        "{} tools, {} grants, {} sessions",
        effects.tool_count, effects.grant_count, effects.session_count
    );
    let mut lines = vec![
        fact("Touches", counts),
        fact("Tools", view! { <Tags names=tools /> }),
    ];
    if !effects.unreachable_tools.is_empty() {
        lines.push(fact(
            "Unreachable then",
            view! { <Tags names=effects.unreachable_tools /> },
        ));
    }
    if !effects.policy_tests.is_empty() {
        lines.push(fact(
            "Policy tests",
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
