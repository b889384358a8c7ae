//! The end of a dialog in which something is done.

use leptos::prelude::*;

use crate::language::t;

/// A button that leaves the dialog as it is, and beside it what the dialog is for.
#[component]
pub(crate) fn DialogFoot(
    /// Whether the dialog is open.
    open: RwSignal<bool>,
    /// What leaving it is called.
    #[prop(default = t("Cancel"))]
    leave: &'static str,
    /// The button that does it.
    children: Children,
) -> impl IntoView {
    view! {
        <footer class="dialog-foot">
            <button type="button" class="button" on:click=move |_| open.set(false)>
                {leave}
            </button>
            {children()}
        </footer>
    }
}
