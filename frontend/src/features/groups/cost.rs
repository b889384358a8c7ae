//! What the tools of a group cost a model that is offered them.

use leptos::prelude::*;

use crate::components::many_tools;
use crate::language::t;

/// The tokens, and a warning when clients would leave some of the tools out.
pub(super) fn cost(tools: u64, tokens: u64) -> AnyView {
    view! { <span>{t("about ")} {tokens} " " {many_tools(tools)}</span> }.into_any()
}

/// How the tokens are estimated, and which numbers of tools are warned of.
pub(super) fn legend() -> AnyView {
    view! {
        <p class="muted">
            {t("Tokens are what a model spends on the tools of a group and its children when an MCP client offers them all: a quarter of the bytes of their names, descriptions and parameters. Some clients offer 40 tools at most, most offer 128. ")}
            <a href="/help/mcp#what-tools-cost-a-model" rel="external" target="_blank" aria-label=t("Learn more about what tools cost a model")>
                {t("Learn more")}
            </a>
        </p>
    }
    .into_any()
}
