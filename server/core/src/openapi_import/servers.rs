//! Where requests go: Server Objects, and Swagger 2.0's `host`, `basePath` and `schemes`.

use serde_json::Value;
use url::Url;

use super::document::Document;
use super::model::{Dialect, ImportOptions};
use crate::redact::address_without_user;

/// The base address of an operation, without a slash at its end.
///
/// # Errors
/// Why there is none, and what to do.
pub(super) fn base_url(
    document: Document<'_>,
    item: &Value,
    operation: &Value,
    options: &ImportOptions,
    notes: &mut Vec<String>,
) -> Result<String, String> {
    if let Some(base) = &options.base_url {
        return Ok(base.trim_end_matches('/').to_owned());
    }
    let written = match document.dialect {
        Dialect::Swagger2 => swagger2(document.root, operation),
        Dialect::OpenApi30 | Dialect::OpenApi31 | Dialect::OpenApi32 => {
            let servers = [operation, item, document.root].into_iter().find_map(|place| {
                place
                    .get("servers")?
                    .as_array()
                    .filter(|servers| !servers.is_empty())
            });
            match servers.map(Vec::as_slice) {
                Some([server, rest @ ..]) => {
                    if !rest.is_empty() {
                        notes.push(format!("the first of {} servers is used", rest.len() + 1));
                    }
                    with_variables(server, options)?
                }
                // "A server with a url of /".
                Some([]) | None => "/".to_owned(),
            }
        }
    };
    absolute(&written, options).map(|base| base.trim_end_matches('/').to_owned())
}

fn with_variables(server: &Value, options: &ImportOptions) -> Result<String, String> {
    let url = server
        .get("url")
        .and_then(Value::as_str)
        .ok_or("the server has no url")?;
    let mut out = String::with_capacity(url.len());
    let mut rest = url;
    while let Some((literal, after)) = rest.split_once('{') {
        let (name, after) = after
            .split_once('}')
            .ok_or_else(|| format!("the server {url:?} has a brace that is not closed"))?;
        let variable = server.get("variables").and_then(|variables| variables.get(name));
        let chosen = options.variables.get(name);
        let value = match (chosen, variable.and_then(|variable| variable.get("default"))) {
            (Some(value), _) => value.clone(),
            (None, Some(Value::String(text))) => text.clone(),
            (None, Some(Value::Number(number))) => number.to_string(),
            (None, _) => {
                return Err(format!(
                    "the server {url:?} has no value for {{{name}}}: say it in variables"
                ));
            }
        };
        let allowed = variable
            .and_then(|variable| variable.get("enum"))
            .and_then(Value::as_array);
        if let (Some(_), Some(allowed)) = (chosen, allowed)
            && !allowed.iter().any(|allowed| allowed.as_str() == Some(&value))
        {
            return Err(format!(
                "the server {url:?} does not take {value:?} for {{{name}}}"
            ));
        }
        out.push_str(literal);
        out.push_str(&value);
        rest = after;
    }
    out.push_str(rest);
    Ok(out)
}

fn swagger2(root: &Value, operation: &Value) -> String {
    let schemes: Vec<&str> = operation
        .get("schemes")
        .or_else(|| root.get("schemes"))
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let text = |key: &str| root.get(key).and_then(Value::as_str).unwrap_or_default();
    let scheme = if schemes.is_empty() || schemes.contains(&"https") {
        "https"
    } else {
        "http"
    };
    match text("host") {
        "" => text("basePath").to_owned(),
        host => format!("{scheme}://{host}{}", text("basePath")),
    }
}

/// An address with its host.
///
/// # Errors
/// That it has none, and nothing says where the description came from.
pub(super) fn absolute(url: &str, options: &ImportOptions) -> Result<String, String> {
    match Url::parse(url) {
        Ok(_) => Ok(url.to_owned()),
        Err(_) => options
            .document_url
            .as_ref()
            .and_then(|document| document.join(url).ok())
            .map(String::from)
            .ok_or_else(|| {
                let url = address_without_user(url);
                format!("the server {url:?} has no host: say the API's address in base_url")
            }),
    }
}

/// Scheme, host and port of an address.
pub(super) fn origin(base_url: &str) -> Option<String> {
    Some(Url::parse(base_url).ok()?.origin().ascii_serialization())
}
