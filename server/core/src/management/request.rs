//! The arguments of a management tool, read.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::Operation;

/// What a call of a management tool asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// The MCP servers.
    ListServices,
    /// The tools of one, or one of them.
    GetServiceDetails {
        /// The server.
        server: String,
        /// Only this tool.
        tool: Option<String>,
    },
    /// A call of a tool.
    InvokeTool {
        /// The server.
        server: String,
        /// The tool.
        tool: String,
        /// The tool's arguments.
        arguments: Map<String, Value>,
    },
    /// A new server.
    RegisterServer(NewServer),
    /// The end of a server.
    UnregisterServer {
        /// The server.
        server: String,
    },
}

/// A server to be registered.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewServer {
    /// Its name.
    pub server_name: String,
    /// The command of a process.
    #[serde(default)]
    pub command: Option<String>,
    /// The arguments of the command.
    #[serde(default)]
    pub arguments: Option<Vec<String>>,
    /// The address of a server over HTTP.
    #[serde(default)]
    pub url: Option<String>,
    /// What it is for.
    #[serde(default)]
    pub description: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OneServer {
    server_name: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OneService {
    server_name: String,
    #[serde(default)]
    tool_name: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OneTool {
    server_name: String,
    tool_name: String,
    #[serde(default)]
    arguments: Option<Map<String, Value>>,
}

impl Request {
    /// Reads the arguments of an operation. A definition may state parameters of its own, so what has passed them is read
    /// strictly here.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn read(operation: Operation, arguments: Map<String, Value>) -> Result<Self, String> {
        // Without the words of serde, which repeat values.
        fn one<T: DeserializeOwned>(
            operation: Operation,
            arguments: Map<String, Value>,
        ) -> Result<T, String> {
            serde_json::from_value(Value::Object(arguments)).map_err(|_| {
                let (name, parameters) = (operation.as_str(), operation.parameters());
                format!("the arguments do not fit {name}, whose own parameters are {parameters}")
            })
        }
        Ok(match operation {
            Operation::ListServices => {
                let Nothing {} = one(operation, arguments)?;
                Self::ListServices
            }
            Operation::GetServiceDetails => {
                let asked: OneService = one(operation, arguments)?;
                Self::GetServiceDetails {
                    server: asked.server_name,
                    tool: asked.tool_name,
                }
            }
            Operation::InvokeTool => {
                let asked: OneTool = one(operation, arguments)?;
                Self::InvokeTool {
                    server: asked.server_name,
                    tool: asked.tool_name,
                    arguments: asked.arguments.unwrap_or_default(),
                }
            }
            Operation::RegisterServer => Self::RegisterServer(one(operation, arguments)?),
            Operation::UnregisterServer => {
                let asked: OneServer = one(operation, arguments)?;
                Self::UnregisterServer {
                    server: asked.server_name,
                }
            }
        })
    }
}
