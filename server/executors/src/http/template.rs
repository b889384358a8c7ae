//! `options.http` made ready: a definition and arguments become a [`RequestPlan`].

use bytes::Bytes;
use http::header::{self, HeaderName, HeaderValue};
use http::{HeaderMap, Method};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use secrecy::SecretString;
use serde_json::{Map, Value};
use toolgate_core::definition::model::{HttpBody, HttpOptions};
use toolgate_core::http_mapping::media::MediaKind;
use toolgate_core::http_mapping::{LinkedFile, Rest, Unmapped, form as form_body, places};
use url::Url;

use super::credential::Credential;
use super::exact::ExactRequest;
use super::headers;
use super::oauth::OAuthTemplate;
use super::plan::{Argument, Inputs, RequestPlan, append_query, scalar};
use super::redirect::Hop;
use super::result::ResultTemplate;
use super::retry::RetryPolicy;
use super::send::Answer;
use super::{answer, links};
use crate::egress::parse_exact;
use crate::failure::Failure;
use crate::invocation::Execution;
use crate::redact::Secrets;

/// Everything but the unreserved characters of RFC 3986.
pub(crate) const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

const ACCEPT: &str = "application/json, text/*;q=0.9, */*;q=0.5";

/// A prepared `options.http`.
pub(crate) struct HttpTemplate {
    /// Scheme, host, port and path prefix, without a slash at the end.
    base: String,
    /// The URL without a query, when no argument is part of its path.
    fixed: Option<Url>,
    label: String,
    method: Method,
    path: Vec<Piece>,
    query: Vec<(String, String)>,
    header: Vec<(HeaderName, String)>,
    body: Option<HttpBody>,
    /// The request whose every part is named; then `path`, `query`, `header` and `body` say nothing.
    exact: Option<ExactRequest>,
    constant: HeaderMap,
    credential: Option<Credential>,
    retry: RetryPolicy,
    idempotency_header: Option<HeaderName>,
    result: Option<ResultTemplate>,
    /// How and where it is asked whether the upstream is well.
    probe: Option<(Method, Url)>,
    /// Whether the short form's body is written as a form.
    form: bool,
    /// What becomes of arguments without a place of their own in the short form.
    unmapped: Unmapped,
}

enum Piece {
    Literal(String),
    Argument(String),
}

/// The URL of a path without arguments.
fn fixed(base: &str, path: &[Piece]) -> Option<Url> {
    let mut url = base.to_owned();
    for piece in path {
        match piece {
            Piece::Literal(text) => url.push_str(text),
            Piece::Argument(_) => return None,
        }
    }
    // What stands for `.` and `..` is refused when it is used.
    let plain = !url[base.len()..]
        .split('/')
        .any(|segment| matches!(segment, "." | ".."));
    Url::parse(&url).ok().filter(|_| plain)
}

