//! The body of a request.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::escape::Escape;
use super::file::{File, LinkedFile};
use super::media::{self, MediaKind};
use super::names::{self, Sent};
use super::style::{self, EncodedPairs};
use super::{Lookup, MappingError, multipart};
use crate::definition::model::request::{PartEncoding, RequestBody};
use crate::pointer;

/// What the body is made from.
enum Source {
    Argument(String),
    Properties(Vec<(String, String)>),
}

/// The body of a definition, made ready.
pub(super) struct BodyMapping {
    source: Source,
    kind: MediaKind,
    content_type: String,
    encoding: BTreeMap<String, PartEncoding>,
}

/// A body with its media type.
pub(super) type Content = (String, Vec<u8>);

impl BodyMapping {
    /// Makes it ready.
    ///
    /// # Errors
    /// When the definition names no argument, or a media type whose structure is not known.
    pub(super) fn new(body: &RequestBody) -> Result<Self, MappingError> {
        let content_type = body.content_type();
        let kind = match MediaKind::of(content_type) {
            Some(_) if body.as_text => MediaKind::Text,
            Some(kind) => kind,
            None => {
                let why = format!("nothing here writes bodies of type {content_type:?}");
                return Err(MappingError::Definition(why));
            }
        };
        let source = match &body.argument {
            Some(argument) => Source::Argument(argument.clone()),
            None if body.properties.is_empty() => {
                return Err(MappingError::Definition(
                    "the request's body names no argument".to_owned(),
                ));
            }
            None => Source::Properties(
                body.properties
                    .iter()
                    .map(|(to, from)| (to.clone(), from.clone()))
                    .collect(),
            ),
        };
        Ok(Self {
            source,
            kind,
            content_type: content_type.to_owned(),
            encoding: body.encoding.clone(),
        })
    }

    /// Whether the body is a file, or has parts that are.
    pub(super) fn takes_files(&self) -> bool {
        match self.kind {
            MediaKind::Binary => true,
            MediaKind::Multipart => self.encoding.values().any(is_file),
            MediaKind::Json | MediaKind::Form | MediaKind::Text => false,
        }
    }

