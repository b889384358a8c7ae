//! The configuration of common MCP clients.

use serde_json::{Value, json};

use crate::api::with_query;
use crate::browser::{encode, origin};
use crate::language::marked;

/// The variable that holds the key.
const VARIABLE: &str = "TOOLGATE_KEY";

/// Clients: the value of the choice, the name, and where the text goes.
pub(super) const CLIENTS: [(&str, &str, &str); 9] = [
    ("claude-code", "Claude Code", marked("Run in a terminal")),
    ("claude-desktop", "Claude Desktop", "claude_desktop_config.json"),
    ("cursor", "Cursor", ".cursor/mcp.json"),
    ("vscode", "VS Code", ".vscode/mcp.json"),
    ("codex", "Codex", "~/.codex/config.toml"),
    ("windsurf", "Windsurf", "~/.codeium/windsurf/mcp_config.json"),
    ("curl", "curl", marked("Run in a terminal")),
    ("python", "Python", marked("With the package mcp")),
    (
        "typescript",
        "TypeScript",
        marked("With the package @modelcontextprotocol/client"),
    ),
];

/// The address of a project's MCP server, with the groups that are asked for.
pub(super) fn address(project: &str, groups: &[String]) -> String {
    let path = format!("{}/projects/{}/mcp", origin(), encode(project));
    groups
        .iter()
        .fold(path, |path, group| with_query(path, &[("group", group.as_str())]))
}

/// The configuration of a client: by a key in a variable, or by signing in, which needs nothing but the address.
pub(super) fn configuration(client: &str, project: &str, url: &str, by_key: bool) -> String {
    let headers = |value: &str| by_key.then(|| json!({ "Authorization": format!("Bearer {value}") }));
    let with = |mut server: Value, headers: Option<Value>| {
        if let Some(headers) = headers {
            server["headers"] = headers;
        }
        server
    };
    let file = |list: &str, server: Value| format!("{:#}", json!({ list: { project: server } }));
    match client {
        "claude-code" => {
            let header = if by_key {
                format!(" \\\n  --header \"Authorization: Bearer ${VARIABLE}\"")
            } else {
                String::new()
            };
            format!("claude mcp add --transport http {project} \"{url}\"{header}")
        }
        "claude-desktop" if by_key => {
            let args = ["mcp", "stdio", "--url", url, "--key-env", VARIABLE];
            let env = json!({ VARIABLE: "the key" });
            file(
                "mcpServers",
                json!({"command": "toolgate", "args": args, "env": env}),
            )
        }
        "claude-desktop" => file(
            "mcpServers",
            json!({"command": "npx", "args": ["mcp-remote", url]}),
        ),
        "cursor" => {
            let headers = headers(&format!("${{env:{VARIABLE}}}"));
            file("mcpServers", with(json!({ "url": url }), headers))
        }
        "windsurf" => {
            let headers = headers(&format!("${{env:{VARIABLE}}}"));
            file("mcpServers", with(json!({ "serverUrl": url }), headers))
        }
        "vscode" => {
            let server = with(
                json!({"type": "http", "url": url}),
                headers("${input:toolgate-key}"),
            );
            let mut whole = json!({"servers": { project: server }});
            if by_key {
                let input = json!({"type": "promptString", "id": "toolgate-key", "description": "Toolgate key", "password": true});
                whole["inputs"] = json!([input]);
            }
            format!("{whole:#}")
        }
        "codex" => {
            let key = if by_key {
                format!("\nbearer_token_env_var = \"{VARIABLE}\"")
            } else {
                String::new()
            };
            format!("[mcp_servers.{project}]\nurl = \"{url}\"{key}")
        }
        "python" => format!(
            r#"import asyncio, os

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client


async def main() -> None:
    headers = {{"Authorization": "Bearer " + os.environ["{VARIABLE}"]}}
    async with httpx2.AsyncClient(headers=headers) as http:
        async with Client(streamable_http_client("{url}", http_client=http)) as client:
            for tool in (await client.list_tools()).tools:
                print(tool.name)


asyncio.run(main())"#
        ),
        "typescript" => format!(
            r#"import {{ Client, StreamableHTTPClientTransport }} from "@modelcontextprotocol/client";

const headers = {{ Authorization: `Bearer ${{process.env.{VARIABLE}}}` }};
const transport = new StreamableHTTPClientTransport(new URL("{url}"), {{ requestInit: {{ headers }} }});
const client = new Client({{ name: "my-agent", version: "1.0.0" }});
await client.connect(transport);
for (const tool of (await client.listTools()).tools) console.log(tool.name);
await client.close();"#
        ),
        _ => format!(
            r#"curl -s "{url}" \
  -H "Authorization: Bearer ${VARIABLE}" \
  --json '{{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}}'"#
        ),
    }
}
