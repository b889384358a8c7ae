//! Replacing the secret of a key, while its holder changes over.

use leptos::prelude::*;
use toolgate_api::keys::{CreatedKey, Key, RotateKey};

use super::create::shown_once;
use crate::action::Action;
use crate::api::{Ask, Body, in_project};
use crate::components::{Field, FormDialog, Select};
use crate::language::{marked, t, tf};
use crate::reactive::text;

/// How long the old secret goes on working, in seconds.
const OVERLAPS: [(&str, &str); 4] = [
    ("3600", marked("1 hour more")),
    ("86400", marked("1 day more")),
    ("604800", marked("7 days more")),
    ("0", marked("Not at all: it ends at once")),
];

/// The dialog for the key that is chosen.
#[component]
pub(super) fn RotateKeyDialog(
    /// The project's id.
    project: Memo<String>,
    /// The key.
    key: RwSignal<Option<Key>>,
    /// Whether it is open.
    open: RwSignal<bool>,
    /// The key has a new secret.
    #[prop(into)]
    on_rotated: Callback<()>,
) -> impl IntoView {
    let overlap = RwSignal::new(OVERLAPS[1].0.to_owned());
    let secret = shown_once();
    let action = Action::new();
    let rotate = move |()| {
        let Some(id) = key.with_untracked(|key| key.as_ref().map(|key| key.id.to_string())) else {
            return;
        };
        let body = Body::json(&RotateKey {
            overlap_s: overlap.get_untracked().parse().unwrap_or(0),
        });
        let path = in_project(&project.get_untracked(), &["keys", &id, "rotate"]);
        action.send(Ask::post(path, body).if_match("*"), move |answer| {
            secret
                .text
                .set(action.read::<CreatedKey>(&answer).map(|created| created.secret));
            on_rotated.run(());
        });
    };
    let options = Signal::stored(
        OVERLAPS
            .map(|(key, text)| (key.to_owned(), t(text).to_owned()))
            .to_vec(),
    );
    let name = move || {
        key.with(|key| key.as_ref().map(|key| key.name.clone()))
            .unwrap_or_default()
    };
    view! {
        <FormDialog
            open
            title=text(move || tf!("Rotate {name}", name = name()))
            verb=t("Create a new secret")
            action
            once=secret
            on_submit=rotate
        >
            <p>{t("The key keeps its name, role and groups, and gets a new secret.")}</p>
            <Field id="key-overlap" label=t("The old secret works") guide="permissions#keys">
                <Select
                    id="key-overlap"
                    value=overlap
                    options
                    on_change=move |chosen: String| overlap.set(chosen)
                />
            </Field>
        </FormDialog>
    }
}
