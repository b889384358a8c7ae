//! The bar at the top: the mark, the project, the search for everything, the person.

use leptos::prelude::*;

use super::account_menu::AccountMenu;
use super::bell::Bell;
use super::project_switcher::ProjectSwitcher;
use super::shortcuts::Shortcuts;
use super::sidebar::Navigation;
use crate::components::{Dialog, Icon, Placement, Symbol};
use crate::help;
use crate::language::t;
use crate::rare_parts::rare_dialog;
use crate::routes::{API_REFERENCE, Page, PageKind};

/// The bar at the top.
#[component]
pub(crate) fn TopBar() -> impl IntoView {
    let palette = RwSignal::new(false);
    let pages = RwSignal::new(false);
    let password = RwSignal::new(false);
    let factor = RwSignal::new(false);
    view! {
        <header class="top-bar">
            <button
                type="button"
                class="button button-quiet button-icon nav-button"
                aria-label=t("Pages")
                on:click=move |_| pages.set(true)
            >
                <Icon symbol=Symbol::Menu />
            </button>
            <a class="brand" href=Page::of_server(PageKind::Start).path()>
                <span class="brand-mark">
                    <Icon symbol=Symbol::Gate />
                </span>
                <span class="brand-name">"Toolgate"</span>
            </a>
            <ProjectSwitcher />
            <button type="button" class="palette-button" aria-label=t("Search or go to… Ctrl K") on:click=move |_| palette.set(true)>
                <Icon symbol=Symbol::Search />
                <span class="palette-label">{t("Search or go to…")}</span>
                <kbd>{t("Ctrl K")}</kbd>
            </button>
            <a class="top-link" href=help::CONTENTS rel="external" target="_blank">
                {t("Help")}
            </a>
            <a class="top-link" href=API_REFERENCE rel="external">
                {t("API reference")}
            </a>
            <Bell />
            <AccountMenu changing=password factor />
        </header>
        <Dialog open=pages title=t("Pages") placement=Placement::Drawer>
            <div on:click=move |_| pages.set(false)>
                <Navigation />
            </div>
        </Dialog>
        {rare_dialog(password, |parts| parts.password)}
        {rare_dialog(factor, |parts| parts.second_factor)}
        {rare_dialog(palette, |parts| parts.palette)}
        <Shortcuts palette />
    }
}
