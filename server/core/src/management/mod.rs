//! The management tools: what each takes, and which of the names that it knows a given name means (tools subsystem
//! specification, "Management tools").

mod names;
mod request;

use serde_json::{Value, json};

pub use self::names::{meant, unknown};
pub use self::request::{NewServer, Request};

/// The argument of `mcp_invoke_tool` with the arguments of the other tool.
pub const INVOKED_ARGUMENTS: &str = "arguments";

/// What a management tool does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Lists the MCP servers of the project.
    ListServices,
    /// Describes the tools of one.
    GetServiceDetails,
    /// Calls a tool of one.
    InvokeTool,
    /// Adds one.
    RegisterServer,
    /// Removes one.
    UnregisterServer,
}

impl Operation {
    /// Every operation, in the order of the specification.
    pub const ALL: [Self; 5] = [
        Self::ListServices,
        Self::GetServiceDetails,
        Self::InvokeTool,
        Self::RegisterServer,
        Self::UnregisterServer,
    ];

    /// Its name in definitions.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ListServices => "mcp_list_services",
            Self::GetServiceDetails => "mcp_get_service_details",
            Self::InvokeTool => "mcp_invoke_tool",
            Self::RegisterServer => "mcp_register_server",
            Self::UnregisterServer => "mcp_unregister_server",
        }
    }

    /// The operation of a name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|operation| operation.as_str() == name)
    }

    /// Whether it changes nothing itself.
    #[must_use]
    pub const fn only_reads(self) -> bool {
        matches!(self, Self::ListServices | Self::GetServiceDetails)
    }

    /// The JSON Schema of its arguments, for definitions that state none.
    #[must_use]
    pub fn parameters(self) -> Value {
        let server =
            || json!({"type": "string", "description": "The server's name, as mcp_list_services gives it."});
        let (properties, required): (Value, &[&str]) = match self {
            Self::ListServices => (json!({}), &[]),
            Self::GetServiceDetails => (
                json!({
                    "server_name": server(),
                    "tool_name": {"type": "string", "description": "Only this tool of the server."},
                }),
                &["server_name"],
            ),
            Self::InvokeTool => (
                json!({
                    "server_name": server(),
                    "tool_name": {"type": "string", "description": "The tool's name, as mcp_get_service_details gives it."},
                    INVOKED_ARGUMENTS: {"type": "object", "description": "The tool's arguments, as its parameters_schema says.", "properties": {}},
                }),
                &["server_name", "tool_name"],
            ),
            Self::RegisterServer => (
                json!({
                    "server_name": {"type": "string", "description": "A new name: a-z, 0-9 and -, beginning with a letter."},
                    "command": {"type": "string", "description": "The command of a server that is a process. Instead of url."},
                    "arguments": {"type": "array", "items": {"type": "string"}, "description": "The arguments of the command."},
                    "url": {"type": "string", "description": "The address of a server over HTTP. Instead of command."},
                    "description": {"type": "string", "description": "What the server is for."},
                }),
                &["server_name"],
            ),
            Self::UnregisterServer => (json!({"server_name": server()}), &["server_name"]),
        };
        let mut schema = json!({"type": "object", "properties": properties, "additionalProperties": false});
        if !required.is_empty() {
            schema["required"] = json!(required);
        }
        schema
    }
}

#[cfg(test)]
mod tests;
