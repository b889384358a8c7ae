//! Chooses between the themes.

use leptos::prelude::*;

use crate::language::t;
use crate::theme::Theme;

/// Radio buttons that look like one control.
#[component]
pub(crate) fn ThemeSwitch(
    /// Of the group of buttons, unique on the page.
    id: &'static str,
    /// The theme that is chosen.
    #[prop(into)]
    chosen: Signal<Theme>,
    /// Another one is chosen.
    #[prop(into)]
    on_choose: Callback<Theme>,
) -> impl IntoView {
    let choices: Vec<_> = Theme::ALL
        .into_iter()
        .map(|theme| {
            view! {
                <label class="segment">
                    <input
                        type="radio"
                        name=id
                        value=theme.key()
                        prop:checked=move || chosen.get() == theme
                        on:change=move |_| on_choose.run(theme)
                    />
                    <span>{theme.label()}</span>
                </label>
            }
        })
        .collect();
    view! {
        <fieldset class="segments">
            <legend class="visually-hidden">{t("Theme")}</legend>
            {choices}
        </fieldset>
    }
}
