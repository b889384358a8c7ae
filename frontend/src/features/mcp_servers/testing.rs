//! Testing a server: a new connection, and its list of tools.

use leptos::prelude::*;
use toolgate_api::mcp_servers::{McpServerDefinition, McpServerTest};

use crate::action::Action;
use crate::api::{Ask, Body, in_project};
use crate::components::Toasts;
use crate::language::{t, tf};
use crate::words::counted;

/// Milliseconds that connecting may take where the definition does not say.
const TIMEOUT_MS: u32 = 30_000;

/// How long to wait for an answer that takes connecting and listing tools.
pub(super) fn patience_ms(definition: Option<&McpServerDefinition>) -> u32 {
    let within = definition.and_then(|definition| definition.timeout_ms);
    within.unwrap_or(TIMEOUT_MS).saturating_mul(2)
}

/// A test, and what came of it.
#[derive(Clone, Copy)]
pub(super) struct Testing {
    project: Memo<String>,
    action: Action,
    toasts: Toasts,
    on_done: Callback<()>,
}

impl Testing {
    /// Nothing was tested yet; `on_done` is called after each test.
    pub(super) fn new(project: Memo<String>, on_done: impl Fn() + Send + Sync + 'static) -> Self {
        Self {
            project,
            action: Action::new(),
            toasts: Toasts::get(),
            on_done: Callback::new(move |()| on_done()),
        }
    }

    /// Tests a server.
    fn run(self, name: String, patience_ms: u32) {
        let path = in_project(&self.project.get_untracked(), &["mcp-servers", &name, "test"]);
        self.action
            .send(Ask::post(path, Body::None).within(patience_ms), move |answer| {
                if let Some(test) = self.action.read::<McpServerTest>(&answer) {
                    self.tell(&name, &test);
                }
                self.on_done.run(());
            });
    }

    fn tell(self, name: &str, test: &McpServerTest) {
        if test.ok {
            let tools = counted(test.tools.len(), "tool");
            self.toasts.done(tf!(
                "{name} lists {tools}. That took {duration} ms.",
                name,
                tools,
                duration = test.duration_ms
            ));
            return;
        }
        let why = test.connection.last_error.as_ref().map(|error| {
            let status = error.status.map(|status| format!(", HTTP {status}"));
            format!(
                "{} ({}{})",
                error.message,
                error.code.as_str(),
                status.unwrap_or_default()
            )
        });
        self.toasts.refused(tf!(
            "{name} cannot be used: {why}",
            name,
            why = why.unwrap_or_else(|| t("it gave no reason").to_owned())
        ));
    }

    /// The button for a server. `patience_ms` is asked when it is pressed.
    pub(super) fn button(
        self,
        name: String,
        class: &'static str,
        patience_ms: impl Fn() -> u32 + 'static,
    ) -> AnyView {
        view! {
            <button
                type="button"
                class=class
                aria-label=tf!("Test {name}", name)
                disabled=move || self.action.busy.get()
                on:click=move |_| self.run(name.clone(), patience_ms())
            >
                {t("Test")}
            </button>
        }
        .into_any()
    }

    /// Why the last one could not be made.
    pub(super) fn outcome(self) -> AnyView {
        self.action.outcome()
    }
}
