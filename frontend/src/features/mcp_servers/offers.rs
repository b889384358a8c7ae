//! The fields of what a server offers beside tools: who may read its resources, and who gets its prompts.

use leptos::prelude::*;
use toolgate_api::mcp_servers::McpOffer;

use crate::components::{Field, TextInput};
use crate::language::t;

/// Who is offered something beside tools.
#[derive(Clone, Copy)]
pub(super) struct OfferForm {
    /// The groups, with blanks between them.
    pub(super) groups: RwSignal<String>,
    /// What is stored: names with spaces and states have no field, and stay as they are.
    stored: StoredValue<Option<McpOffer>>,
}

impl OfferForm {
    /// Nothing is offered.
    pub(super) fn new() -> Self {
        Self {
            groups: RwSignal::new(String::new()),
            stored: StoredValue::default(),
        }
    }

    /// Shows what is stored.
    pub(super) fn show(self, offer: Option<McpOffer>) {
        let groups = offer.as_ref().map(|offer| offer.group.join(" "));
        self.groups.set(groups.unwrap_or_default());
        self.stored.set_value(offer);
    }

    /// Whether no group is written.
    pub(super) fn is_empty(self) -> bool {
        self.groups.with_untracked(String::is_empty)
    }

    /// What is written.
    pub(super) fn offer(self) -> Option<McpOffer> {
        let groups = self.groups.get();
        let stored = self.stored.get_value();
        if let Some(stored) = &stored
            && stored.group.join(" ") == groups.trim()
        {
            return Some(stored.clone());
        }
        let group: Vec<String> = groups.split_whitespace().map(str::to_owned).collect();
        (!group.is_empty()).then(|| McpOffer {
            group,
            available_in_states: stored.and_then(|stored| stored.available_in_states),
        })
    }
}

/// The fields of what a server offers beside tools.
pub(super) fn offers_view(
    resources: OfferForm,
    prompts: OfferForm,
    wrong: impl Fn(&'static str) -> Signal<Option<String>>,
) -> AnyView {
    let is_open = !resources.is_empty() || !prompts.is_empty();
    view! {
        <details open=is_open>
            <summary>{t("Resources and prompts")}</summary>
            <div class="columns columns-level settings-more">
                <Field
                    id="server-resources"
                    label=t("Groups that read its resources")
                    help=t("Separated by spaces, over MCP. Empty: they are not offered.")
                    error=wrong("/resources/group")
                >
                    <TextInput id="server-resources" value=resources.groups mono=true max="8000" />
                </Field>
                <Field
                    id="server-prompts"
                    label=t("Groups that get its prompts")
                    help=t("Separated by spaces, over MCP. Empty: they are not offered.")
                    error=wrong("/prompts/group")
                >
                    <TextInput id="server-prompts" value=prompts.groups mono=true max="8000" />
                </Field>
            </div>
        </details>
    }
    .into_any()
}
