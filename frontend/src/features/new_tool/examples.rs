//! Definitions of each kind to start from.

use crate::language::marked;

/// Name and definition.
pub(super) const EXAMPLES: [(&str, &str); 5] = [
    (
        marked("HTTP request"),
        r#"name: get-user
type: openapi
description: Gets a user by id.
group: [default]
parameters:
  type: object
  properties:
    id: {type: integer, description: The id of the user., examples: [1]}
  required: [id]
  additionalProperties: false
options:
  http: {base_url: "https://api.example.com", path: "/users/{id}"}
"#,
    ),
    (
        marked("Web page reader"),
        r#"name: read-page
type: openapi
description: Reads a web page as Markdown.
group: [default]
parameters:
  type: object
  properties:
    url: {type: string, description: The address of the page., examples: ["https://example.com"]}
  required: [url]
  additionalProperties: false
options:
  timeout_ms: 60000
  jina: {mode: reader}
"#,
    ),
    (
        marked("Fixed answer"),
        r#"name: greet
type: static
description: Answers with a greeting.
group: [default]
parameters:
  type: object
  properties:
    name: {type: string, description: Who is greeted., examples: [Ann]}
  required: [name]
  additionalProperties: false
options:
  static: {result: {text: hello}}
"#,
    ),
    (
        marked("Tool of an MCP server"),
        r#"name: search-issues
type: mcp-tool
description: Searches issues by the MCP server tracker.
group: [default]
parameters:
  type: object
  properties:
    query: {type: string, description: The words to search for.}
  required: [query]
mcp_server: tracker
mcp_tool_id: search_issues
"#,
    ),
    (
        marked("Worker on the message bus"),
        r#"tool_name: summarize
description: Summarizes a text.
group: [default]
parameters:
  type: object
  properties:
    text: {type: string, description: The text.}
  required: [text]
target_subject: cmd.tool.summarizer.run
after_execution: suspend
"#,
    ),
];
