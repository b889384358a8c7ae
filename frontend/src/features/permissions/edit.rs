//! The drawer with one principal's grant.

use leptos::prelude::*;
use toolgate_api::permissions::{GrantTerms, Permission};

use super::terms::TermsFields;
use crate::action::Action;
use crate::api::{Ask, Body, in_project, with_query};
use crate::components::{Confirm, Dialog, EditorHandle, Placement, Toasts};
use crate::expectations;
use crate::language::{marked, t, tf};
use crate::loaded::Loaded;
use crate::reactive::{When, condition, effect, part, text};
use crate::routes::{Page, PageKind};
use crate::session::{Permission as ProjectPermission, Session};
use crate::url::UrlParam;

/// What is said of a principal without a grant.
const WITHOUT: &str = marked("There is no grant in this project yet.");

/// A user without a grant who was chosen to get one: the principal, and its name.
pub(super) type Newcomer = Option<(String, String)>;

/// The drawer with the grant of the principal that the address names.
#[component]
pub(super) fn GrantEditor(
    /// The project's id.
    project: Memo<String>,
    /// The principal.
    chosen: UrlParam,
    /// The principal, where it is known to have no grant.
    newcomer: RwSignal<Newcomer>,
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
            newcomer.set(None);
        }
    });
    let path = move || in_project(&project.get(), &["permissions", &chosen.get()]);
    let new_name = move || {
        newcomer.with(|newcomer| {
            let found = newcomer
                .as_ref()
                .filter(|(principal, _)| *principal == chosen.get());
            found.map(|(_, name)| name.clone())
        })
    };
    let is_new = condition(move || new_name().is_some());
    let loaded = Loaded::new(move || {
        if chosen.get().is_empty() || is_new.get() {
            String::new()
        } else {
            path()
        }
    });
    let terms = TermsFields::new();
    let action = Action::new();
    let removing = Action::new();
    let [asking, ignored] = [(); 2].map(|()| RwSignal::new(false));
    let toasts = Toasts::get();
    let handle = EditorHandle::new();
    effect(move || {
        ignored.set(false);
        chosen.signal().track();
        let held = loaded.read::<Permission>().map(|found| GrantTerms {
            role: found.role,
            groups: found.groups,
            expires_at: found.expires_at,
        });
        terms.set(held, &wanted.get_untracked());
    });
    let exists = move || loaded.is_there();
    let may_change = move || session.may(&project.get(), ProjectPermission::ManageAccess);
    let save = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let Some(terms) = terms.read() else {
            return;
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
    let name = move || {
        let held = loaded.read::<Permission>().map(|permission| permission.name);
        held.or_else(new_name).unwrap_or_else(|| chosen.get())
    };
    view! {
        <Dialog open title=Signal::derive(name) placement=Placement::Drawer>
            <form on:submit=save>
                <div class="dialog-body">
                    {part(move || match is_new.get() {
                        true => view! { <p class="note">{t(WITHOUT)}</p> }.into_any(),
                        false => loaded.placeholder_or(t("the grant"), t(WITHOUT)),
                    })}
                    <fieldset class="stack" disabled=move || !may_change()>
                        {terms.view(project.into())}
                    </fieldset>
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
                            disabled=move || action.busy.get() || !(is_new.get() || loaded.is_known())
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
