//! A request as the definition of a tool that sends it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use toolgate_api::Diagnostic;

use super::address::{self, Address};
use super::arguments::{Arguments, typed};
use super::curl::pairs;
use super::request::{Body, Request};
use super::{Credential, Draft, Taken};
use crate::definition::HTTP_METHODS;
use crate::http_mapping::headers::{is_forwarding, is_transport};
use crate::imports::{Named, assign};
use crate::redact::is_secret_name;

/// Headers that a browser or `curl` sends of itself, in lower case.
const OWN: [&str; 15] = [
    "user-agent",
    "accept-language",
    "origin",
    "referer",
    "pragma",
    "cache-control",
    "priority",
    "dnt",
    "upgrade-insecure-requests",
    "if-none-match",
    "if-modified-since",
    "x-client-data",
    "save-data",
    "range",
    "http2-settings",
];
/// Names of query parameters that hold a key though nothing else in their name says so.
const KEYS: [&str; 4] = ["key", "appid", "app_id", "apikey"];
/// The media type of forms.
const FORM: &str = "application/x-www-form-urlencoded";

/// Makes a definition.
///
/// # Errors
/// When the address or the method cannot be used.
pub(super) fn of(request: Request, taken: Taken<'_>) -> Result<Draft, Diagnostic> {
    let Address {
        origin,
        host,
        path,
        arguments: of_path,
        query,
        user,
    } = address::read(&request.url)?;
    let method = request.method.clone().unwrap_or_else(|| "GET".to_owned());
    if !HTTP_METHODS.contains(&method.as_str()) {
        let shown: String = method.chars().take(20).collect();
        return Err(Diagnostic::error(format!("the method {shown} cannot be sent"))
            .hint(format!("methods are {}", HTTP_METHODS.join(", "))));
    }
    let mut draft = Making {
        arguments: Arguments::default(),
        secrets: Secrets {
            host: &host,
            taken,
            credentials: Vec::new(),
        },
        auth: None,
        envs: Map::new(),
        sent: Sent::default(),
        notes: Vec::new(),
    };
    for (name, value) in of_path {
        // The name in the path is that of the argument.
        draft
            .arguments
            .add(&name, "part of the path", value.map(|text| typed(&text)));
        draft.sent.path.push(name);
    }
    if let Some(user) = request.user.as_ref().or(user.as_ref()) {
        draft.basic(user.clone());
    }
    draft.query(query);
    draft.headers(&request);
    draft.body(&request);
    let Making {
        arguments,
        secrets,
        auth,
        envs,
        sent,
        notes,
    } = draft;
    let mut http = json!({"base_url": origin, "path": path, "method": method});
    sent.write(&mut http);
    if let Some(auth) = auth {
        http["auth"] = auth;
    }
    let mut options = json!({"http": http});
    if !envs.is_empty() {
        options["envs"] = Value::Object(envs);
    }
    if let Some(timeout) = request.timeout_ms {
        options["timeout_ms"] = timeout.into();
    }
    let definition = json!({
        "name": tool_name(&method, &path, &host, taken),
        "type": "openapi",
        "description": format!("Sends {method} {path} to {host}."),
        "group": ["default"],
        "parameters": arguments.schema(),
        "options": options,
    });
    Ok(Draft {
        definition,
        arguments: arguments.values,
        credentials: secrets.credentials,
        notes: [request.notes, notes].concat(),
    })
}

/// A name that no tool has yet.
fn tool_name(method: &str, path: &str, host: &str, taken: Taken<'_>) -> String {
    let named = if path == "/" { host } else { path };
    let of = [Named {
        id: None,
        method,
        path: named,
    }];
    let wish = assign(&of, "").into_iter().next().unwrap_or_default();
    let more = (2..).map(|number| format!("{wish}_{number}"));
    std::iter::once(wish.clone())
        .chain(more)
        .find(|name| !(taken.tool)(name))
        .unwrap_or(wish)
}

