//! Chooses between the themes.

use leptos::prelude::*;

use super::after_paint;
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
                            chosen.set(theme);
                            // The style of the whole page is computed again, so the choice itself is shown first.
                            after_paint(move || theme.apply());
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
