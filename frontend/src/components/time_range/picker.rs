//! The control that chooses a range of time.

use leptos::prelude::*;

use super::{QUICK, TimeRange, field, iso_ms, parsed};
use crate::browser::now_ms;
use crate::components::{Icon, Menu, Symbol};
use crate::language::{marked, t, tf};
use crate::reactive::part;

/// A button with the range in words; it unfolds the choices.
#[component]
pub(crate) fn TimeRangePicker(
    /// The range.
    range: TimeRange,
) -> impl IntoView {
    let name = Signal::derive(move || tf!("{range}: range of time", range = range.words()));
    let face = move || {
        view! {
            <Icon symbol=Symbol::Session />
            <span>{move || range.words()}</span>
        }
    };
    view! {
        <div class="range">
            <Menu id="time-range" name face=face class="menu-end">
                {choices(range)}
            </Menu>
            // A list has a way of its own to read again.
            {(!range.standard.is_empty())
                .then(|| {
                    view! {
                        <button type="button" class="button button-quiet" on:click=move |_| range.refresh()>
                            {t("Refresh")}
                        </button>
                    }
                })}
        </div>
    }
}

fn choices(range: TimeRange) -> AnyView {
    let quick: Vec<_> = (range.standard.is_empty().then_some(("", marked("All time"))))
        .into_iter()
        .chain(QUICK)
        .map(|(from, text)| {
            let text = t(text);
            let is_chosen = move || range.words() == text;
            view! {
                <button
                    type="button"
                    class="menu-item"
                    data-close=""
                    aria-current=move || is_chosen().then_some("true")
                    on:click=move |_| range.set(from, "")
                >
                    {text}
                </button>
            }
        })
        .collect();
    view! {
        <div class="range-choices">
            <div class="menu-section range-quick">{quick}</div>
            <div class="menu-section stack-small">
                {part(move || absolute(range, range.is_utc()))}
                <label class="check">
                    <input
                        type="checkbox"
                        prop:checked=move || range.is_utc()
                        on:change=move |event| range.set_utc(event_target_checked(&event))
                    />
                    {t("Show times in UTC")}
                </label>
            </div>
        </div>
    }
    .into_any()
}

/// Two fields for times in one zone.
fn absolute(range: TimeRange, is_utc: bool) -> AnyView {
    let now = now_ms();
    let (from, to) = range.bounds.get_untracked();
    let from = RwSignal::new(field(from.unwrap_or(now - 86_400_000), is_utc));
    let to = RwSignal::new(field(to.unwrap_or(now), is_utc));
    let moment = move |text: RwSignal<String>| {
        let zone = if is_utc { "Z" } else { "" };
        text.with(|text| parsed(&format!("{text}{zone}")))
    };
    let chosen = move || moment(from).zip(moment(to)).filter(|(from, to)| from < to);
    let apply = move |_| {
        if let Some((from, to)) = chosen() {
            range.set(&iso_ms(from), &iso_ms(to));
        }
    };
    let zone = if is_utc { "UTC" } else { t("local time") };
    let input = |id: &'static str, label: String, value: RwSignal<String>| {
        view! {
            <label for=id>{label}</label>
            <input
                id=id
                class="input"
                type="datetime-local"
                prop:value=move || value.get()
                on:input=move |event| value.set(event_target_value(&event))
            />
        }
    };
    view! {
        {input("range-from", tf!("From ({zone})", zone), from)}
        {input("range-to", tf!("To ({zone})", zone), to)}
        <p class="field-error" role="status">
            {move || chosen().is_none().then_some(t("The end must be later than the beginning."))}
        </p>
        <button
            type="button"
            class="button button-primary"
            data-close=""
            disabled=move || chosen().is_none()
            on:click=apply
        >
            {t("Apply")}
        </button>
    }
    .into_any()
}
