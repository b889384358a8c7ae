//! What a program may do on the message bus that connects to it with a key.

use leptos::prelude::*;
use toolgate_api::keys::KeyOnBus;

use crate::components::{Field, TextInput};
use crate::language::{t, tf};

/// What is filled in.
#[derive(Clone, Copy)]
pub(super) struct OnBus {
    calls: RwSignal<bool>,
    services: RwSignal<bool>,
    workers: RwSignal<String>,
}

impl OnBus {
    /// Nothing is opened.
    pub(super) fn new() -> Self {
        let [calls, services] = [(); 2].map(|()| RwSignal::new(false));
        Self {
            calls,
            services,
            workers: RwSignal::new(String::new()),
        }
    }

    /// Opens nothing again.
    pub(super) fn clear(self) {
        self.calls.set(false);
        self.services.set(false);
        self.workers.set(String::new());
    }

    /// What is opened; `None` for nothing.
    pub(super) fn get(self) -> Option<KeyOnBus> {
        let targets = self.workers.get_untracked();
        let targets = targets.split(',').map(str::trim);
        let opened = KeyOnBus {
            calls: self.calls.get_untracked(),
            services: self.services.get_untracked(),
            workers: targets
                .filter(|target| !target.is_empty())
                .map(str::to_owned)
                .collect(),
        };
        (opened != KeyOnBus::default()).then_some(opened)
    }

    /// The fields.
    pub(super) fn view(self) -> AnyView {
        let check = |words: &'static str, value: RwSignal<bool>| {
            view! {
                <label class="check">
                    <input
                        type="checkbox"
                        prop:checked=move || value.get()
                        on:change=move |event| value.set(event_target_checked(&event))
                    />
                    {words}
                </label>
            }
        };
        view! {
            <details>
                <summary>{t("On the message bus")}</summary>
                <div class="stack settings-more">
                    {check(t("Send calls to the project, and read what becomes of them"), self.calls)}
                    {check(t("Serve tool services of the project"), self.services)}
                    <Field
                        id="key-workers"
                        label=t("Targets of workers")
                        help=t("Whose commands it executes (cmd.tool.<target>), separated by commas.")
                        guide="bus-entrance#connecting-with-a-service-key"
                    >
                        <TextInput id="key-workers" value=self.workers mono=true placeholder="search" max="4200" />
                    </Field>
                </div>
            </details>
        }
        .into_any()
    }
}

/// What a key opens, in words; empty for nothing.
pub(super) fn in_words(bus: Option<&KeyOnBus>) -> String {
    let Some(bus) = bus else {
        return String::new();
    };
    let mut parts = Vec::new();
    if bus.calls {
        parts.push(t("calls").to_owned());
    }
    if bus.services {
        parts.push(t("tool services").to_owned());
    }
    if !bus.workers.is_empty() {
        parts.push(tf!("workers {workers}", workers = bus.workers.join(", ")));
    }
    match parts.is_empty() {
        true => String::new(),
        false => tf!("on the bus: {parts}", parts = parts.join("; ")),
    }
}

#[cfg(test)]
mod tests {
    use toolgate_api::keys::KeyOnBus;

    use super::in_words;

    #[test]
    fn what_a_key_opens_is_named() {
        let opened = KeyOnBus {
            calls: true,
            services: false,
            workers: vec!["search".to_owned(), "title".to_owned()],
        };
        assert_eq!(
            in_words(Some(&opened)),
            "on the bus: calls; workers search, title"
        );
        assert_eq!(in_words(Some(&KeyOnBus::default())), "");
        assert_eq!(in_words(None), "");
    }
}
