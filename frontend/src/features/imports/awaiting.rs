//! MCP servers that a tool has registered, until they are approved.

use leptos::prelude::*;
use toolgate_api::mcp_servers::McpServerList;

use crate::api::in_project;
use crate::components::{Badge, TimeAgo, Tone};
use crate::language::t;
use crate::loaded::Loaded;
use crate::reactive::part;
use crate::routes::Page;

/// Those that wait, if there are any; their pages have what it takes to decide.
#[component]
pub(super) fn Awaiting(project: Memo<String>) -> impl IntoView {
    let loaded = Loaded::new(move || in_project(&project.get(), &["mcp-servers"]));
    let waiting = Memo::new(move |_| {
        let all = loaded.read::<McpServerList>().map(|list| list.items);
        let servers = all.into_iter().flatten().map(|server| server.stored);
        servers
            .filter(|server| server.awaits_approval)
            .collect::<Vec<_>>()
    });
    part(move || {
        let items: Vec<_> = waiting
            .get()
            .into_iter()
            .map(|server| {
                let page = Page::mcp_server(project.get_untracked(), server.name.clone()).path();
                view! {
                    <li class="row">
                        <a href=page>{server.name}</a>
                        <Badge tone=Tone::Note text=t("waits for approval") />
                        <span class="muted">
                            {t("registered by ")} {server.updated_by} " " <TimeAgo at=server.updated_at />
                        </span>
                    </li>
                }
            })
            .collect();
        if items.is_empty() {
            return ().into_any();
        }
        view! {
            <section class="panel stack-small awaiting" aria-label=t("MCP servers that wait for approval")>
                <h2>{t("MCP servers that wait for approval")}</h2>
                <ul class="stack-small">{items}</ul>
            </section>
        }
        .into_any()
    })
}
