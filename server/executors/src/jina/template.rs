//! `options.jina` made ready: it becomes the same [`RequestPlan`] as any other HTTP tool.

use bytes::Bytes;
use http::header::{self, HeaderName, HeaderValue};
use http::{HeaderMap, Method};
use percent_encoding::utf8_percent_encode;
use serde_json::{Map, Value};
use toolgate_core::definition::model::{JinaMode, JinaOptions};
use url::Url;

use super::answer;
use super::headers::{any_header, option_header};
use crate::failure::Failure;
use crate::http::headers;
use crate::http::plan::{Argument, Inputs, RequestPlan, append_query, scalar};
use crate::http::redirect::Hop;
use crate::http::retry::RetryPolicy;
use crate::http::send::Answer;
use crate::http::template::{SEGMENT, base_url, literal_path, slashed};
use crate::invocation::Execution;
use crate::redact::Secrets;

/// Holds the API key when the definition names no other variable.
pub(super) const DEFAULT_KEY: &str = "JINA_API_KEY";

/// A prepared `options.jina`.
pub(crate) struct JinaTemplate {
    mode: JinaMode,
    /// Without a slash at the end.
    base: String,
    path: String,
    label: String,
    method: Method,
    key_env: String,
    constant: HeaderMap,
}

impl JinaTemplate {
    /// Prepares it.
    ///
    /// # Errors
    /// `tool_unavailable` when the definition cannot be executed.
    pub(crate) fn new(options: &JinaOptions) -> Result<Self, Failure> {
        let (default_base, default_method) = match options.mode {
            JinaMode::Search => ("https://s.jina.ai", Method::GET),
            JinaMode::Reader => ("https://r.jina.ai", Method::POST),
        };
        let url = base_url(options.base_url.as_deref().unwrap_or(default_base))?;
        let path = match options.mode {
            JinaMode::Search => slashed(options.path.as_deref().unwrap_or("/search")),
            // The reader has no paths of its own: everything after the host is the target.
            JinaMode::Reader => "/".to_owned(),
        };
        literal_path(&path)?;
        let method = headers::method(options.method.as_deref(), default_method)?;
        if !matches!(method, Method::GET | Method::POST) {
            return Err(Failure::misconfigured("`options.jina.method` is GET or POST"));
        }
        let mut constant = headers::constant(&options.headers, "application/json")?;
        if let Some(accept) = &options.accept {
            let accept = HeaderValue::from_str(accept)
                .map_err(|_| Failure::misconfigured("`options.jina.accept` is no media type"))?;
            constant.insert(header::ACCEPT, accept);
        }
        Ok(Self {
            mode: options.mode,
            label: format!("{}{path}", url.host_str().unwrap_or_default()),
            base: url.as_str().trim_end_matches('/').to_owned(),
            path,
            method,
            key_env: options.auth_env.clone().unwrap_or_else(|| DEFAULT_KEY.to_owned()),
            constant,
        })
    }

    /// Host and path.
    pub(crate) fn label(&self) -> &str {
        &self.label
    }

    /// Scheme, host, port and path prefix.
    pub(crate) fn base(&self) -> &str {
        &self.base
    }

    /// The variable that holds the API key.
    pub(crate) fn credential_env(&self) -> &str {
        &self.key_env
    }

    /// Whether a call may go without a key: the reader serves anonymous calls at lower limits, unless the definition
    /// names a variable of its own, which then has to be there.
    pub(crate) fn may_be_anonymous(&self) -> bool {
        self.mode == JinaMode::Reader && self.key_env == DEFAULT_KEY
    }

