//! The REST API: the only code that speaks HTTP.

mod client;
mod error;
mod events;

pub(crate) use client::{Answer, Ask, Body, json_of, parse, read_json};
pub(crate) use error::ApiError;

use serde_json::{Map, Value};

use crate::browser::encode;

/// Items per page of a list.
pub(crate) const PAGE_SIZE: usize = 50;

/// The path of something in a project; the parts are encoded.
pub(crate) fn in_project(project: &str, parts: &[&str]) -> String {
    below(format!("/projects/{}", encode(project)), parts)
}

/// The path of something that projects and the server have: in the project, or of the server where its id is empty.
pub(crate) fn in_project_or_server(project: &str, parts: &[&str]) -> String {
    match project {
        "" => below(String::new(), parts),
        project => in_project(project, parts),
    }
}

fn below(mut path: String, parts: &[&str]) -> String {
    for part in parts {
        path.push('/');
        path.push_str(&encode(part));
    }
    path
}

/// A JSON object with these members.
pub(crate) fn object(members: Vec<(&str, Value)>) -> Value {
    let mut map = Map::new();
    for (name, value) in members {
        map.insert(name.to_owned(), value);
    }
    Value::Object(map)
}

/// A path with those parameters that are not empty.
pub(crate) fn with_query(mut path: String, query: &[(&str, &str)]) -> String {
    for (name, value) in query {
        if !value.is_empty() {
            path.push(if path.contains('?') { '&' } else { '?' });
            path.push_str(name);
            path.push('=');
            path.push_str(&encode(value));
        }
    }
    path
}
