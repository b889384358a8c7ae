//! Whether requests must name a session, and where sessions begin.

use leptos::prelude::*;
use toolgate_api::settings::{SessionUse, StoredSettings};
use toolgate_api::states::StatePage;

use crate::api::{in_project, read_json};
use crate::components::{Field, Select};
use crate::language::{marked, t, tf};
use crate::loaded::Loaded;
use crate::reactive::part;

const USES: [(&str, &str); 2] = [
    ("optional", marked("Requests may name a state themselves")),
    ("required", marked("Every request must name a session")),
];

/// The part of the form.
#[derive(Clone, Copy)]
pub(super) struct Sessions {
    usage: RwSignal<String>,
    starts: RwSignal<Vec<String>>,
    states: Loaded,
}

impl Sessions {
    /// Nothing is known yet.
    pub(super) fn new(project: Memo<String>) -> Self {
        Self {
            usage: RwSignal::new(USES[0].0.to_owned()),
            starts: RwSignal::new(Vec::new()),
            states: Loaded::new(move || in_project(&project.get(), &["states"]) + "?limit=200"),
        }
    }

    /// Shows what is stored.
    pub(super) fn show(self, usage: SessionUse, starts: Vec<String>) {
        self.usage
            .set(USES[usize::from(usage == SessionUse::Required)].0.to_owned());
        self.starts.set(starts);
    }

    /// What was chosen.
    pub(super) fn usage(self) -> SessionUse {
        if self.usage.with_untracked(|usage| usage == "required") {
            SessionUse::Required
        } else {
            SessionUse::Optional
        }
    }

    /// What was chosen; nothing at all is left out.
    pub(super) fn start_states(self) -> Option<Vec<String>> {
        Some(self.starts.get_untracked()).filter(|starts| !starts.is_empty())
    }

    /// The fields.
    pub(super) fn view(self) -> AnyView {
        let options = Signal::stored(
            USES.map(|(key, text)| (key.to_owned(), t(text).to_owned()))
                .to_vec(),
        );
        let more = Signal::derive(move || {
            let chosen = self.starts.get();
            let known = self.states.read::<StatePage>().map(|page| page.items);
            let known = known.into_iter().flatten().map(|state| state.name);
            let more = known.filter(|name| !chosen.contains(name));
            let first = (String::new(), t("Choose a state").to_owned());
            std::iter::once(first)
                .chain(more.map(|name| (name.clone(), name)))
                .collect::<Vec<_>>()
        });
        let add = move |name: String| {
            if !name.is_empty() {
                self.starts.update(|starts| starts.push(name));
            }
        };
        let chosen = part(move || {
            let starts = self.starts.get();
            if starts.is_empty() {
                let text = t("None is chosen: every state, or only undefined when sessions are required.");
                return view! { <p class="muted">{text}</p> }.into_any();
            }
            let line = |name: String| {
                let label = tf!("Remove {name}", name);
                let remove = name.clone();
                view! {
                    <li class="row">
                        <span class="tag">{name}</span>
                        <button
                            type="button"
                            class="button button-small"
                            aria-label=label
                            on:click=move |_| self.starts.update(|starts| starts.retain(|name| *name != remove))
                        >
                            {t("Remove")}
                        </button>
                    </li>
                }
            };
            let lines: Vec<_> = starts.into_iter().map(line).collect();
            view! { <ul class="stack-small">{lines}</ul> }.into_any()
        });
        view! {
            <section class="panel stack">
                <h2>{t("Sessions")}</h2>
                <div class="columns">
                    <Field
                        id="sessions-use"
                        label=t("Workflow state")
                        help=t("With required sessions no request names its own state: the gateway keeps it, and only calls move it.")
                    >
                        <Select
                            id="sessions-use"
                            value=self.usage
                            options
                            on_change=move |key: String| self.usage.set(key)
                        />
                    </Field>
                    <Field id="start-state" label=t("Add a start state") help=t("Of the states that tools or declarations name. The first counts where undefined is none.") guide="sessions#requiring-sessions">
                        <Select id="start-state" value=Signal::stored(String::new()) options=more on_change=add />
                    </Field>
                </div>
                <h3>{t("New sessions begin in")}</h3>
                {chosen}
            </section>
        }
        .into_any()
    }
}

/// What the gateway found odd in settings that it stored.
pub(super) fn warnings(answer: &str) -> Vec<String> {
    let stored = read_json::<StoredSettings>(answer);
    let warnings = stored.map(|stored| stored.warnings).unwrap_or_default();
    warnings
        .into_iter()
        .map(|warning| match warning.hint {
            Some(hint) => tf!("Saved, but {message}: {hint}.", message = warning.message, hint),
            None => tf!("Saved, but {message}.", message = warning.message),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::warnings;

    #[test]
    fn warnings_are_sentences() {
        let answer = r#"{"settings": {"alerts": {}}, "warnings": [{"severity": "warning", "message": "m", "hint": "h"}]}"#;
        assert_eq!(warnings(answer), ["Saved, but m: h."]);
        assert!(warnings("{}").is_empty());
    }
}
