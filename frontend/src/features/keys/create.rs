//! Making a key, and showing its secret this once.

use leptos::prelude::*;
use toolgate_api::auth::Role;
use toolgate_api::keys::{CreateKey, CreatedKey};

use super::on_bus::OnBus;
use crate::action::Action;
use crate::api::{Ask, Body, in_project};
use crate::components::{Field, FormDialog, NameInput, NamesOf, Select, ShownOnce, TextInput};
use crate::language::{marked, t};
use crate::reactive::effect;

/// The roles that a key may have, as they travel and as people read them.
const ROLES: [(Role, &str, &str); 5] = [
    (
        Role::Agent,
        "agent",
        marked("Agent: sees and calls the tools of its groups"),
    ),
    (Role::Viewer, "viewer", marked("Viewer: reads definitions too")),
    (Role::Editor, "editor", marked("Editor: changes tools (for CI)")),
    (Role::Auditor, "auditor", marked("Auditor: reads the record")),
    (Role::Owner, "owner", marked("Owner: everything in the project")),
];
/// The group of tools that name none.
const DEFAULT: &str = "default";
/// Life times to choose from, in seconds.
const LIVES: [(&str, &str); 4] = [
    ("", marked("Until it is revoked")),
    ("86400", marked("1 day")),
    ("2592000", marked("30 days")),
    ("31536000", marked("1 year")),
];

/// The dialog.
#[component]
pub(crate) fn CreateKeyDialog(
    /// The project's id.
    project: Memo<String>,
    /// Whether it is open.
    open: RwSignal<bool>,
    /// The groups to begin with, separated by commas.
    #[prop(into, default = DEFAULT.into())]
    groups: Signal<String>,
    /// A key was made; its id.
    #[prop(into)]
    on_created: Callback<String>,
) -> impl IntoView {
    let name = RwSignal::new(String::new());
    let first_groups = groups;
    let groups = RwSignal::new(String::new());
    let role = RwSignal::new("agent".to_owned());
    let life = RwSignal::new(String::new());
    let bus = OnBus::new();
    let secret = shown_once();
    let action = Action::new();
    effect(move || {
        if open.get() {
            groups.set(first_groups.get_untracked());
        } else {
            name.set(String::new());
            bus.clear();
        }
    });
    let create = move |()| {
        let request = CreateKey {
            name: name.get_untracked().trim().to_owned(),
            role: ROLES
                .iter()
                .find(|(_, key, _)| *key == role.get_untracked())
                .map_or(Role::Agent, |(role, _, _)| *role),
            groups: groups
                .get_untracked()
                .split(',')
                .map(str::trim)
                .filter(|group| !group.is_empty())
                .map(str::to_owned)
                .collect(),
            expires_in_s: life.get_untracked().parse().ok(),
            bus: bus.get(),
        };
        let path = in_project(&project.get_untracked(), &["keys"]);
        action.send(Ask::post(path, Body::json(&request)), move |answer| {
            if let Some(created) = action.read::<CreatedKey>(&answer) {
                secret.text.set(Some(created.secret));
                on_created.run(created.key.id.to_string());
            }
        });
    };
    let roles = Signal::stored(
        ROLES
            .map(|(_, key, text)| (key.to_owned(), t(text).to_owned()))
            .to_vec(),
    );
    let lives = Signal::stored(
        LIVES
            .map(|(key, text)| (key.to_owned(), t(text).to_owned()))
            .to_vec(),
    );
    view! {
        <FormDialog
            open
            title=t("New key")
            verb=t("Create the key")
            action
            once=secret
            ready=Signal::derive(move || name.with(|name| !name.trim().is_empty()))
            on_submit=create
        >
            <Field id="key-name" label=t("Name") help=t("Who uses it, for people.")>
                <TextInput id="key-name" value=name placeholder="research agent" max="100" />
            </Field>
            <Field id="key-groups" label=t("Groups") help=t("What it may ask for, separated by commas. * means all.") guide="permissions#grants">
                <NameInput id="key-groups" value=groups of=NamesOf::Groups many=true />
            </Field>
            <Field id="key-role" label=t("Role") help=t("What it may manage.") guide="permissions#roles">
                <Select
                    id="key-role"
                    value=role
                    options=roles
                    on_change=move |chosen| role.set(chosen)
                />
            </Field>
            <Field id="key-life" label=t("Expires") guide="permissions#keys">
                <Select
                    id="key-life"
                    value=life
                    options=lives
                    on_change=move |chosen| life.set(chosen)
                />
            </Field>
            {bus.view()}
        </FormDialog>
    }
}

/// The place of a key's secret.
pub(super) fn shown_once() -> ShownOnce {
    ShownOnce::new(
        t("Key"),
        t("Copy the key now. It is shown this once and kept nowhere."),
    )
}
