//! Who is signed in, the theme, and the way out.

use leptos::prelude::*;
use leptos::task::spawn_local;
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;

use crate::api::ApiError;
use crate::components::{Icon, Menu, ProblemPanel, Symbol, ThemeSwitch};
use crate::help;
use crate::language::{t, tf};
use crate::preferences::Preferred;
use crate::reactive::{When, condition, part, text};
use crate::routes::{API_REFERENCE, Page, PageKind};
use crate::session::Session;
use crate::theme::Theme;
use crate::words::counted;

/// The menu of the signed-in person.
#[component]
pub(super) fn AccountMenu(
    /// Whether the dialog that changes one's password is open.
    changing: RwSignal<bool>,
    /// Whether the dialog of one's second factor is open.
    factor: RwSignal<bool>,
) -> impl IntoView {
    let (session, preferred) = (Session::get(), Preferred::get());
    let name = Memo::new(move |_| session.me().map(|me| me.name).unwrap_or_default());
    let role = move || match session.me() {
        Some(me) if me.system_admin => t("System administrator").to_owned(),
        Some(me) => tf!(
            "Member of {projects}",
            projects = counted(me.projects.len(), "project")
        ),
        None => String::new(),
    };
    // Who signs in at a provider has both there.
    let has_password = condition(move || session.me().is_some_and(|me| me.sign_in_way.is_none()));
    let failed = RwSignal::new(None::<ApiError>);
    let show = move |dialog: RwSignal<bool>| {
        // The dialog gives the focus back to what had it, and the menu folds when it loses it.
        if let Ok(Some(button)) = document().query_selector("[aria-controls=account-menu]")
            && let Ok(button) = button.dyn_into::<HtmlElement>()
        {
            // A button on the page takes the focus.
            let _ = button.focus();
        }
        dialog.set(true);
    };
    let sign_out = move |_| {
        failed.set(None);
        spawn_local(async move {
            if let Err(error) = session.sign_out().await {
                failed.try_set(Some(error));
            }
        });
    };
    view! {
        <Menu
            id="account-menu"
            class="menu-end"
            name=text(move || tf!("{name}: account", name = name.get()))
            face=move || {
                view! {
                    <Icon symbol=Symbol::Person />
                    <span class="account-name">{name}</span>
                }
            }
        >
            <div class="menu-section">
                <p class="menu-title">{name}</p>
                <p class="muted">{role}</p>
            </div>
            <div class="menu-section">
                <ThemeSwitch id="account-theme" chosen=preferred.theme() on_choose=move |theme: Theme| preferred.choose(theme) />
            </div>
            <div class="menu-section">
                <a class="menu-item" href=Page::of_server(PageKind::Profile).path()>
                    <span class="row">
                        <Icon symbol=Symbol::Person />
                        {t("Your profile")}
                    </span>
                </a>
                <a class="menu-item narrow-only" href=help::CONTENTS rel="external" target="_blank">
                    {t("Help")}
                </a>
                <a class="menu-item narrow-only" href=API_REFERENCE rel="external">
                    {t("API reference")}
                </a>
                <When test=has_password>
                    <button type="button" class="menu-item" on:click=move |_| show(changing)>
                        <Icon symbol=Symbol::Lock />
                        {t("Change your password")}
                    </button>
                    <button type="button" class="menu-item" on:click=move |_| show(factor)>
                        <Icon symbol=Symbol::Lock />
                        {t("Second factor")}
                    </button>
                </When>
                <button type="button" class="menu-item" on:click=sign_out>
                    <Icon symbol=Symbol::SignOut />
                    {t("Sign out")}
                </button>
                {part(move || failed.get().map(|error| view! { <ProblemPanel error /> }).into_any())}
            </div>
        </Menu>
    }
}
