//! A whole request: path, query, headers, cookies and body.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::body::{self, BodyMapping};
use super::escape::Escape;
use super::file::LinkedFile;
use super::media::MediaKind;
use super::names::Sent;
use super::path::PathMapping;
use super::places::Place;
use super::style::{self, EncodedPairs, Pairs, Rule};
use super::{Argument, Lookup, MappedHeader, MappedRequest, MappingError, names};
use crate::definition::model::HttpAuth;
use crate::definition::model::request::{HttpRequest, ParameterLocation, ParameterStyle, RequestParameter};

/// `options.http.request`, made ready.
pub struct RequestMapping {
    path: PathMapping,
    queries: Vec<RequestParameter>,
    headers: Vec<RequestParameter>,
    cookies: Vec<RequestParameter>,
    body: Option<BodyMapping>,
    /// The name of the credential, where it is in the query.
    query_credential: Option<String>,
    /// The name of the credential, where it is a cookie.
    cookie_credential: Option<String>,
}

impl RequestMapping {
    /// Makes a definition ready. `path` begins with a slash or is empty.
    ///
    /// # Errors
    /// [`MappingError::Definition`]; never for a checked definition.
    pub fn new(path: &str, request: &HttpRequest) -> Result<Self, MappingError> {
        let at = |locations: &[ParameterLocation]| -> Vec<RequestParameter> {
            request
                .parameters
                .iter()
                .filter(|parameter| locations.contains(&parameter.location))
                .cloned()
                .collect()
        };
        Ok(Self {
            path: PathMapping::new(path, &at(&[ParameterLocation::Path]))?,
            queries: at(&[ParameterLocation::Query, ParameterLocation::Querystring]),
            headers: at(&[ParameterLocation::Header]),
            cookies: at(&[ParameterLocation::Cookie]),
            body: request.body.as_ref().map(BodyMapping::new).transpose()?,
            query_credential: None,
            cookie_credential: None,
        })
    }

    /// The same request, which carries this credential too: no argument is sent under its name.
    #[must_use]
    pub fn beside(mut self, auth: Option<&HttpAuth>) -> Self {
        let place = auth.and_then(Place::of_credential);
        self.query_credential = place.and_then(Place::in_query).map(str::to_owned);
        self.cookie_credential = place.and_then(Place::in_cookies).map(str::to_owned);
        self
    }

    /// Whether there is a place for a file.
    #[must_use]
    pub fn takes_files(&self) -> bool {
        self.body.as_ref().is_some_and(BodyMapping::takes_files)
    }

    /// The files among the arguments that are given by their address. Each is to be [resolved](LinkedFile::resolve) before the
    /// request is made.
    #[must_use]
    pub fn linked_files<'a>(&self, arguments: &'a mut Map<String, Value>) -> Vec<LinkedFile<'a>> {
        let mut found = Vec::new();
        if let Some(body) = &self.body {
            body.linked_files(arguments, &mut found);
        }
        found
    }

    /// Makes the request of one call. Arguments that are absent are not sent.
    ///
    /// # Errors
    /// [`MappingError::Arguments`] when an argument does not fit its place; [`MappingError::Definition`] when a secret
    /// would be part of the address.
    pub fn map(&self, lookup: Lookup<'_>) -> Result<MappedRequest, MappingError> {
        let mut headers = Vec::with_capacity(self.headers.len() + 1);
        for parameter in &self.headers {
            headers.extend(header(parameter, lookup)?);
        }
        headers.extend(self.cookie(lookup)?);
        Ok(MappedRequest {
            path: self.path.write(lookup)?,
            query: self.query(lookup)?,
            headers,
            body: match &self.body {
                Some(body) => body.write(lookup)?,
                None => None,
            },
        })
    }

    fn query(&self, lookup: Lookup<'_>) -> Result<String, MappingError> {
        let mut query = String::new();
        let given = given(&self.queries, lookup);
        distinct(&given, self.query_credential.as_deref())?;
        for (parameter, argument) in &given {
            let value = for_address(argument, parameter.argument())?;
            if parameter.location == ParameterLocation::Querystring {
                query.push_str(&whole_query(parameter, value)?);
                continue;
            }
            let mut pairs = EncodedPairs {
                out: &mut query,
                between: "&",
                escape: if parameter.allow_reserved {
                    Escape::ReservedInQuery
                } else {
                    Escape::Strict
                },
            };
            put(&mut pairs, parameter, value)?;
        }
        Ok(query)
    }

    fn cookie(&self, lookup: Lookup<'_>) -> Result<Option<MappedHeader>, MappingError> {
        let mut text = String::new();
        let mut secret = false;
        let given = given(&self.cookies, lookup);
        distinct(&given, self.cookie_credential.as_deref())?;
        for (parameter, argument) in &given {
            let raw = parameter.style() == ParameterStyle::Cookie && parameter.content_type.is_none();
            if raw && !is_cookie_value(&argument.value) {
                return Err(MappingError::argument(
                    parameter.argument(),
                    "a cookie takes visible ASCII characters but blanks, quotes, commas, semicolons and backslashes",
                ));
            }
            let mut pairs = EncodedPairs {
                out: &mut text,
                between: "; ",
                escape: if raw { Escape::None } else { Escape::Strict },
            };
            put(&mut pairs, parameter, &argument.value)?;
            secret |= argument.secret;
        }
        Ok((!text.is_empty()).then(|| MappedHeader {
            name: "Cookie".to_owned(),
            value: text,
            secret,
        }))
    }
}

