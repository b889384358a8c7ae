//! Finding a user to make a member.

use leptos::prelude::*;
use toolgate_api::permissions::PermissionCandidates;

use crate::api::{in_project, with_query};
use crate::components::{Dialog, Field, TextInput};
use crate::language::t;
use crate::loaded::Loaded;
use crate::reactive::part;

/// The dialog.
#[component]
pub(super) fn AddMember(
    /// The project's id.
    project: Memo<String>,
    /// Whether it is open.
    open: RwSignal<bool>,
    /// A person was chosen.
    #[prop(into)]
    on_chosen: Callback<String>,
) -> impl IntoView {
    let q = RwSignal::new(String::new());
    let found = Loaded::new(move || {
        // The server finds nothing by less.
        if open.get() && q.with(|q| q.trim().chars().count() >= 2) {
            let path = in_project(&project.get(), &["permissions", "candidates"]);
            with_query(path, &[("q", q.get().trim())])
        } else {
            String::new()
        }
    });
    let rows = move || {
        let items = found
            .read::<PermissionCandidates>()
            .map(|found| found.items)
            .unwrap_or_default();
        items
            .into_iter()
            .map(|candidate| {
                let principal = candidate.principal;
                view! {
                    <li class="row row-spread">
                        <span>
                            <span class="mono">{candidate.username}</span>
                            " "
                            <span class="muted">{candidate.display_name}</span>
                        </span>
                        <button
                            type="button"
                            class="button button-small"
                            on:click=move |_| {
                                open.set(false);
                                on_chosen.run(principal.clone());
                            }
                        >
                            {if candidate.granted { t("Change") } else { t("Choose") }}
                        </button>
                    </li>
                }
            })
            .collect::<Vec<_>>()
    };
    view! {
        <Dialog open title=t("Add a member")>
            <div class="dialog-body">
                <Field id="member-q" label=t("User") help=t("Part of the user name, two letters at least.")>
                    <TextInput id="member-q" value=q max="64" />
                </Field>
                {part(move || {
                    if q.with(|q| q.trim().chars().count() >= 2) { found.placeholder(t("the users")) } else { ().into_any() }
                })}
                <ul class="stack">{rows}</ul>
            </div>
        </Dialog>
    }
}