/// A definition while it is made.
struct Making<'a> {
    arguments: Arguments,
    secrets: Secrets<'a>,
    auth: Option<Value>,
    /// Parameters that secrets set.
    envs: Map<String, Value>,
    sent: Sent,
    notes: Vec<Diagnostic>,
}

impl Making<'_> {
    fn left_out(&mut self, what: impl Into<String>) {
        self.notes.push(Diagnostic::warning(what));
    }

    /// The credential of the definition; whether there was still none.
    fn authenticate(
        &mut self,
        scheme: &str,
        name: Option<&str>,
        suffix: &str,
        place: &str,
        value: String,
    ) -> bool {
        if self.auth.is_some() {
            return false;
        }
        let secret = self.secrets.keep(suffix, place, value);
        let mut auth = json!({"scheme": scheme, "env": format!("secret:{secret}")});
        if let Some(name) = name {
            auth["name"] = name.into();
        }
        self.auth = Some(auth);
        true
    }

    /// An argument that a secret sets; its name.
    fn injected(&mut self, wish: &str, suffix: &str, place: &str, value: String) -> String {
        let secret = self.secrets.keep(suffix, place, value);
        let name = self.arguments.hidden(wish, place);
        self.envs.insert(name.clone(), format!("secret:{secret}").into());
        name
    }

    fn basic(&mut self, user: String) {
        let user = if user.contains(':') {
            user
        } else {
            format!("{user}:")
        };
        self.authenticate(
            "basic",
            None,
            "PASSWORD",
            "the header Authorization (Basic)",
            user,
        );
    }

    fn query(&mut self, query: Vec<(String, String)>) {
        let mut values: Vec<(String, Vec<String>)> = Vec::new();
        for (name, value) in query {
            match values.iter_mut().find(|(known, _)| *known == name) {
                Some((_, all)) => all.push(value),
                None => values.push((name, vec![value])),
            }
        }
        for (name, mut all) in values {
            let place = format!("the query parameter {name}");
            let is_key = is_secret_name(&name) || KEYS.contains(&name.to_ascii_lowercase().as_str());
            if is_key && let [value] = all.as_slice() {
                let value = value.clone();
                if !self.authenticate("query", Some(&name), "KEY", &place, value) {
                    self.left_out(format!(
                        "{place} looks like a second credential and was left out: only one may be in an address"
                    ));
                }
                continue;
            }
            let value = match all.len() {
                1 => typed(&all.remove(0)),
                _ => all.iter().map(|text| typed(text)).collect(),
            };
            let argument = self.arguments.add(&name, &place, Some(value));
            self.sent.query.push((name, argument));
        }
    }

    fn headers(&mut self, request: &Request) {
        let mut left_out = Vec::new();
        for (name, value) in &request.headers {
            let lower = name.to_ascii_lowercase();
            if lower == "authorization" {
                self.authorization(value);
            } else if lower == "cookie" {
                self.cookie(value);
            } else if lower == "content-type" || (lower == "accept" && value == "*/*") || value.is_empty() {
                // The body says it, or it says nothing.
            } else if OWN.contains(&lower.as_str())
                || lower.starts_with("sec-")
                || is_transport(name)
                || is_forwarding(name)
            {
                left_out.push(name.as_str());
            } else if is_secret_name(name) {
                let place = format!("the header {name}");
                if !self.authenticate("header", Some(name), "KEY", &place, value.clone()) {
                    let argument = self.injected(name, "KEY", &place, value.clone());
                    self.sent.header.push((name.clone(), argument));
                }
            } else {
                self.sent.constant.insert(name.clone(), value.clone().into());
            }
        }
        if !left_out.is_empty() {
            self.left_out(format!(
                "headers of the client were left out: {}",
                left_out.join(", ")
            ));
        }
    }

    fn authorization(&mut self, value: &str) {
        let (scheme, rest) = value.split_once(' ').unwrap_or((value, ""));
        let rest = rest.trim();
        let place = "the header Authorization";
        let basic = || {
            STANDARD
                .decode(rest)
                .ok()
                .and_then(|bytes| String::from_utf8(bytes).ok())
        };
        let is_new = if scheme.eq_ignore_ascii_case("bearer") && !rest.is_empty() {
            self.authenticate(
                "bearer",
                None,
                "TOKEN",
                "the header Authorization (Bearer)",
                rest.to_owned(),
            )
        } else if scheme.eq_ignore_ascii_case("basic")
            && let Some(user) = basic()
        {
            self.authenticate(
                "basic",
                None,
                "PASSWORD",
                "the header Authorization (Basic)",
                user,
            )
        } else {
            self.authenticate("header", Some("Authorization"), "KEY", place, value.to_owned())
        };
        if !is_new {
            self.left_out("a second credential in the header Authorization was left out");
        }
    }

    fn cookie(&mut self, value: &str) {
        let cookies: Vec<(&str, &str)> = value
            .split(';')
            .filter_map(|cookie| cookie.trim().split_once('='))
            .collect();
        match cookies.as_slice() {
            [] => {}
            [(name, value)]
                if self.authenticate(
                    "cookie",
                    Some(name),
                    "COOKIE",
                    &format!("the cookie {name}"),
                    (*value).to_owned(),
                ) => {}
            _ => {
                let argument = self.injected("cookie", "COOKIE", "the header Cookie", value.to_owned());
                self.sent.header.push(("Cookie".to_owned(), argument));
            }
        }
    }

    fn body(&mut self, request: &Request) {
        let named = request.header("content-type").map(|text| {
            text.split(';')
                .next()
                .unwrap_or_default()
                .trim()
                .to_ascii_lowercase()
        });
        match &request.body {
            Body::None => {}
            Body::File => {
                let argument = self.arguments.add("body", "the body", None);
                self.sent.body = Some(Content::Whole {
                    argument,
                    content_type: named,
                });
            }
            Body::Parts(parts) => {
                let mut fields = Vec::new();
                for part in parts {
                    let place = format!("the field {} of the form", part.name);
                    match &part.value {
                        Some(value) if is_secret_name(&part.name) => {
                            let argument = self.injected(&part.name, "KEY", &place, value.clone());
                            fields.push((part.name.clone(), argument, false));
                        }
                        value => {
                            let typed = value.as_ref().map(|text| typed(text));
                            let argument = self.arguments.add(&part.name, &place, typed);
                            fields.push((part.name.clone(), argument, value.is_none()));
                        }
                    }
                }
                self.sent.body = Some(Content::Parts(fields));
            }
            Body::Text(text) => self.text(text, named),
        }
    }

    fn text(&mut self, text: &str, named: Option<String>) {
        let is_json = named.as_deref().is_none_or(|kind| kind.ends_with("json"));
        let json = serde_json::from_str::<Value>(text).ok();
        match (json, named.as_deref()) {
            (Some(Value::Object(members)), _) if is_json => {
                if named.is_none() {
                    self.left_out("the body is sent as JSON; curl alone would call it a form");
                }
                let fields = members
                    .into_iter()
                    .map(|(name, value)| self.member(name, value, "the body"));
                self.sent.body = Some(Content::Fields(fields.collect()));
                self.sent.json = named.filter(|kind| kind != "application/json");
            }
            (Some(value), Some(_)) if is_json => {
                let argument = self.arguments.add("body", "the body", Some(value));
                self.sent.body = Some(Content::Whole {
                    argument,
                    content_type: Some("application/json".to_owned()),
                });
            }
            (_, None | Some(FORM)) => {
                let mut fields: Vec<(String, String)> = Vec::new();
                for (name, value) in pairs(text) {
                    if fields.iter().any(|(known, _)| *known == name) {
                        self.left_out(format!(
                            "the field {name} occurs several times; its first value was read"
                        ));
                        continue;
                    }
                    fields.push(self.member(name, typed(&value), "the form"));
                }
                self.sent.constant.insert("Content-Type".to_owned(), FORM.into());
                self.sent.body = Some(Content::Fields(fields));
            }
            (_, Some(kind)) => {
                let content_type = if is_json {
                    "text/plain".to_owned()
                } else {
                    kind.to_owned()
                };
                let argument = self.arguments.add("body", "the body", Some(text.into()));
                self.sent.body = Some(Content::Whole {
                    argument,
                    content_type: Some(content_type),
                });
            }
        }
    }

    /// A property of the body, and the argument that is its value.
    fn member(&mut self, name: String, value: Value, of: &str) -> (String, String) {
        let place = format!("the property {name} of {of}");
        let argument = match value {
            Value::String(text) if is_secret_name(&name) && !text.is_empty() => {
                self.injected(&name, "KEY", &place, text)
            }
            value => self.arguments.add(&name, &place, Some(value)),
        };
        (name, argument)
    }
}

