//! The short form of `options.http` made ready: it maps single arguments, and the others go under their own names.

use bytes::Bytes;
use http::HeaderMap;
use http::header::{self, HeaderName, HeaderValue};
use percent_encoding::utf8_percent_encode;
use serde_json::{Map, Value};
use toolgate_core::definition::model::{HttpBody, HttpOptions};
use toolgate_core::http_mapping::media::MediaKind;
use toolgate_core::http_mapping::{Rest, Unmapped, form as form_body, places};
use url::Url;

use super::address::SEGMENT;
use super::headers;
use super::plan::{Argument, Inputs, append_query, scalar};
use crate::failure::Failure;

/// A prepared request in the short form.
pub(super) struct ShortRequest {
    base: String,
    /// The URL without a query, when no argument is part of its path.
    fixed: Option<Url>,
    path: Vec<Piece>,
    query: Vec<(String, String)>,
    header: Vec<(HeaderName, String)>,
    body: Option<HttpBody>,
    /// Whether the body is written as a form.
    form: bool,
    /// What becomes of arguments without a place of their own.
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

impl ShortRequest {
    /// Prepares it. `base` has no slash at its end, `path` one at its beginning unless it is empty.
    ///
    /// # Errors
    /// `tool_unavailable` when the definition cannot be executed.
    pub(super) fn new(base: &str, path: &str, options: &HttpOptions) -> Result<Self, Failure> {
        let path = pieces(path)?;
        let pair = |(to, from): (&String, &String)| (to.clone(), from.clone());
        let header = options
            .header
            .iter()
            .map(|(to, from)| Ok((headers::name(to)?, from.clone())))
            .collect::<Result<_, Failure>>()?;
        Ok(Self {
            fixed: fixed(base, &path),
            base: base.to_owned(),
            path,
            query: options.query.iter().map(pair).collect(),
            header,
            body: options.body.clone(),
            form: is_form(options)?,
            unmapped: Unmapped::new(options, [].iter()),
        })
    }

    /// Address and body of one call, whose headers are added.
    ///
    /// # Errors
    /// `invalid_arguments` when an argument does not fit its place; `tool_unavailable` when a secret would be part of the
    /// address.
    pub(super) fn write(
        &self,
        inputs: &Inputs,
        headers: &mut HeaderMap,
    ) -> Result<(Url, Option<Bytes>), Failure> {
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

fn pieces(path: &str) -> Result<Vec<Piece>, Failure> {
    let mut pieces = Vec::new();
    let mut rest = path;
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
