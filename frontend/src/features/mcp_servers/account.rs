//! With which credentials a server is called.

use leptos::prelude::*;
use serde_json::Value;
use toolgate_api::mcp_servers::{McpServerDefinition, McpTransport};

use crate::api::in_project;
use crate::language::{t, tf};
use crate::loaded::Loaded;
use crate::reactive::part;
use crate::routes::{Page, PageKind};

/// The account that a call of the user would be sent with, of a server that is called with the accounts of callers.
pub(super) fn own_account(project: &str, provider: String) -> AnyView {
    let path = in_project(project, &["accounts"]);
    let page = Page::of_project(project.to_owned(), PageKind::Accounts).path();
    let loaded = Loaded::new(move || path.clone());
    let of = provider.clone();
    // The whole types would weigh more than these few members.
    let own = move || {
        let accounts = loaded.read::<Value>()?;
        let mut accounts = accounts["items"].as_array()?.iter();
        let own = accounts.find(|own| own["provider"] == *of)?;
        let account = &own["account"];
        let name = account["label"].as_str().or_else(|| account["username"].as_str());
        Some(name.map_or_else(
            || t("not connected").to_owned(),
            |name| tf!("connected as {name}", name),
        ))
    };
    view! {
        {t("the caller's own at ")}
        <code>{provider}</code>
        {t("; yours: ")}
        <a href=page>{part(move || own().unwrap_or_else(|| t("your accounts").to_owned()).into_any())}</a>
    }
    .into_any()
}

/// Each credential with the header or the variable that carries it; empty when calls carry none. They are the project's, so that
/// they are the same for every caller.
pub(super) fn credentials(definition: &McpServerDefinition) -> Vec<String> {
    let values = match definition.transport() {
        McpTransport::Stdio => &definition.env,
        McpTransport::StreamableHttp | McpTransport::Sse => &definition.headers,
    };
    let mut found = Vec::new();
    for (place, value) in values {
        for source in sources(value) {
            found.push(match source.strip_prefix("secret:") {
                Some(secret) => tf!("secret {secret} in {place}", secret, place),
                None => tf!("variable {source} in {place}", source, place),
            });
        }
    }
    if let Some(client) = &definition.oauth {
        found.push(tf!(
            "the access token of the OAuth client {client}",
            client = client.client_id
        ));
    }
    found
}

/// What a value takes from elsewhere: `NAME` or `secret:NAME`.
fn sources(value: &str) -> Vec<&str> {
    if value.starts_with("secret:") {
        return vec![value];
    }
    let parts = value.split("${").skip(1);
    parts
        .filter_map(|part| Some(part.split_once('}')?.0))
        .map(|name| name.strip_prefix("env:").unwrap_or(name))
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::credentials;

    #[test]
    fn the_credentials_of_a_server_are_named() {
        for (definition, expected) in [
            (
                json!({"url": "https://a.example", "headers": {"Authorization": "Bearer ${secret:KEY}", "X-Region": "eu"}}),
                vec!["secret KEY in Authorization"],
            ),
            (
                json!({"command": "x", "env": {"A": "${env:ONE}-${TWO}", "B": "secret:KEY"}}),
                vec!["variable ONE in A", "variable TWO in A", "secret KEY in B"],
            ),
            (
                json!({"url": "https://a.example", "oauth": {"token_url": "https://b.example", "client_id": "me", "client_secret": "secret:KEY"}}),
                vec!["the access token of the OAuth client me"],
            ),
            (json!({"url": "https://a.example"}), vec![]),
        ] {
            let definition = serde_json::from_value(definition).unwrap();
            assert_eq!(credentials(&definition), expected);
        }
    }
}
