//! Commands to copy into a shell. They hold no secret: the password is asked for, and the token stays in a variable.

use crate::browser::{encode, origin};

/// Signs in and keeps the token in `TOOLGATE_TOKEN`. The password goes through a pipe, so it is in no argument list.
pub(crate) fn token(username: &str) -> String {
    format!(
        r#"read -rsp 'Password: ' PASSWORD
export TOOLGATE_TOKEN=$(
  printf '{{"username": "%s", "password": "%s"}}' '{username}' "$PASSWORD" |
    curl -s {origin}/auth/login --json @- |
    sed 's/.*"access_token": *"\([^"]*\)".*/\1/'
)"#,
        username = username.replace('\'', r"'\''"),
        origin = origin(),
    )
}

/// Creates a first project.
pub(crate) fn create_project() -> String {
    format!(
        r#"curl {origin}/projects \
  -H "Authorization: Bearer $TOOLGATE_TOKEN" \
  --json '{{"id": "demo", "name": "Demonstration"}}'"#,
        origin = origin(),
    )
}

/// Uploads `tool.yaml` to a project.
pub(crate) fn upload_tool(project: &str) -> String {
    format!(
        r#"curl {origin}/projects/{project}/tools \
  -H "Authorization: Bearer $TOOLGATE_TOKEN" \
  -H "Content-Type: application/yaml" \
  --data-binary @tool.yaml"#,
        origin = origin(),
        project = encode(project),
    )
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