impl HttpTemplate {
    /// Prepares it.
    ///
    /// # Errors
    /// `tool_unavailable` when the definition cannot be executed.
    pub(crate) fn new(options: &HttpOptions) -> Result<Self, Failure> {
        if let Some(conflict) = places::conflicts(options).into_iter().next() {
            return Err(Failure::misconfigured(conflict.message));
        }
        let url = base_url(&options.base_url)?;
        let base = url.as_str().trim_end_matches('/').to_owned();
        let exact = match &options.request {
            Some(request) => {
                literal_path(&options.path)?;
                let path = slashed(&options.path);
                Some(ExactRequest::new(&base, &path, request, options.auth.as_ref())?)
            }
            None => None,
        };
        let path = pieces(&options.path)?;
        let query: Vec<_> = options
            .query
            .iter()
            .map(|(to, from)| (to.clone(), from.clone()))
            .collect();
        let header = options
            .header
            .iter()
            .map(|(to, from)| Ok((headers::name(to)?, from.clone())))
            .collect::<Result<Vec<_>, Failure>>()?;
        let result = options.result.as_ref();
        let accept = result
            .filter(|result| !result.accept.is_empty())
            .map_or_else(|| ACCEPT.to_owned(), |result| result.accept.join(", "));
        let retry = options.retry.as_ref();
        let idempotency_header = retry
            .and_then(|retry| retry.idempotency_header.as_deref())
            .map(headers::name)
            .transpose()?;
        let probe = match &options.probe {
            Some(probe) => {
                let url = Url::parse(&format!("{base}{}", probe.path))
                    .map_err(|_| Failure::misconfigured("`probe.path` does not make a valid URL"))?;
                Some((headers::method(probe.method.as_deref(), Method::GET)?, url))
            }
            None => None,
        };
        Ok(Self {
            label: format!("{}{}", url.host_str().unwrap_or_default(), slashed(&options.path)),
            fixed: fixed(&base, &path),
            base,
            method: headers::method(options.method.as_deref(), Method::GET)?,
            path,
            query,
            header,
            body: options.body.clone(),
            exact,
            constant: headers::constant(&options.headers, &accept)?,
            credential: options.auth.as_ref().map(Credential::new).transpose()?,
            retry: RetryPolicy::new(retry),
            idempotency_header,
            result: result.map(ResultTemplate::new).transpose()?,
            probe,
            form: is_form(options)?,
            unmapped: Unmapped::new(options, [].iter()),
        })
    }

    /// Host and path template.
    pub(crate) fn label(&self) -> &str {
        &self.label
    }

    /// Scheme, host, port and path prefix.
    pub(crate) fn base(&self) -> &str {
        &self.base
    }

    /// The variable that holds the credential.
    pub(crate) fn credential_env(&self) -> Option<&str> {
        self.credential.as_ref().and_then(Credential::env)
    }

    /// How its token is fetched, if it presents one.
    pub(crate) fn token(&self) -> Option<&OAuthTemplate> {
        self.credential.as_ref().and_then(Credential::token)
    }

    /// The header by which the upstream knows a repetition.
    pub(crate) fn idempotency_header(&self) -> Option<&HeaderName> {
        self.idempotency_header.as_ref()
    }

    /// Whether there is a place for a file.
    pub(crate) fn takes_files(&self) -> bool {
        self.exact.as_ref().is_some_and(ExactRequest::takes_files)
    }

