//! A request as the definition of a tool that sends it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use toolgate_api::Diagnostic;

use super::address::{self, Address, Segment};
use super::arguments::{Arguments, typed};
use super::curl::pairs;
use super::request::{Body, Request};
use super::secrets::Secrets;
use super::sent::{Content, Sent};
use super::{Draft, Taken};
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
    let path = draft.path(path);
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

    /// The path, with `{name}` for each argument.
    fn path(&mut self, segments: Vec<Segment>) -> String {
        let mut path = String::new();
        for segment in segments {
            path.push('/');
            match segment {
                Segment::Literal(text) => path.push_str(&text),
                Segment::Argument { name, value } => {
                    let value = value.map(|text| typed(&text));
                    let name = self.arguments.add(&name, "part of the path", value);
                    path.extend(["{", &name, "}"]);
                    self.sent.path.push(name);
                }
            }
        }
        path
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
        for (name, value) in &combined(&request.headers) {
            let lower = name.to_ascii_lowercase();
            if lower == "authorization" {
                self.authorization(value);
            } else if lower == "cookie" {
                self.cookie(value);
            } else if lower == "content-type" || (lower == "accept" && value == "*/*") {
                // The body says it, or it says nothing.
            } else if OWN.contains(&lower.as_str())
                || lower.starts_with("sec-")
                || is_transport(name)
                || is_forwarding(name)
            {
                left_out.push(name.clone());
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

/// The headers of a request, with the values of one name in one list: the same message by RFC 9110 section 5.3.
fn combined(headers: &[(String, String)]) -> Vec<(String, String)> {
    let mut lists: Vec<(String, String)> = Vec::new();
    for (name, value) in headers.iter().filter(|(_, value)| !value.is_empty()) {
        // A list of credentials is no credential.
        let is_list = !name.eq_ignore_ascii_case("authorization");
        match lists
            .iter_mut()
            .find(|(known, _)| is_list && known.eq_ignore_ascii_case(name))
        {
            Some((_, list)) => {
                list.push_str(if name.eq_ignore_ascii_case("cookie") {
                    "; "
                } else {
                    ", "
                });
                list.push_str(value);
            }
            None => lists.push((name.clone(), value.clone())),
        }
    }
    lists
}