    /// Makes the request.
    ///
    /// # Errors
    /// `invalid_arguments` when the query or the target is missing or not usable; `tool_unavailable` when an
    /// environment value would end up in the URL.
    pub(crate) fn plan(&self, inputs: &Inputs) -> Result<RequestPlan, Failure> {
        let mut headers = self.constant.clone();
        if let Some(key) = &inputs.credential {
            headers.insert(header::AUTHORIZATION, headers::bearer(key)?);
        }
        let (url, body) = match (self.mode, self.method == Method::GET) {
            (JinaMode::Search, true) => (self.search_url(inputs, &mut headers)?, None),
            (JinaMode::Reader, true) => (self.reader_url(inputs, &mut headers)?, None),
            (JinaMode::Search, false) => (
                self.bare_url()?,
                Some(body("q", query(inputs)?, inputs, ["q", "query"])),
            ),
            (JinaMode::Reader, false) => (
                self.bare_url()?,
                Some(body("url", target(inputs)?, inputs, ["url", "target_url"])),
            ),
        };
        if body.is_some() {
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        Ok(RequestPlan {
            first: Hop {
                method: self.method.clone(),
                url,
                headers,
                body,
                origins: None,
                query_secret: None,
                retry: RetryPolicy::default(),
            },
            secrets: inputs.secrets(),
        })
    }

    /// Reads Jina's answer.
    ///
    /// # Errors
    /// What Jina's error stands for.
    pub(crate) fn read(&self, answer: &Answer, secrets: &Secrets) -> Result<Execution, Failure> {
        answer::read(answer, secrets, &self.key_env)
    }

    fn bare_url(&self) -> Result<Url, Failure> {
        parse(&format!("{}{}", self.base, self.path))
    }

    fn search_url(&self, inputs: &Inputs, headers: &mut HeaderMap) -> Result<Url, Failure> {
        let mut pairs = url::form_urlencoded::Serializer::new(String::new());
        append_query(&mut pairs, "q", query(inputs)?.for_url("q")?);
        for (name, argument) in others(inputs, ["q", "query"]) {
            match argument {
                Argument::Given(value) => append_query(&mut pairs, name, value),
                Argument::Env(_) => set_header(headers, &any_header(name), name, argument)?,
            }
        }
        parse(&format!("{}{}?{}", self.base, self.path, pairs.finish()))
    }

    fn reader_url(&self, inputs: &Inputs, headers: &mut HeaderMap) -> Result<Url, Failure> {
        let target = target(inputs)?.for_url("url")?;
        let target = scalar(target).unwrap_or_default();
        for (name, argument) in others(inputs, ["url", "target_url"]) {
            let header = match argument {
                Argument::Env(_) => any_header(name),
                Argument::Given(_) => option_header(name).ok_or_else(|| {
                    Failure::arguments(format!(
                        "/{name}: the reader has no such option with method GET; use method POST to send it in the body"
                    ))
                })?,
            };
            match argument {
                Argument::Given(Value::Array(items)) => {
                    let list: Option<Vec<String>> = items.iter().map(scalar).collect();
                    let list = list.ok_or_else(|| {
                        Failure::arguments(format!("/{name}: a header takes a list of texts"))
                    })?;
                    set_header(
                        headers,
                        &header,
                        name,
                        Argument::Given(&Value::String(list.join(", "))),
                    )?;
                }
                _ => set_header(headers, &header, name, argument)?,
            }
        }
        parse(&format!(
            "{}/{}",
            self.base,
            utf8_percent_encode(target.trim(), SEGMENT)
        ))
    }
}

fn set_header(
    headers: &mut HeaderMap,
    header: &str,
    parameter: &str,
    argument: Argument<'_>,
) -> Result<(), Failure> {
    let name = HeaderName::from_bytes(header.as_bytes()).map_err(|_| {
        Failure::misconfigured(format!(
            "the parameter `{parameter}` cannot be a header: use method POST"
        ))
    })?;
    headers.insert(name, headers::value(parameter, argument)?);
    Ok(())
}

fn body(key: &str, main: Argument<'_>, inputs: &Inputs, aliases: [&str; 2]) -> Bytes {
    let mut body = Map::new();
    body.insert(key.to_owned(), main.to_json());
    body.extend(others(inputs, aliases).map(|(name, argument)| (name.to_owned(), argument.to_json())));
    Bytes::from(Value::Object(body).to_string())
}

fn others<'a>(inputs: &'a Inputs, aliases: [&'a str; 2]) -> impl Iterator<Item = (&'a str, Argument<'a>)> {
    inputs.iter().filter(move |(name, _)| !aliases.contains(name))
}

/// `q`, or else `query`.
fn query(inputs: &Inputs) -> Result<Argument<'_>, Failure> {
    first(
        inputs,
        ["q", "query"],
        "a search needs `q` (or `query`), a text that is not blank",
    )
}

/// `url`, or else `target_url`: an http or https URL.
fn target(inputs: &Inputs) -> Result<Argument<'_>, Failure> {
    let argument = first(
        inputs,
        ["url", "target_url"],
        "the reader needs `url` (or `target_url`), an http or https URL",
    )?;
    if let Argument::Given(value) = argument {
        let usable = value
            .as_str()
            .and_then(|text| Url::parse(text.trim()).ok())
            .is_some_and(|url| {
                matches!(url.scheme(), "http" | "https")
                    && url.has_host()
                    && url.username().is_empty()
                    && url.password().is_none()
            });
        if !usable {
            return Err(Failure::arguments(
                "/url: must be an http or https URL without user information",
            ));
        }
    }
    Ok(argument)
}

fn first<'a>(inputs: &'a Inputs, names: [&str; 2], otherwise: &str) -> Result<Argument<'a>, Failure> {
    names
        .iter()
        .filter_map(|name| inputs.get(name))
        .find(|argument| match argument {
            Argument::Given(value) => scalar(value).is_some_and(|text| !text.trim().is_empty()),
            Argument::Env(_) => true,
        })
        .ok_or_else(|| Failure::arguments(otherwise))
}

fn parse(text: &str) -> Result<Url, Failure> {
    Url::parse(text).map_err(|_| Failure::arguments("the arguments do not make a valid URL"))
}

#[cfg(test)]
#[path = "template_tests.rs"]
mod tests;
