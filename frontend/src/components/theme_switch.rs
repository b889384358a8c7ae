//! Chooses between the themes.

use leptos::prelude::*;

use crate::theme::Theme;

/// Radio buttons that look like one control.
#[component]
pub(crate) fn ThemeSwitch() -> impl IntoView {
    let chosen = RwSignal::new(Theme::remembered());
    let choices: Vec<_> = Theme::ALL
        .into_iter()
        .map(|theme| {
            view! {
                <label class="segment">
                    <input
                        type="radio"
                        name="theme"
                        value=theme.key()
                        prop:checked=move || chosen.get() == theme
                        on:change=move |_| {
                            theme.apply();
                            chosen.set(theme);
                        }
                    />
                    <span>{theme.label()}</span>
                </label>
            }
        })
        .collect();
    view! {
        <fieldset class="segments">
            <legend class="visually-hidden">"Theme"</legend>
            {choices}
        </fieldset>
    }
}