    /// The files that are given by their address.
    pub(super) fn linked_files<'a>(
        &self,
        arguments: &'a mut Map<String, Value>,
        found: &mut Vec<LinkedFile<'a>>,
    ) {
        if !self.takes_files() {
            return;
        }
        let is_part = |name: &str| self.encoding.get(name).is_some_and(is_file);
        for (name, value) in arguments {
            let pointer = pointer::of([name.as_str()]);
            match &self.source {
                Source::Argument(body) if body == name => match (self.kind, value) {
                    (MediaKind::Multipart, Value::Object(form)) => {
                        for (part, value) in form.iter_mut().filter(|(part, _)| is_part(part)) {
                            LinkedFile::find(&pointer::of([name.as_str(), part.as_str()]), value, found);
                        }
                    }
                    (MediaKind::Multipart, _) => {}
                    (_, value) => LinkedFile::find(&pointer, value, found),
                },
                Source::Properties(properties) => {
                    if properties.iter().any(|(to, from)| from == name && is_part(to)) {
                        LinkedFile::find(&pointer, value, found);
                    }
                }
                Source::Argument(_) => {}
            }
        }
    }

    /// The body of one request; `None` when its argument is absent.
    pub(super) fn write(&self, lookup: Lookup<'_>) -> Result<Option<Content>, MappingError> {
        let (name, value) = match &self.source {
            Source::Argument(name) => {
                let Some(argument) = lookup(name) else {
                    return Ok(None);
                };
                (name.as_str(), argument.value)
            }
            Source::Properties(properties) => {
                let object: Map<_, _> = properties
                    .iter()
                    .filter_map(|(to, from)| Some((to.clone(), lookup(from)?.value.into_owned())))
                    .collect();
                ("", Cow::Owned(Value::Object(object)))
            }
        };
        if value.is_null() && self.kind != MediaKind::Json {
            return Ok(None);
        }
        let fault = |problem: &str| MappingError::argument(name, problem);
        let form = || {
            let form = value.as_object().ok_or_else(|| fault("a form is an object"))?;
            self.names_are_distinct(form)?;
            Ok::<_, MappingError>(form)
        };
        let content_type = || self.content_type.clone();
        Ok(Some(match self.kind {
            MediaKind::Json => (content_type(), value.to_string().into_bytes()),
            MediaKind::Form => (content_type(), self.form(form()?).into_bytes()),
            MediaKind::Multipart => {
                multipart::write(&|property| self.pointer(property), form()?, &self.encoding)?
            }
            MediaKind::Text => match &*value {
                Value::Array(_) | Value::Object(_) => return Err(fault("the body is a text")),
                scalar => (content_type(), style::text(scalar).into_owned().into_bytes()),
            },
            MediaKind::Binary => {
                let file = File::read(&value).map_err(fault)?;
                (self.file_type(&file, name)?, file.bytes)
            }
        }))
    }

    /// The place of a property of the body in the arguments, as a JSON pointer.
    fn pointer(&self, property: &str) -> String {
        match &self.source {
            Source::Argument(argument) => pointer::of([argument, property]),
            Source::Properties(properties) => {
                let from = properties.iter().find(|(to, _)| to == property);
                pointer::of([from.map_or(property, |(_, from)| from)])
            }
        }
    }

    /// The media type of a file that is the whole body: what the caller says within what the description allows.
    fn file_type(&self, file: &File<'_>, name: &str) -> Result<String, MappingError> {
        match file.content_type {
            Some(given) if media::allows(&self.content_type, given) => Ok(given.to_owned()),
            Some(_) => Err(MappingError::argument(
                name,
                format!("the file's content_type must be {}", self.content_type),
            )),
            None => Ok(media::first_concrete(&self.content_type)
                .unwrap_or("application/octet-stream")
                .to_owned()),
        }
    }

    fn form(&self, form: &Map<String, Value>) -> String {
        write_form(form, &self.encoding)
    }

    /// Checks that no argument is sent under the name of another's property. A body that is one argument is its own.
    fn names_are_distinct(&self, form: &Map<String, Value>) -> Result<(), MappingError> {
        let Source::Properties(properties) = &self.source else {
            return Ok(());
        };
        let sent = properties.iter().filter_map(|(name, argument)| {
            let encoding = self.encoding.get(name).filter(|encoding| encoding.is_styled());
            Some(Sent {
                name,
                argument,
                value: form.get(name)?,
                rule: encoding.map(multipart::rule),
            })
        });
        names::distinct(&sent.collect::<Vec<_>>(), None)
    }
}

/// Whether a part of a form is a file; one that is written like a query parameter is a text.
fn is_file(encoding: &PartEncoding) -> bool {
    encoding.file && !encoding.is_styled()
}

/// An object as `application/x-www-form-urlencoded`.
pub(super) fn write_form(form: &Map<String, Value>, encodings: &BTreeMap<String, PartEncoding>) -> String {
    let mut out = String::new();
    for (name, value) in form {
        match encodings.get(name).filter(|encoding| encoding.is_styled()) {
            Some(encoding) => {
                let escape = if encoding.allow_reserved == Some(true) {
                    Escape::ReservedInQuery
                } else {
                    Escape::Strict
                };
                let mut pairs = EncodedPairs {
                    out: &mut out,
                    between: "&",
                    escape,
                };
                style::pairs(&mut pairs, name, value, multipart::rule(encoding));
            }
            None => {
                let is_json = encodings
                    .get(name)
                    .and_then(|encoding| media::first_concrete(encoding.content_type.as_deref()?))
                    .is_some_and(|content_type| MediaKind::of(content_type) == Some(MediaKind::Json));
                let mut pair = |value: &Value| {
                    if !out.is_empty() {
                        out.push('&');
                    }
                    Escape::Form.write(&mut out, name);
                    out.push('=');
                    let text = if is_json {
                        Cow::Owned(value.to_string())
                    } else {
                        style::text(value)
                    };
                    Escape::Form.write(&mut out, &text);
                };
                match value {
                    Value::Null => {}
                    Value::Array(items) => items.iter().filter(|item| !item.is_null()).for_each(pair),
                    value => pair(value),
                }
            }
        }
    }
    out
}
