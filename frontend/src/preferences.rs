//! How the dashboard looks for the user who is signed in: kept by the server, and in this browser for the first paint.

use leptos::prelude::*;
use leptos::task::spawn_local;
use toolgate_api::profile::{Density, Preferences, PreferredLanguage, PreferredTheme};
use web_sys::Storage;

use crate::api::{ApiError, Ask, Body, json_of, read_json};
use crate::browser::{self, storage};
use crate::components::after_paint;
use crate::theme::Theme;

const DENSITY: &str = "toolgate.density";
/// Read by `boot.js` too.
const LANGUAGE: &str = "toolgate.language";
/// What this tab has sent to the server and the server has not answered yet: a reload in between must not lose it.
const UNCONFIRMED: &str = "toolgate.unconfirmed-preferences";
const PATH: &str = "/auth/preferences";

/// The preferences, shared by all pages through the context.
#[derive(Clone, Copy)]
pub(crate) struct Preferred {
    /// What is preferred, as far as the server has said so.
    pub(crate) now: RwSignal<Preferences>,
    /// Why the last change was not stored.
    pub(crate) error: RwSignal<Option<ApiError>>,
}

impl Preferred {
    /// Asks the server, applies the answer, and shares it with everything below the caller.
    pub(crate) fn provide() {
        let preferred = Self {
            now: RwSignal::new(Preferences {
                theme: Theme::remembered().preferred(),
                ..Preferences::default()
            }),
            error: RwSignal::new(None),
        };
        provide_context(preferred);
        match browser::recall(UNCONFIRMED).and_then(|text| read_json(&text).ok()) {
            Some(unconfirmed) => {
                apply(&unconfirmed);
                preferred.store(unconfirmed);
            }
            None => preferred.load(),
        }
    }

    /// Until the server answers, and if it does not, this browser's own choices hold; and so does a change made meanwhile.
    fn load(self) {
        let before = self.now.get_untracked();
        let ask = Ask::get(PATH).send();
        spawn_local(async move {
            if let Ok(answer) = ask.await
                && let Ok(stored) = answer.read::<Preferences>()
                && self.now.try_get_untracked() == Some(before)
            {
                apply(&stored);
                self.now.try_set(stored);
            }
        });
    }

    /// Those of the surrounding application.
    pub(crate) fn get() -> Self {
        expect_context()
    }

    /// The theme, reactively.
    pub(crate) fn theme(self) -> Signal<Theme> {
        Signal::derive(move || self.now.with(|now| Theme::of(now.theme)))
    }

    /// Chooses a theme.
    pub(crate) fn choose(self, theme: Theme) {
        self.change(|now| now.theme = theme.preferred());
    }

    /// Changes them: at once here, then on the server.
    pub(crate) fn change(self, change: impl FnOnce(&mut Preferences)) {
        let mut changed = self.now.get_untracked();
        change(&mut changed);
        self.store(changed);
        // The style of the whole page is computed again, so the control that was used is shown first.
        after_paint(move || {
            if let Some(now) = self.now.try_get_untracked() {
                apply(&now);
            }
        });
    }

    fn store(self, changed: Preferences) {
        let sent = json_of(&changed).to_string();
        browser::remember(UNCONFIRMED, Some(&sent));
        let ask = Ask::put(PATH, Body::json(&changed)).send();
        self.now.set(changed);
        self.error.set(None);
        spawn_local(async move {
            let outcome = ask.await;
            // A later change waits for its own answer. Also when the user is signed out meanwhile: the next one has others.
            if browser::recall(UNCONFIRMED).as_deref() == Some(&*sent) {
                browser::remember(UNCONFIRMED, None);
            }
            if let Err(error) = outcome {
                self.error.try_set(Some(error));
            }
        });
    }
}

fn apply(preferences: &Preferences) {
    Theme::of(preferences.theme).apply();
    browser::set_zone(&preferences.time_zone);
    let compact = preferences.density == Density::Compact;
    if let Some(root) = document().document_element() {
        // Neither call fails for a constant, well-formed name.
        let _ = match compact {
            true => root.set_attribute("data-density", "compact"),
            false => root.remove_attribute("data-density"),
        };
    }
    if let Some(store) = storage() {
        // When the store is blocked, the density is there once the server has answered.
        let _ = match compact {
            true => store.set_item(DENSITY, "compact"),
            false => store.remove_item(DENSITY),
        };
        remember_language(&store, preferences.language);
    }
}

/// The page is loaded again where its language is another one now.
fn remember_language(store: &Storage, preferred: PreferredLanguage) {
    let tag = match preferred {
        PreferredLanguage::Browser => None,
        PreferredLanguage::En => Some("en"),
        PreferredLanguage::De => Some("de"),
    };
    if store.get_item(LANGUAGE).ok().flatten().as_deref() == tag {
        return;
    }
    let kept = match tag {
        Some(tag) => store.set_item(LANGUAGE, tag),
        None => store.remove_item(LANGUAGE),
    };
    if kept.is_ok() {
        // A page can always be loaded again.
        let _ = window().location().reload();
    }
}

impl Theme {
    /// The theme of a preference.
    pub(crate) fn of(preferred: PreferredTheme) -> Self {
        match preferred {
            PreferredTheme::System => Self::System,
            PreferredTheme::Light => Self::Light,
            PreferredTheme::Dark => Self::Dark,
            PreferredTheme::Contrast => Self::Contrast,
        }
    }

    /// The theme as a preference.
    pub(crate) fn preferred(self) -> PreferredTheme {
        match self {
            Self::System => PreferredTheme::System,
            Self::Light => PreferredTheme::Light,
            Self::Dark => PreferredTheme::Dark,
            Self::Contrast => PreferredTheme::Contrast,
        }
    }
}
