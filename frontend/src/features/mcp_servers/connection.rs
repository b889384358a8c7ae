//! How the connection to a server is, in words.

use leptos::prelude::*;
use toolgate_api::Diagnostic;
use toolgate_api::mcp_servers::{
    McpConnectionError, McpConnectionState, McpInstance, McpServer, McpServerDefinition, McpTransport,
};

use crate::components::{Badge, TimeAgo, Tone, fact, facts};
use crate::language::t;
use crate::words::counted;

/// How a server is reached.
pub(super) fn transport_name(transport: McpTransport) -> &'static str {
    match transport {
        McpTransport::Stdio => "stdio",
        McpTransport::StreamableHttp => "Streamable HTTP",
        McpTransport::Sse => t("HTTP with SSE"),
    }
}

/// Where a server is: its address, or the command with its arguments.
pub(super) fn target(definition: &McpServerDefinition) -> String {
    if let Some(url) = &definition.url {
        return url.clone();
    }
    let mut words = definition.command.clone().unwrap_or_default();
    for word in &definition.args {
        let is_plain = !word.is_empty() && !word.contains(char::is_whitespace);
        let sign = if is_plain { "" } else { "\"" };
        words.extend([" ", sign, word, sign]);
    }
    words
}

/// The state, and what keeps it from being connected.
pub(super) fn state_view(server: &McpServer) -> AnyView {
    let connection = &server.connection;
    let is_connected = connection.state == McpConnectionState::Connected;
    let error = connection.last_error.as_ref().filter(|_| !is_connected);
    let since = connection
        .since
        .filter(|_| is_connected)
        .map(|at| view! { <span class="muted"><TimeAgo at /></span> });
    let reason = match (connection.state, server.stored.definition.enabled) {
        (McpConnectionState::Unavailable, true) => server.warnings.first(),
        _ => None,
    };
    view! {
        <span class="stack-small">
            <span class="row">{state_badge(server)} {since}</span>
            {reason.map(|warning| view! { <span class="break">{warning.message.clone()}</span> })}
            {error.filter(|_| reason.is_none()).map(error_view)}
        </span>
    }
    .into_any()
}

/// The state in a word.
fn state_badge(server: &McpServer) -> AnyView {
    let (tone, text) = match server.connection.state {
        _ if !server.stored.definition.enabled => (Tone::Plain, t("disabled")),
        McpConnectionState::Idle => (Tone::Plain, t("not connected")),
        McpConnectionState::Connecting => (Tone::Note, t("connecting")),
        McpConnectionState::Connected => (Tone::Good, t("connected")),
        McpConnectionState::Failed => (Tone::Bad, t("failed")),
        McpConnectionState::Unavailable => (Tone::Bad, t("unavailable")),
    };
    view! { <Badge tone text /> }.into_any()
}

/// A failure: its kind, the status of the answer, when, and what was said.
fn error_view(error: &McpConnectionError) -> AnyView {
    let status = error
        .status
        .map(|status| view! { <Badge text=format!("HTTP {status}") /> });
    view! {
        <span class="stack-small">
            <span class="row">
                <code>{error.code.as_str()}</code>
                {status}
                <span class="muted"><TimeAgo at=error.at /></span>
            </span>
            <span class="break">{error.message.clone()}</span>
        </span>
    }
    .into_any()
}

/// Everything that is known of the connection.
pub(super) fn connection_facts(server: &McpServer) -> AnyView {
    let connection = &server.connection;
    let known = |text: &Option<String>| text.clone().unwrap_or_else(|| t("not known").to_owned());
    let tools = connection
        .tools
        .map_or_else(|| t("not known").to_owned(), |count| counted(count, "tool"));
    let error = match &connection.last_error {
        Some(error) => error_view(error),
        None => t("none").into_any(),
    };
    let instances = match server.stored.definition.instance {
        McpInstance::Shared => ().into_any(),
        McpInstance::Session => fact(t("Instances"), connection.instances.to_string()),
    };
    facts(vec![
        fact(t("State"), state_badge(server)),
        match connection.since {
            Some(at) => fact(t("Connected"), view! { <TimeAgo at /> }),
            None => ().into_any(),
        },
        fact(t("Server"), known(&connection.server)),
        fact(t("Protocol"), known(&connection.protocol)),
        fact(t("Its tools"), tools),
        fact(t("Calls now"), connection.running.to_string()),
        instances,
        fact(t("Last error"), error),
    ])
}

/// What keeps a server from being reached, and what to do.
pub(super) fn warnings_view(warnings: &[Diagnostic]) -> AnyView {
    let notes: Vec<_> = warnings
        .iter()
        .map(|warning| {
            let hint = warning.hint.clone().map(|hint| format!(" ({hint})"));
            view! { <p class="note break">{warning.message.clone()} {hint}</p> }
        })
        .collect();
    notes.into_any()
}
