//! The types of tools.

use std::sync::Arc;

use axum::extract::State;
use serde_json::{Map, Value};
use toolgate_api::tool_types::{ToolTypeInfo, ToolTypes};
use toolgate_core::definition::tool_types;

use crate::extract::Caller;
use crate::gateway::Gateway;

/// List the types of tools
///
/// Every value that a definition's `type` may have: what such tools do, whether this server executes them and otherwise
/// what it would need, and the keys of a definition that belong to the type, as a JSON Schema. Editors make forms from it.
#[utoipa::path(get, path = "/tool-types", tag = "tools",
    responses((status = 200, description = "The types", body = ToolTypes)))]
pub async fn list_tool_types(State(gateway): State<Arc<Gateway>>, _caller: Caller) -> axum::Json<ToolTypes> {
    let items = tool_types(gateway.executors.executes()).map(|(kind, missing)| ToolTypeInfo {
        name: kind.name.to_owned(),
        title: kind.title.to_owned(),
        description: kind.description.to_owned(),
        executed: missing.is_none(),
        missing: missing.map(str::to_owned),
        form: match kind.form() {
            Value::Object(form) => form,
            _ => Map::new(),
        },
    });
    axum::Json(ToolTypes {
        items: items.collect(),
    })
}
