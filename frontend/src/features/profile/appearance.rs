//! Theme, density and time zone.

use leptos::prelude::*;
use toolgate_api::profile::Density;

use crate::browser;
use crate::components::{Field, ProblemPanel, Select, ThemeSwitch};
use crate::preferences::Preferred;
use crate::reactive::{part, text};
use crate::theme::Theme;

/// The section.
#[component]
pub(super) fn Appearance() -> impl IntoView {
    let preferred = Preferred::get();
    let density = text(move || {
        preferred.now.with(|now| match now.density {
            Density::Compact => "compact".to_owned(),
            Density::Comfortable => "comfortable".to_owned(),
        })
    });
    let zone = text(move || preferred.now.with(|now| now.time_zone.clone()));
    let own = browser::own_zone();
    let mut zones = vec![(String::new(), "UTC".to_owned())];
    if !own.is_empty() && own != "UTC" {
        zones.push((own.clone(), format!("{own} (this browser)")));
    }
    let others = browser::zones()
        .into_iter()
        .filter(|zone| *zone != own && zone != "UTC");
    zones.extend(others.map(|zone| (zone.clone(), zone)));
    let zones = Signal::stored(zones);
    let densities = Signal::stored(
        [("comfortable", "Comfortable"), ("compact", "Compact")]
            .map(|(key, text)| (key.to_owned(), text.to_owned()))
            .to_vec(),
    );
    let set_density = move |chosen: String| {
        preferred.change(|now| {
            now.density = match chosen.as_str() {
                "compact" => Density::Compact,
                _ => Density::Comfortable,
            };
        });
    };
    view! {
        <section class="panel stack" aria-labelledby="profile-appearance">
            <h2 id="profile-appearance">"Appearance"</h2>
            <ThemeSwitch id="profile-theme" chosen=preferred.theme() on_choose=move |theme: Theme| preferred.choose(theme) />
            <div class="columns">
                <Field id="profile-density" label="Density" help="Compact shows more rows on a screen.">
                    <Select id="profile-density" value=density options=densities on_change=set_density />
                </Field>
                <Field id="profile-zone" label="Time zone" help="Of all points in time in the dashboard.">
                    <Select
                        id="profile-zone"
                        value=zone
                        options=zones
                        on_change=move |chosen| preferred.change(|now| now.time_zone = chosen)
                    />
                </Field>
            </div>
            {part(move || preferred.error.get().map(|error| view! { <ProblemPanel error /> }).into_any())}
        </section>
    }
}
