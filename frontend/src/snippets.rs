//! Commands to copy into a shell. They hold no secret: the password is asked for, and the token stays in a variable.

use serde_json::Value;

use crate::api::object;
use crate::browser::{encode, origin};

/// The variable of a session's id, and what is written for it in the body of a call.
pub(crate) const SESSION: &str = "TOOLGATE_SESSION";

/// Signs in and keeps the token in a variable. The password goes through a pipe, so it is in no argument list.
pub(crate) fn token(variable: &str, username: &str) -> String {
    format!(
        r#"read -rsp 'Password: ' PASSWORD
export {variable}=$(
  printf '{{"username": "%s", "password": "%s"}}' '{username}' "$(printf %s "$PASSWORD" | sed 's/[\"]/\\&/g')" |
    curl -s {origin}/auth/login --json @- |
    sed 's/.*"access_token": *"\([^"]*\)".*/\1/'
)"#,
        username = username.replace('\'', r"'\''"),
        origin = origin(),
    )
}

/// Calls a tool.
pub(crate) fn call(project: &str, body: &str) -> String {
    curl(project, "TOOLGATE_TOKEN", body)
}

/// Lists the tools that a key may call.
pub(crate) fn list(project: &str) -> String {
    format!(
        r#"curl {origin}/projects/{project}/tools \
  -H "Authorization: Bearer $TOOLGATE_KEY""#,
        origin = origin(),
        project = encode(project),
    )
}

/// Asks for a key and keeps it in `TOOLGATE_KEY`, out of the shell's history.
pub(crate) fn keep_key(prefix: &str) -> String {
    format!("read -rsp 'The key that begins with {prefix}: ' TOOLGATE_KEY && export TOOLGATE_KEY")
}

/// Begins a session by a key, and keeps its id, which ends the address of the answer.
pub(crate) fn begin_session(project: &str, body: &str) -> String {
    format!(
        r#"export {SESSION}=$(
  curl -s -D - -o /dev/null {origin}/projects/{project}/sessions \
    -H "Authorization: Bearer $TOOLGATE_KEY" \
    --json '{body}' |
    sed -n 's|^[Ll]ocation:.*/\([0-9a-f-]*\).*|\1|p'
)"#,
        origin = origin(),
        project = encode(project),
        body = body.replace('\'', r"'\''"),
    )
}

/// The session's id as it is written in the body of a call.
fn session() -> String {
    format!("\"{SESSION}\"")
}

/// Calls a tool by a key.
pub(crate) fn call_by_key(project: &str, body: &str) -> String {
    curl(project, "TOOLGATE_KEY", body)
}

fn curl(project: &str, variable: &str, body: &str) -> String {
    format!(
        r#"curl {origin}/projects/{project}/calls \
  -H "Authorization: Bearer ${variable}" \
  --json '{body}'"#,
        origin = origin(),
        project = encode(project),
        body = body
            .replace('\'', r"'\''")
            .replace(&session(), &format!(r#""'"${SESSION}"'""#)),
    )
}

/// A call in Python, with nothing but its standard library. JSON never has three quotes in a row, so it is left as it is.
pub(crate) fn python_call(project: &str, body: &str) -> String {
    let in_session = if body.contains(&session()) {
        format!(r#".replace("{SESSION}", os.environ["{SESSION}"])"#)
    } else {
        String::new()
    };
    format!(
        r#"import json, os, urllib.request

body = r"""{body}"""{in_session}
request = urllib.request.Request(
    "{origin}/projects/{project}/calls",
    data=body.encode(),
    headers={{
        "Authorization": "Bearer " + os.environ["TOOLGATE_KEY"],
        "Content-Type": "application/json",
    }},
)
print(json.load(urllib.request.urlopen(request)))"#,
        origin = origin(),
        project = encode(project),
    )
}

/// A call in TypeScript. JSON is an expression there too.
pub(crate) fn typescript_call(project: &str, body: &str) -> String {
    format!(
        r#"const response = await fetch("{origin}/projects/{project}/calls", {{
  method: "POST",
  headers: {{
    Authorization: `Bearer ${{process.env.TOOLGATE_KEY}}`,
    "Content-Type": "application/json",
  }},
  body: JSON.stringify({body}),
}});
console.log(await response.json());"#,
        origin = origin(),
        project = encode(project),
        body = body
            .replace('\n', "\n  ")
            .replace(&session(), &format!("process.env.{SESSION}")),
    )
}

/// The message by which a client of the Model Context Protocol calls a tool.
pub(crate) fn mcp_call(tool: &str, arguments: Value) -> String {
    let message = object(vec![
        ("jsonrpc", "2.0".into()),
        ("id", 1.into()),
        ("method", "tools/call".into()),
        (
            "params",
            object(vec![("name", tool.into()), ("arguments", arguments)]),
        ),
    ]);
    format!("{message:#}")
}

/// Three tools to begin with, of which one calls this server.
pub(crate) fn first_steps() -> String {
    include_str!("../../openapi/examples/first-steps.yaml").replace("http://127.0.0.1:8080", &origin())
}

/// A definition to start from.
pub(crate) const EXAMPLE_TOOL: &str = "\
tool_name: read-page
description: Reads a web page and returns its main content as Markdown.
group: [knowledge]
parameters:
  type: object
  properties:
    url:
      type: string
      description: The address of the page.
  required: [url]
options:
  jina:
    mode: reader
";
