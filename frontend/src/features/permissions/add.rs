//! Finding a user to make a member.

use leptos::prelude::*;
use toolgate_api::permissions::{PermissionCandidate, PermissionCandidates};

use crate::api::{in_project, with_query};
use crate::components::{Dialog, Field, TextInput};
use crate::language::{t, tf};
use crate::loaded::Loaded;
use crate::reactive::{When, condition, part};
use crate::routes::{Page, PageKind};
use crate::session::Session;

/// The dialog.
#[component]
pub(super) fn AddMember(
    /// The project's id.
    project: Memo<String>,
    /// Whether it is open.
    open: RwSignal<bool>,
    /// A person was chosen.
    #[prop(into)]
    on_chosen: Callback<PermissionCandidate>,
) -> impl IntoView {
    let q = RwSignal::new(String::new());
    // The server finds nothing by less.
    let is_enough = condition(move || q.with(|q| q.trim().chars().count() >= 2));
    let found = Loaded::new(move || {
        if open.get() && is_enough.get() {
            let path = in_project(&project.get(), &["permissions", "candidates"]);
            with_query(path, &[("q", q.get().trim())])
        } else {
            String::new()
        }
    });
    let rows = move || {
        let Some(candidates) = found.read::<PermissionCandidates>() else {
            return ().into_any();
        };
        if candidates.items.is_empty() {
            return absent(&project.get(), q.get().trim());
        }
        let rows: Vec<_> = candidates
            .items
            .into_iter()
            .map(|candidate| {
                view! {
                    <li class="row row-spread">
                        <span>
                            <span class="mono">{candidate.username.clone()}</span>
                            " "
                            <span class="muted">{candidate.display_name.clone()}</span>
                        </span>
                        <button
                            type="button"
                            class="button button-small"
                            on:click=move |_| {
                                open.set(false);
                                on_chosen.run(candidate.clone());
                            }
                        >
                            {if candidate.granted { t("Change") } else { t("Choose") }}
                        </button>
                    </li>
                }
            })
            .collect();
        view! { <ul class="stack">{rows}</ul> }.into_any()
    };
    view! {
        <Dialog open title=t("Add a member")>
            <div class="dialog-body">
                <Field id="member-q" label=t("User") help=t("Part of the user name, two letters at least.")>
                    <TextInput id="member-q" value=q max="64" />
                </Field>
                <When test=is_enough>{found.placeholder(t("the users"))}</When>
                {part(rows)}
            </div>
        </Dialog>
    }
}

/// Says that no user has a name like this, and who makes one.
fn absent(project: &str, name: &str) -> AnyView {
    let way = if untrack(|| Session::get().is_system_admin()) {
        let path = Page::of_server(PageKind::Users).path();
        let href = with_query(path, &[("new", name), ("project", project)]);
        view! { <a class="button button-small" href=href>{tf!("Create the user {name}", name)}</a> }
            .into_any()
    } else {
        t("A system administrator can make one.").into_any()
    };
    view! { <p class="row" role="status">{t("No user has this text in the name.")} " " {way}</p> }.into_any()
}
