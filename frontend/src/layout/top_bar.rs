//! The bar at the top: the mark, the project, the reference, the person.

use leptos::prelude::*;

use super::account_menu::AccountMenu;
use super::project_switcher::ProjectSwitcher;
use crate::components::{Icon, Symbol};
use crate::routes::{API_REFERENCE, Page};

/// The bar at the top.
#[component]
pub(crate) fn TopBar() -> impl IntoView {
    view! {
        <header class="top-bar">
            <div class="top-bar-inner">
                <a class="brand" href=Page::Start.path()>
                    <span class="brand-mark">
                        <Icon symbol=Symbol::Gate />
                    </span>
                    <span class="brand-name">"Toolgate"</span>
                </a>
                <ProjectSwitcher />
                <nav class="top-nav" aria-label="Help">
                    <a class="top-link" href=API_REFERENCE rel="external">
                        "API reference"
                    </a>
                </nav>
                <AccountMenu />
            </div>
        </header>
    }
}
