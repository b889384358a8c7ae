//! Requests as tables, and properties against a plain oracle.

mod bodies;
mod names;
mod oracle;
mod parameters;
mod styles;

use serde_json::{Value, json};

use super::{Argument, MappedRequest, MappingError, RequestMapping};
use crate::definition::model::request::HttpRequest;
use std::borrow::Cow;

/// The request that a definition makes of arguments.
fn map(path: &str, request: Value, arguments: &Value) -> Result<MappedRequest, MappingError> {
    let request: HttpRequest = serde_json::from_value(request).expect("a request");
    RequestMapping::new(path, &request)?.map(&|name| {
        arguments.get(name).map(|value| Argument {
            value: Cow::Borrowed(value),
            secret: false,
        })
    })
}

/// One parameter `color`, of which the argument has the same name.
fn parameter(location: &str, more: &Value) -> Value {
    let mut parameter = json!({"name": "color", "in": location});
    for (key, value) in more.as_object().into_iter().flatten() {
        parameter[key] = value.clone();
    }
    parameter
}

/// What is sent for a parameter `color` with this value: the path after its slash, the query, the header, or the cookies.
fn sent(location: &str, more: &Value, value: &Value) -> Result<String, MappingError> {
    let path = if location == "path" { "/{color}" } else { "" };
    let request = json!({"parameters": [parameter(location, more)]});
    let mapped = map(path, request, &json!({"color": value}))?;
    Ok(match location {
        "path" => mapped.path[1..].to_owned(),
        "query" | "querystring" => mapped.query,
        _ => mapped.headers.into_iter().map(|header| header.value).collect(),
    })
}
