//! Short words with a colour of their own.

use leptos::prelude::*;

use crate::language::t;

/// What a badge means. The text says it too: colour is never the only sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Tone {
    /// Neither good nor bad.
    #[default]
    Plain,
    /// It worked, it is allowed.
    Good,
    /// Look here.
    Note,
    /// It failed, it is refused.
    Bad,
    /// Chosen, current.
    Accent,
}

impl Tone {
    /// The class of the style sheet.
    pub(crate) const fn class(self) -> &'static str {
        match self {
            Self::Plain => "badge",
            Self::Good => "badge badge-good",
            Self::Note => "badge badge-note",
            Self::Bad => "badge badge-bad",
            Self::Accent => "badge badge-accent",
        }
    }
}

/// A word with a colour.
#[component]
pub(crate) fn Badge(
    /// What it means.
    #[prop(optional)]
    tone: Tone,
    /// The word.
    #[prop(into)]
    text: String,
) -> impl IntoView {
    view! { <span class=tone.class()>{text}</span> }
}

/// Names as a list of tags.
#[component]
pub(crate) fn Tags(
    /// The names.
    names: Vec<String>,
    /// What is said when there is none.
    #[prop(default = t("none"))]
    none: &'static str,
) -> impl IntoView {
    if names.is_empty() {
        return view! { <span class="muted">{none}</span> }.into_any();
    }
    let items: Vec<_> = names
        .into_iter()
        .map(|name| view! { <li class="tag">{name}</li> })
        .collect();
    view! { <ul class="tags">{items}</ul> }.into_any()
}
