//! A tool that manages the MCP servers of the project.

use serde_json::Value;
use toolgate_api::tool_types;

use super::{Kind, PLAIN};
use crate::definition::execution::ExecutorKind;
use crate::definition::nearest::nearest;
use crate::definition::node::Cursor;
use crate::definition::report::{listed, shown};
use crate::management::Operation;

/// The name of the type.
pub(crate) const NAME: &str = "management";
/// The key with what it does.
pub(crate) const OPERATION: &str = "operation";

pub(super) static KIND: Kind = Kind {
    described: &tool_types::MANAGEMENT,
    executors: &[ExecutorKind::Management],
    incomplete: "the definition names no operation",
    parameters: |tool| operation(tool).map(Operation::parameters),
    require: |tool, _, report| {
        if let Some(at) = written(tool)
            && operation(tool).is_none()
        {
            let names = Operation::ALL.map(Operation::as_str);
            let word = at.node.to_value();
            let word = word.as_str().unwrap_or_default();
            let hint = match nearest(word, names) {
                Some(near) => format!("did you mean {near:?}?"),
                None => format!("operations are {}", listed(names)),
            };
            report.error(&at.spot, format!("unknown operation {}", shown(word)), hint);
        }
        let envs = tool.get("options").and_then(|options| options.get("envs"));
        if let Some(at) = envs.filter(|envs| envs.entries().next().is_some()) {
            report.error(
                &at.spot,
                "a tool of type management takes no environment variables",
                "remove options.envs",
            );
        }
    },
    ..PLAIN
};

/// Where its operation is written.
fn written<'t>(tool: &Cursor<'t>) -> Option<Cursor<'t>> {
    let in_config = || tool.get("config")?.get(OPERATION);
    tool.get(OPERATION).or_else(in_config)
}

fn operation(tool: &Cursor<'_>) -> Option<Operation> {
    match written(tool)?.node.to_value() {
        Value::String(name) => Operation::parse(&name),
        _ => None,
    }
}