    /// The files among the arguments that are given by their address.
    pub(crate) fn linked_files<'a>(&self, arguments: &'a mut Map<String, Value>) -> Vec<LinkedFile<'a>> {
        let exact = self.exact.as_ref();
        exact.map_or_else(Vec::new, |exact| exact.linked_files(arguments))
    }

    /// Makes the request.
    ///
    /// # Errors
    /// `invalid_arguments` when an argument does not fit its place; `tool_unavailable` when an environment value would
    /// end up in the URL.
    pub(crate) fn plan(&self, inputs: &Inputs) -> Result<RequestPlan, Failure> {
        let mut secrets = inputs.secrets();
        let mut headers = self.constant.clone();
        let (url, body) = match &self.exact {
            Some(exact) => exact.write(inputs, &mut headers)?,
            None => self.write(inputs, &mut headers)?,
        };
        let query_secret = match (&self.credential, &inputs.credential) {
            (Some(credential), Some(value)) => credential.present(value, &mut headers, &mut secrets)?,
            _ => None,
        };
        Ok(RequestPlan {
            first: Hop {
                method: self.method.clone(),
                url,
                headers,
                body,
                origins: None,
                query_secret,
                retry: self.retry,
            },
            secrets,
        })
    }

    /// Whether the definition has a probe.
    pub(crate) fn has_probe(&self) -> bool {
        self.probe.is_some()
    }

    /// The request that asks whether the upstream is well: with the constant headers and the credential of a call, and
    /// nothing else. `None` when the definition has none.
    ///
    /// # Errors
    /// `tool_unavailable` when the credential cannot be presented.
    pub(crate) fn probe(&self, credential: Option<&SecretString>) -> Result<Option<RequestPlan>, Failure> {
        let Some((method, url)) = &self.probe else {
            return Ok(None);
        };
        let mut secrets = Secrets::default();
        let mut headers = self.constant.clone();
        let query_secret = match (&self.credential, credential) {
            (Some(place), Some(value)) => {
                secrets.add(value);
                place.present(value, &mut headers, &mut secrets)?
            }
            _ => None,
        };
        Ok(Some(RequestPlan {
            first: Hop {
                method: method.clone(),
                url: url.clone(),
                headers,
                body: None,
                origins: None,
                query_secret,
                retry: RetryPolicy::never(),
            },
            secrets,
        }))
    }

    /// Reads the upstream's answer.
    ///
    /// # Errors
    /// What an error status stands for; `upstream_invalid` for an answer that cannot be used.
    pub(crate) fn read(&self, answer: &Answer, plan: &RequestPlan) -> Result<Execution, Failure> {
        let mut execution = match &self.result {
            None => answer::read(answer, &plan.secrets)?,
            Some(result) => result.read(answer, &plan.secrets)?,
        };
        if let Some(next) = links::next(&answer.headers, &plan.first.url, &plan.secrets) {
            let notes = execution.notes.get_or_insert_default();
            notes.next.get_or_insert(next);
        }
        Ok(execution)
    }

    /// Address and body by the short form, whose headers are added.
    fn write(&self, inputs: &Inputs, headers: &mut HeaderMap) -> Result<(Url, Option<Bytes>), Failure> {
        let mut url = match &self.fixed {
            Some(url) => url.clone(),
            None => self.url(inputs)?,
        };
        let query = self.query(inputs)?;
        if !query.is_empty() {
            url.set_query(Some(&query));
        }
        for (name, from) in &self.header {
            if let Some(argument) = inputs.get(from) {
                headers.insert(name, headers::value(from, argument)?);
            }
        }
        let body = match self.body(inputs)? {
            Some(Value::Object(form)) if self.form => Some(Bytes::from(form_body(&form))),
            Some(_) if self.form => return Err(Failure::arguments("the body is a form: it takes an object")),
            body => body.map(|value| Bytes::from(value.to_string())),
        };
        if body.is_some() {
            headers
                .entry(header::CONTENT_TYPE)
                .or_insert(HeaderValue::from_static("application/json"));
        }
        Ok((url, body))
    }

    fn url(&self, inputs: &Inputs) -> Result<Url, Failure> {
        let mut url = String::with_capacity(self.base.len() + 64);
        url.push_str(&self.base);
        self.write_path(inputs, &mut url)?;
        Url::parse(&url).map_err(|_| Failure::arguments("the arguments do not make a valid URL"))
    }

    fn write_path(&self, inputs: &Inputs, url: &mut String) -> Result<(), Failure> {
        let start = url.len();
        for piece in &self.path {
            match piece {
                Piece::Literal(text) => url.push_str(text),
                Piece::Argument(name) => {
                    let value = match inputs.get(name) {
                        Some(argument) => argument.for_url(name)?,
                        None => return Err(Failure::arguments(format!("/{name}: needed in the path"))),
                    };
                    let text = scalar(value).filter(|text| !text.is_empty()).ok_or_else(|| {
                        Failure::arguments(format!(
                            "/{name}: a path segment takes a text that is not empty, a number or a boolean"
                        ))
                    })?;
                    url.extend(utf8_percent_encode(&text, SEGMENT));
                }
            }
        }
        if url[start..]
            .split('/')
            .any(|segment| matches!(segment, "." | ".."))
        {
            return Err(Failure::arguments("`.` and `..` cannot be path segments"));
        }
        Ok(())
    }

    fn query(&self, inputs: &Inputs) -> Result<String, Failure> {
        let mut query = url::form_urlencoded::Serializer::new(String::with_capacity(64));
        for (name, from) in &self.query {
            if let Some(argument) = inputs.get(from) {
                append_query(&mut query, name, argument.for_url(from)?);
            }
        }
        if self.unmapped.rest() == Rest::Query {
            for (name, argument) in self.rest(inputs)? {
                append_query(&mut query, name, argument.for_url(name)?);
            }
        }
        Ok(query.finish())
    }

    fn body(&self, inputs: &Inputs) -> Result<Option<Value>, Failure> {
        Ok(match &self.body {
            Some(HttpBody::Argument(name)) => inputs.get(name).map(Argument::to_json),
            Some(HttpBody::Fields(fields)) => Some(Value::Object(
                fields
                    .iter()
                    .filter_map(|(to, from)| Some((to.clone(), inputs.get(from)?.to_json())))
                    .collect::<Map<_, _>>(),
            )),
            None if self.unmapped.rest() == Rest::Body => {
                let rest = self.rest(inputs)?.into_iter();
                let members = rest.map(|(name, argument)| (name.to_owned(), argument.to_json()));
                Some(Value::Object(members.collect()))
            }
            None => None,
        })
    }

    /// The arguments that the short form does not map, none of which is sent in the place of another.
    fn rest<'a>(&self, inputs: &'a Inputs) -> Result<Vec<(&'a str, Argument<'a>)>, Failure> {
        let unmapped = inputs.iter().filter(|(name, _)| !self.unmapped.maps(name));
        unmapped
            .map(|(name, argument)| match self.unmapped.refusal(name, true) {
                Some(problem) => Err(Failure::arguments(format!("/{name}: {problem}"))),
                None => Ok((name, argument)),
            })
            .collect()
    }
}

