//! Light, dark, high contrast, or whatever the system says. Remembered in this browser.

use leptos::prelude::*;

use crate::browser::storage;
use crate::language::t;

const KEY: &str = "toolgate.theme";

/// The chosen theme.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Theme {
    /// Follows the system.
    System,
    /// Always light.
    Light,
    /// Always dark.
    Dark,
    /// Black and white, strong lines; light or dark as the system says.
    Contrast,
}

impl Theme {
    /// Every choice, in the order of the control.
    pub(crate) const ALL: [Self; 4] = [Self::System, Self::Light, Self::Dark, Self::Contrast];

    /// What is remembered.
    pub(crate) fn remembered() -> Self {
        match storage()
            .and_then(|store| store.get_item(KEY).ok().flatten())
            .as_deref()
        {
            Some("light") => Self::Light,
            Some("dark") => Self::Dark,
            Some("contrast") => Self::Contrast,
            _ => Self::System,
        }
    }

    /// The name in storage and in the document.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Light => "light",
            Self::Dark => "dark",
            Self::Contrast => "contrast",
        }
    }

    /// The name for people.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::System => t("System"),
            Self::Light => t("Light"),
            Self::Dark => t("Dark"),
            Self::Contrast => t("High contrast"),
        }
    }

    /// Shows it now and remembers it. When the store is blocked it lasts until the page is left.
    pub(crate) fn apply(self) {
        if let Some(root) = document().document_element() {
            // Neither call fails for a constant, well-formed name.
            let _ = match self {
                Self::System => root.remove_attribute("data-theme"),
                chosen => root.set_attribute("data-theme", chosen.key()),
            };
        }
        if let Some(store) = storage() {
            let _ = match self {
                Self::System => store.remove_item(KEY),
                chosen => store.set_item(KEY, chosen.key()),
            };
        }
    }
}