/// The parameters whose arguments were given.
fn given<'p, 'l>(
    parameters: &'p [RequestParameter],
    lookup: Lookup<'l>,
) -> Vec<(&'p RequestParameter, Argument<'l>)> {
    parameters
        .iter()
        .filter_map(|parameter| Some((parameter, lookup(parameter.argument())?)))
        .collect()
}

fn distinct(
    given: &[(&RequestParameter, Argument<'_>)],
    credential: Option<&str>,
) -> Result<(), MappingError> {
    let sent = given
        .iter()
        .map(|(parameter, argument)| Sent::parameter(parameter, &argument.value));
    names::distinct(&sent.collect::<Vec<_>>(), credential)
}

/// How a parameter's lists and objects are written.
pub(super) fn rule(parameter: &RequestParameter) -> Rule {
    Rule {
        style: parameter.style(),
        explode: parameter.explode(),
    }
}

/// The value, refused when it would put a secret into the address.
pub(super) fn for_address<'a>(argument: &'a Argument<'_>, name: &str) -> Result<&'a Value, MappingError> {
    if argument.secret {
        return Err(MappingError::Definition(format!(
            "the environment parameter `{name}` would be part of the URL, where secrets leak into logs: map it to a header or the body"
        )));
    }
    Ok(&argument.value)
}

/// The text of a parameter that is a document of a media type; `None` for one with a style.
pub(super) fn document<'v>(
    parameter: &RequestParameter,
    value: &'v Value,
) -> Result<Option<Cow<'v, str>>, MappingError> {
    let Some(media_type) = &parameter.content_type else {
        return Ok(None);
    };
    let fault = |problem: &str| MappingError::argument(parameter.argument(), problem);
    let text = match MediaKind::of(media_type) {
        Some(MediaKind::Json) => Cow::Owned(value.to_string()),
        Some(MediaKind::Form) => {
            let form = value.as_object().ok_or_else(|| fault("a form is an object"))?;
            Cow::Owned(body::write_form(form, &BTreeMap::new()))
        }
        Some(MediaKind::Text) => match value {
            Value::Array(_) | Value::Object(_) => return Err(fault("must be a text")),
            scalar => style::text(scalar),
        },
        Some(MediaKind::Multipart | MediaKind::Binary) | None => {
            return Err(MappingError::Definition(format!(
                "a parameter cannot be a document of type {media_type:?}"
            )));
        }
    };
    Ok(Some(text))
}

/// The whole query is one document. A form is a query unchanged, everything else is escaped.
fn whole_query(parameter: &RequestParameter, value: &Value) -> Result<String, MappingError> {
    let text = document(parameter, value)?.unwrap_or_else(|| style::text(value));
    let is_form = parameter
        .content_type
        .as_deref()
        .is_some_and(|media_type| MediaKind::of(media_type) == Some(MediaKind::Form));
    let mut query = String::with_capacity(text.len());
    if is_form { Escape::None } else { Escape::Strict }.write(&mut query, &text);
    Ok(query)
}

/// Writes one parameter of a query or cookie.
fn put(
    pairs: &mut EncodedPairs<'_>,
    parameter: &RequestParameter,
    value: &Value,
) -> Result<(), MappingError> {
    match document(parameter, value)? {
        Some(text) => {
            pairs.name(&parameter.name);
            pairs.value(&text);
        }
        None => style::pairs(pairs, &parameter.name, value, rule(parameter)),
    }
    Ok(())
}

/// One header; `None` when its argument is absent, null, or a list or object without members.
fn header(parameter: &RequestParameter, lookup: Lookup<'_>) -> Result<Option<MappedHeader>, MappingError> {
    let name = parameter.argument();
    let Some(argument) = lookup(name).filter(|argument| !argument.value.is_null()) else {
        return Ok(None);
    };
    let value = match document(parameter, &argument.value)? {
        // JSON can say every character in ASCII.
        Some(text) if !text.is_ascii() && is_json(parameter) => ascii_json(&text),
        Some(text) => text.into_owned(),
        None if style::is_undefined(&argument.value) => return Ok(None),
        None => style::header(&argument.value, rule(parameter).explode),
    };
    let is_line = value
        .bytes()
        .all(|byte| byte == b'\t' || (b' '..=b'~').contains(&byte));
    if !is_line {
        let problem = "a header takes one line of visible ASCII characters";
        return Err(if argument.secret {
            MappingError::Definition(format!("the environment value of `{name}`: {problem}"))
        } else {
            MappingError::argument(name, problem)
        });
    }
    Ok(Some(MappedHeader {
        name: parameter.name.clone(),
        value,
        secret: argument.secret,
    }))
}

fn is_json(parameter: &RequestParameter) -> bool {
    parameter
        .content_type
        .as_deref()
        .is_some_and(|media_type| MediaKind::of(media_type) == Some(MediaKind::Json))
}

/// JSON text with every character beyond ASCII as `\uXXXX`. Outside strings JSON has none.
fn ascii_json(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if c.is_ascii() {
            out.push(c);
        } else {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    out
}

/// Whether everything in a value is allowed in a cookie unescaped (RFC 6265, section 4.1.1).
fn is_cookie_value(value: &Value) -> bool {
    let plain = |text: &str| {
        text.bytes()
            .all(|byte| (b'!'..=b'~').contains(&byte) && !b"\",;\\".contains(&byte))
    };
    match value {
        Value::Array(items) => items.iter().all(|item| plain(&style::text(item))),
        Value::Object(members) => members
            .iter()
            .all(|(name, member)| plain(name) && !name.contains('=') && plain(&style::text(member))),
        scalar => plain(&style::text(scalar)),
    }
}
