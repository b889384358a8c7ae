//! What a stdio server wrote to its standard error.

use leptos::prelude::*;
use toolgate_api::mcp_servers::McpServerLog;

use super::follow::follow;
use crate::api::in_project;
use crate::browser::stamp;
use crate::language::{t, tf};
use crate::loaded::Loaded;
use crate::reactive::part;
use crate::words::counted;

/// The last lines, oldest first.
#[component]
pub(super) fn Log(
    /// The project's id.
    project: Memo<String>,
    /// The server's name.
    name: Memo<String>,
) -> impl IntoView {
    let loaded = Loaded::new(move || in_project(&project.get(), &["mcp-servers", &name.get(), "log"]));
    follow(loaded);
    let log = Memo::new(move |_| loaded.read::<McpServerLog>());
    let shown = move || {
        let Some(log) = log.get() else {
            return ().into_any();
        };
        if log.lines.is_empty() {
            return view! { <p class="note">{t("It has written nothing to its standard error yet, or has not been started.")}</p> }
                .into_any();
        }
        let text: Vec<String> = log
            .lines
            .iter()
            .map(|line| format!("{}  {}\n", stamp(line.at), line.text))
            .collect();
        let dropped = (log.dropped != 0).then(|| {
            let lines = counted(i64::try_from(log.dropped).unwrap_or(i64::MAX), "older line");
            view! { <p class="muted">{tf!("{lines} not kept.", lines)}</p> }
        });
        view! {
            {dropped}
            <pre class="side" tabindex="0" role="region" aria-label=t("Lines of the log")>
                {text.concat()}
            </pre>
        }
        .into_any()
    };
    view! {
        <section class="panel stack-small" aria-label=t("Log")>
            <h2>{t("Log")}</h2>
            <p class="muted">{t("What the process wrote to its standard error, on the server of Toolgate that answers. Secrets are masked.")}</p>
            {loaded.placeholder(t("the log"))}
            {part(shown)}
        </section>
    }
}
