//! Theme, density, time zone and language.

use leptos::prelude::*;
use toolgate_api::profile::{Density, PreferredLanguage};

use crate::browser;
use crate::components::{Field, ProblemPanel, Select, ThemeSwitch};
use crate::language::{marked, t, tf};
use crate::preferences::Preferred;
use crate::reactive::{part, text};
use crate::theme::Theme;

/// What can be chosen: its key in the control and its name, each language by its own.
const LANGUAGES: [(PreferredLanguage, &str, &str); 3] = [
    (PreferredLanguage::Browser, "browser", marked("As the browser")),
    (PreferredLanguage::En, "en", "English"),
    (PreferredLanguage::De, "de", "Deutsch"),
];

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
        zones.push((own.clone(), tf!("{own} (this browser)", own)));
    }
    let others = browser::zones()
        .into_iter()
        .filter(|zone| *zone != own && zone != "UTC");
    zones.extend(others.map(|zone| (zone.clone(), zone)));
    let zones = Signal::stored(zones);
    let densities = Signal::stored(
        [("comfortable", t("Comfortable")), ("compact", t("Compact"))]
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
    let language = text(move || {
        let chosen = preferred.now.with(|now| now.language);
        let known = LANGUAGES.iter().find(|(known, ..)| *known == chosen);
        known.map_or_else(String::new, |(_, key, _)| (*key).to_owned())
    });
    let languages = Signal::stored(
        LANGUAGES
            .map(|(_, key, name)| (key.to_owned(), t(name).to_owned()))
            .to_vec(),
    );
    let set_language = move |chosen: String| {
        if let Some((language, ..)) = LANGUAGES.iter().find(|(_, key, _)| *key == chosen) {
            preferred.change(|now| now.language = *language);
        }
    };
    view! {
        <section class="panel stack" aria-labelledby="profile-appearance">
            <h2 id="profile-appearance">{t("Appearance")}</h2>
            <ThemeSwitch id="profile-theme" chosen=preferred.theme() on_choose=move |theme: Theme| preferred.choose(theme) />
            <div class="columns">
                <Field id="profile-density" label=t("Density") help=t("Compact shows more rows on a screen.")>
                    <Select id="profile-density" value=density options=densities on_change=set_density />
                </Field>
                <Field id="profile-zone" label=t("Time zone") help=t("Of all points in time in the dashboard.")>
                    <Select
                        id="profile-zone"
                        value=zone
                        options=zones
                        on_change=move |chosen| preferred.change(|now| now.time_zone = chosen)
                    />
                </Field>
                <Field id="profile-language" label=t("Language") help=t("Of the dashboard. What the server says of tools and calls is English.")>
                    <Select id="profile-language" value=language options=languages on_change=set_language />
                </Field>
            </div>
            {part(move || preferred.error.get().map(|error| view! { <ProblemPanel error /> }).into_any())}
        </section>
    }
}
