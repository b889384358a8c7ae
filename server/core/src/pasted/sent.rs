//! Where a request's arguments go, in the form of a definition.

use serde_json::{Map, Value, json};

/// Where the arguments of a request go.
#[derive(Default)]
pub(super) struct Sent {
    pub(super) path: Vec<String>,
    pub(super) query: Vec<(String, String)>,
    pub(super) header: Vec<(String, String)>,
    pub(super) constant: Map<String, Value>,
    pub(super) body: Option<Content>,
    /// The media type of a body of JSON, where it is another than the usual one.
    pub(super) json: Option<String>,
}

/// The body of a request.
pub(super) enum Content {
    /// Property and argument.
    Fields(Vec<(String, String)>),
    /// Field, argument, and whether it is a file.
    Parts(Vec<(String, String, bool)>),
    /// One argument.
    Whole {
        argument: String,
        content_type: Option<String>,
    },
}

impl Sent {
    /// Writes it in the short form, or exactly where that is needed.
    pub(super) fn write(self, http: &mut Value) {
        let pairs = |pairs: &[(String, String)]| {
            let pairs = pairs
                .iter()
                .map(|(name, argument)| (name.clone(), Value::from(argument.clone())));
            Value::Object(pairs.collect())
        };
        if !self.constant.is_empty() {
            http["headers"] = Value::Object(self.constant);
        }
        let exact = match self.body {
            Some(Content::Fields(fields)) => {
                http["body"] = pairs(&fields);
                if let Some(kind) = self.json {
                    http["headers"]["Content-Type"] = kind.into();
                }
                None
            }
            None => None,
            Some(Content::Parts(parts)) => {
                let properties: Map<String, Value> = parts
                    .iter()
                    .map(|(name, argument, _)| (name.clone(), argument.clone().into()))
                    .collect();
                let files: Map<String, Value> = parts
                    .iter()
                    .filter(|(_, _, is_file)| *is_file)
                    .map(|(name, ..)| (name.clone(), json!({"file": true})))
                    .collect();
                let mut body = json!({"content_type": "multipart/form-data", "properties": properties});
                if !files.is_empty() {
                    body["encoding"] = Value::Object(files);
                }
                Some(body)
            }
            Some(Content::Whole {
                argument,
                content_type,
            }) => Some(json!({
                "content_type": content_type.unwrap_or_else(|| "text/plain".to_owned()),
                "argument": argument,
            })),
        };
        let Some(body) = exact else {
            if !self.query.is_empty() {
                http["query"] = pairs(&self.query);
            }
            if !self.header.is_empty() {
                http["header"] = pairs(&self.header);
            }
            return;
        };
        let place = |at: &'static str| move |(name, argument): &(String, String)| json!({"name": name, "in": at, "argument": argument});
        let path = self.path.iter().map(|name| json!({"name": name, "in": "path"}));
        let parameters: Vec<Value> = path
            .chain(self.query.iter().map(place("query")))
            .chain(self.header.iter().map(place("header")))
            .collect();
        http["request"] = json!({"parameters": parameters, "body": body});
    }
}