/// Where the arguments of a request go.
#[derive(Default)]
struct Sent {
    path: Vec<String>,
    query: Vec<(String, String)>,
    header: Vec<(String, String)>,
    constant: Map<String, Value>,
    body: Option<Content>,
    /// The media type of a body of JSON, where it is another than the usual one.
    json: Option<String>,
}

/// The body of a request.
enum Content {
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
    fn write(self, http: &mut Value) {
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

/// The credentials of a text, and the secrets that are named for them.
struct Secrets<'a> {
    host: &'a str,
    taken: Taken<'a>,
    credentials: Vec<Credential>,
}

impl Secrets<'_> {
    /// Keeps a credential; the name of its secret.
    fn keep(&mut self, suffix: &str, place: &str, value: String) -> String {
        let wish = format!("{}_{suffix}", prefix(self.host));
        let more = (2..).map(|number| format!("{wish}_{number}"));
        let is_free = |name: &String| {
            !(self.taken.secret)(name) && self.credentials.iter().all(|known| known.secret != *name)
        };
        let secret = std::iter::once(wish.clone())
            .chain(more)
            .find(is_free)
            .unwrap_or(wish);
        self.credentials.push(Credential {
            secret: secret.clone(),
            place: place.to_owned(),
            value: (!is_placeholder(&value)).then_some(value),
        });
        secret
    }
}