/// Whether the short form's body is written as a form, which a constant `Content-Type` says.
fn is_form(options: &HttpOptions) -> Result<bool, Failure> {
    let mut headers = options.headers.iter();
    let stated = headers.find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
    let Some((_, content_type)) = stated.filter(|_| places::sends_body(options)) else {
        return Ok(false);
    };
    match MediaKind::of(content_type) {
        Some(MediaKind::Json) => Ok(false),
        Some(MediaKind::Form) => Ok(true),
        _ => Err(Failure::misconfigured(format!(
            "the body is written as JSON or as a form, not as {content_type:?}: use `request.body`"
        ))),
    }
}

/// Reads the base URL of a definition.
pub(crate) fn base_url(text: &str) -> Result<Url, Failure> {
    let url = parse_exact(text).map_err(|error| Failure::misconfigured(format!("`base_url`: {error}")))?;
    if url.query().is_some() || url.fragment().is_some() {
        return Err(Failure::misconfigured(
            "`base_url` has no query and no fragment: use `query`",
        ));
    }
    Ok(url)
}

/// The path with a slash in front, or nothing.
pub(crate) fn slashed(path: &str) -> String {
    if path.is_empty() || path.starts_with('/') {
        path.to_owned()
    } else {
        format!("/{path}")
    }
}

/// Checks the fixed parts of a path.
pub(crate) fn literal_path(path: &str) -> Result<(), Failure> {
    let lowered = path.to_ascii_lowercase().replace("%2e", ".");
    if path.contains(['?', '#', '\\']) || path.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Err(Failure::misconfigured(
            "`path` holds no query, fragment, backslash or space: use `query`",
        ));
    }
    if lowered.split('/').any(|segment| matches!(segment, "." | "..")) {
        return Err(Failure::misconfigured("`path` holds no `.` or `..` segment"));
    }
    Ok(())
}

fn pieces(path: &str) -> Result<Vec<Piece>, Failure> {
    literal_path(path)?;
    let path = slashed(path);
    let mut pieces = Vec::new();
    let mut rest = path.as_str();
    while let Some((literal, after)) = rest.split_once('{') {
        let (name, after) = after
            .split_once('}')
            .filter(|(name, _)| !name.is_empty())
            .ok_or_else(|| Failure::misconfigured("`path` has a `{` without a name and `}`"))?;
        if !literal.is_empty() {
            pieces.push(Piece::Literal(literal.to_owned()));
        }
        pieces.push(Piece::Argument(name.to_owned()));
        rest = after;
    }
    if !rest.is_empty() {
        pieces.push(Piece::Literal(rest.to_owned()));
    }
    Ok(pieces)
}

#[cfg(test)]
#[path = "template_tests.rs"]
mod tests;
