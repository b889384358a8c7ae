//! Headers of requests.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::header::{self, HeaderName, HeaderValue};
use http::{HeaderMap, Method};
use secrecy::{ExposeSecret, SecretString};
use toolgate_core::http_mapping::headers::is_transport;

use super::plan::{Argument, scalar};
use crate::failure::Failure;

/// Who we are.
pub(crate) const USER_AGENT: HeaderValue =
    HeaderValue::from_static(concat!("toolgate/", env!("CARGO_PKG_VERSION")));

/// Reads a header name from a definition.
pub(crate) fn name(text: &str) -> Result<HeaderName, Failure> {
    let name = HeaderName::from_bytes(text.as_bytes())
        .map_err(|_| Failure::misconfigured(format!("{text:?} is not a header name")))?;
    if is_transport(name.as_str()) {
        return Err(Failure::misconfigured(format!(
            "the header {name} is set by the connection, not by a definition"
        )));
    }
    Ok(name)
}

/// The headers that every request of a definition carries. `accept` is what the definition did not say itself.
pub(crate) fn constant(configured: &BTreeMap<String, String>, accept: &str) -> Result<HeaderMap, Failure> {
    let mut headers = HeaderMap::with_capacity(configured.len() + 5);
    headers.insert(header::USER_AGENT, USER_AGENT);
    headers.insert(
        header::ACCEPT,
        HeaderValue::from_str(accept)
            .map_err(|_| Failure::misconfigured("`result.accept` holds something that is no media type"))?,
    );
    headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
    for (key, value) in configured {
        let mut value = line(value).ok_or_else(|| {
            Failure::misconfigured(format!(
                "the value of the header {key} holds characters that headers do not allow"
            ))
        })?;
        // A definition may carry a key literally; it is then still not printed.
        value.set_sensitive(true);
        headers.insert(name(key)?, value);
    }
    Ok(headers)
}

/// The value of a header that an argument provides: one line of visible ASCII text.
pub(crate) fn value(parameter: &str, argument: Argument<'_>) -> Result<HeaderValue, Failure> {
    match argument {
        Argument::Given(value) => {
            let text = scalar(value).ok_or_else(|| {
                Failure::arguments(format!(
                    "/{parameter}: a header takes a text, a number or a boolean"
                ))
            })?;
            line(&text).ok_or_else(|| {
                Failure::arguments(format!(
                    "/{parameter}: a header takes one line of visible ASCII characters"
                ))
            })
        }
        Argument::Env(secret) => secret_value(secret.expose_secret()).ok_or_else(|| {
            Failure::misconfigured(format!(
                "the environment value of `{parameter}` holds characters that headers do not allow"
            ))
        }),
    }
}

/// `Authorization: Bearer <secret>`
pub(crate) fn bearer(secret: &SecretString) -> Result<HeaderValue, Failure> {
    credential(&format!("Bearer {}", secret.expose_secret()))
}

/// `Authorization: Basic <base64 of secret>`, and the encoded part, which is a secret too.
pub(crate) fn basic(secret: &SecretString) -> Result<(HeaderValue, SecretString), Failure> {
    let encoded = STANDARD.encode(secret.expose_secret());
    Ok((credential(&format!("Basic {encoded}"))?, encoded.into()))
}

/// The secret alone.
pub(crate) fn bare(secret: &SecretString) -> Result<HeaderValue, Failure> {
    credential(secret.expose_secret())
}

fn credential(text: &str) -> Result<HeaderValue, Failure> {
    secret_value(text).ok_or_else(|| {
        Failure::misconfigured(
            "the credential's environment value holds characters that headers do not allow",
        )
    })
}

/// One line of visible ASCII text. The HTTP library also lets other bytes through, which servers read in different ways.
fn line(text: &str) -> Option<HeaderValue> {
    let plain = text
        .bytes()
        .all(|byte| byte == b'\t' || (b' '..=b'~').contains(&byte));
    plain.then(|| HeaderValue::from_str(text).ok()).flatten()
}

fn secret_value(text: &str) -> Option<HeaderValue> {
    let mut value = line(text)?;
    value.set_sensitive(true);
    Some(value)
}

/// Reads a method from a definition.
pub(crate) fn method(text: Option<&str>, default: Method) -> Result<Method, Failure> {
    let Some(text) = text else { return Ok(default) };
    match text.to_ascii_uppercase().as_str() {
        "GET" => Ok(Method::GET),
        "HEAD" => Ok(Method::HEAD),
        "POST" => Ok(Method::POST),
        "PUT" => Ok(Method::PUT),
        "PATCH" => Ok(Method::PATCH),
        "DELETE" => Ok(Method::DELETE),
        "OPTIONS" => Ok(Method::OPTIONS),
        "QUERY" => Method::from_bytes(b"QUERY")
            .map_err(|_| Failure::misconfigured("the HTTP library knows no extension methods")),
        _ => Err(Failure::misconfigured(format!(
            "the method {text:?} is not one of GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS, QUERY"
        ))),
    }
}