/// What the names of a host's secrets begin with: `api.example.com` gives `EXAMPLE`.
fn prefix(host: &str) -> String {
    let labels: Vec<&str> = host.split('.').collect();
    let label = match labels.as_slice() {
        [.., name, _] if host.contains(|c: char| c.is_ascii_alphabetic()) => name,
        _ => host,
    };
    let letter = |c: char| {
        if c.is_ascii_alphanumeric() {
            c.to_ascii_uppercase()
        } else {
            '_'
        }
    };
    let name: String = label.chars().take(40).map(letter).collect();
    let name = name.trim_matches('_');
    if name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        name.to_owned()
    } else {
        format!("HOST_{name}").trim_end_matches('_').to_owned()
    }
}

/// Whether a value stands for one: `$TOKEN`, `${TOKEN}`, `<token>`, `{token}`, `YOUR_API_KEY`, `***`.
fn is_placeholder(value: &str) -> bool {
    // Of `user:password` the password counts, unless the user is the key: `-u sk_live_...:`.
    let value = value
        .trim_end_matches(':')
        .rsplit(':')
        .next()
        .unwrap_or_default()
        .trim();
    let upper = value.to_ascii_uppercase();
    value.is_empty()
        || value.starts_with('$')
        || (value.starts_with(['<', '{', '[']) && value.ends_with(['>', '}', ']']))
        || upper.starts_with("YOUR_")
        || upper.starts_with("YOUR-")
        || value.chars().all(|c| matches!(c, '*' | 'x' | 'X' | '.' | '…'))
}
