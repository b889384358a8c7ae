//! `options.http.request` made ready: core says what is sent, and exactly that is sent.

use std::borrow::Cow;

use bytes::Bytes;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use secrecy::ExposeSecret;
use serde_json::{Map, Value};
use toolgate_core::definition::model::HttpAuth;
use toolgate_core::definition::model::request::{HttpRequest, ParameterLocation};
use toolgate_core::http_mapping::{Argument, LinkedFile, MappedHeader, MappingError, RequestMapping};
use url::Url;

use super::headers;
use super::plan::Inputs;
use crate::failure::Failure;

/// A prepared request.
pub(super) struct ExactRequest {
    base: String,
    mapping: RequestMapping,
}

impl ExactRequest {
    /// Prepares it. `base` has no slash at its end, `path` one at its beginning unless it is empty.
    ///
    /// # Errors
    /// `tool_unavailable` when the definition cannot be executed.
    pub(super) fn new(
        base: &str,
        path: &str,
        request: &HttpRequest,
        auth: Option<&HttpAuth>,
    ) -> Result<Self, Failure> {
        for parameter in &request.parameters {
            if parameter.location == ParameterLocation::Header {
                headers::name(&parameter.name)?;
            }
        }
        Ok(Self {
            base: base.to_owned(),
            mapping: RequestMapping::new(path, request).map_err(failure)?.beside(auth),
        })
    }

    /// Whether there is a place for a file.
    pub(super) fn takes_files(&self) -> bool {
        self.mapping.takes_files()
    }

    /// The files that are given by their address.
    pub(super) fn linked_files<'a>(&self, arguments: &'a mut Map<String, Value>) -> Vec<LinkedFile<'a>> {
        self.mapping.linked_files(arguments)
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
        let mapped = self
            .mapping
            .map(&|name| argument(inputs, name))
            .map_err(failure)?;
        let mut address = String::with_capacity(self.base.len() + mapped.path.len() + mapped.query.len() + 1);
        address.push_str(&self.base);
        address.push_str(&mapped.path);
        if !mapped.query.is_empty() {
            address.push('?');
            address.push_str(&mapped.query);
        }
        let url =
            Url::parse(&address).map_err(|_| Failure::arguments("the arguments do not make a valid URL"))?;
        for mapped in &mapped.headers {
            let (name, value) = header(mapped)?;
            headers.insert(name, value);
        }
        let body = match mapped.body {
            Some((content_type, bytes)) => {
                let content_type = HeaderValue::from_str(&content_type)
                    .map_err(|_| Failure::misconfigured("the body's media type is no header value"))?;
                headers.insert(header::CONTENT_TYPE, content_type);
                Some(Bytes::from(bytes))
            }
            None => None,
        };
        Ok((url, body))
    }
}

/// The argument of that name; what comes from the environment wins. An explicit null is a value.
fn argument<'a>(inputs: &'a Inputs, name: &str) -> Option<Argument<'a>> {
    if let Some(secret) = inputs.envs.get(name) {
        return Some(Argument {
            value: Cow::Owned(Value::String(secret.expose_secret().to_owned())),
            secret: true,
        });
    }
    inputs.arguments.get(name).map(|value| Argument {
        value: Cow::Borrowed(value),
        secret: false,
    })
}

fn header(mapped: &MappedHeader) -> Result<(HeaderName, HeaderValue), Failure> {
    let invalid = || Failure::misconfigured(format!("the header {} cannot be sent", mapped.name));
    let name = HeaderName::from_bytes(mapped.name.as_bytes()).map_err(|_| invalid())?;
    let mut value = HeaderValue::from_str(&mapped.value).map_err(|_| invalid())?;
    // A cookie is most often a credential, whichever layer gave it.
    value.set_sensitive(mapped.secret || name == header::COOKIE);
    Ok((name, value))
}

fn failure(error: MappingError) -> Failure {
    match error {
        MappingError::Arguments(text) => Failure::arguments(text),
        MappingError::Definition(text) => Failure::misconfigured(text),
    }
}
