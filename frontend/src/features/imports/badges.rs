//! Words for what becomes of an operation, and for how a description is written.

use leptos::prelude::*;
use toolgate_api::imports::{DescriptionFormat, ImportOutcome};

use crate::components::{Badge, Tone};
use crate::language::t;

/// What becomes of an operation. In a preview nothing is known of an import, so a tool that is there is just in the way.
pub(super) fn outcome_badge(outcome: ImportOutcome, is_preview: bool) -> AnyView {
    let (tone, text) = match outcome {
        ImportOutcome::New => (Tone::Good, t("new")),
        ImportOutcome::Changed | ImportOutcome::Unchanged if is_preview => {
            (Tone::Note, t("the name is taken"))
        }
        ImportOutcome::Changed => (Tone::Note, t("changed: waits in the quarantine")),
        ImportOutcome::Unchanged => (Tone::Plain, t("unchanged")),
        ImportOutcome::Refused => (Tone::Bad, t("cannot become a tool")),
        ImportOutcome::Taken => (Tone::Bad, t("left out: the name is taken")),
        ImportOutcome::Adopted => (Tone::Accent, t("taken into the import")),
        ImportOutcome::Gone => (Tone::Note, t("gone from its source; the tool stays")),
        ImportOutcome::Deleted => (Tone::Plain, t("its tool was deleted here")),
    };
    view! { <Badge tone text /> }.into_any()
}

/// A method and a path.
pub(super) fn operation_name(method: &str, path: &str) -> AnyView {
    let (method, path) = (method.to_owned(), path.to_owned());
    view! {
        <span class="operation-name">
            <Badge text=method />
            " "
            <code>{path}</code>
        </span>
    }
    .into_any()
}

/// How a description is written.
pub(super) fn format_name(format: DescriptionFormat) -> &'static str {
    match format {
        DescriptionFormat::Swagger2 => "Swagger 2.0",
        DescriptionFormat::Openapi30 => "OpenAPI 3.0",
        DescriptionFormat::Openapi31 => "OpenAPI 3.1",
        DescriptionFormat::Openapi32 => "OpenAPI 3.2",
        DescriptionFormat::Mcp => "MCP",
        DescriptionFormat::Announced => t("announced"),
    }
}
