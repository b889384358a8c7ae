//! `options.jina` made ready: it becomes the same [`RequestPlan`] as any other HTTP tool.

use std::collections::HashSet;

use bytes::Bytes;
use http::header::{self, HeaderName, HeaderValue};
use http::{HeaderMap, Method};
use percent_encoding::utf8_percent_encode;
use secrecy::SecretString;
use serde_json::{Map, Value};
use toolgate_core::definition::model::{HttpRetry, JinaMode, JinaOptions};
use toolgate_core::http_mapping::jina::{any_header, key, option_header, overwritten, subject};
use url::Url;

use super::answer;
use crate::failure::Failure;
use crate::http::address::{SEGMENT, base_url, literal_path, slashed};
use crate::http::executor::RequestTemplate;
use crate::http::headers;
use crate::http::plan::{Argument, Inputs, RequestPlan, append_query, scalar};
use crate::http::redirect::Hop;
use crate::http::retry::RetryPolicy;
use crate::http::send::Answer;
use crate::invocation::Execution;
use crate::values::Values;

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
    retry: RetryPolicy,
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
            retry: RetryPolicy::default(),
        })
    }

    /// The same, tried again as the definition says. Jina's requests change nothing, whatever their method.
    pub(crate) fn retried(self, retry: Option<&HttpRetry>) -> Self {
        Self {
            retry: RetryPolicy::new(retry),
            ..self
        }
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

    fn bare_url(&self) -> Result<Url, Failure> {
        parse(&format!("{}{}", self.base, self.path))
    }

    /// Refuses what would overwrite a constant header.
    fn keeps_constants(&self, inputs: &Inputs) -> Result<(), Failure> {
        let headers = || self.constant.keys().map(HeaderName::as_str);
        for (name, argument) in inputs.iter() {
            let Some(header) = overwritten(headers(), name) else {
                continue;
            };
            let text = format!("/{name}: the definition sets the header {header} itself");
            return Err(match argument {
                Argument::Given(_) => Failure::arguments(text),
                Argument::Env(_) => Failure::misconfigured(text),
            });
        }
        Ok(())
    }

    fn body(&self, inputs: &Inputs) -> Result<Bytes, Failure> {
        let mut body = Map::new();
        body.insert(subject(self.mode).to_owned(), self.subject(inputs)?.to_json());
        body.extend(
            self.others(inputs)
                .map(|(name, argument)| (name.to_owned(), argument.to_json())),
        );
        Ok(Bytes::from(Value::Object(body).to_string()))
    }

    /// What is searched for, or the page that is read: from the environment, or else given.
    fn subject<'a>(&self, inputs: &'a Inputs) -> Result<Argument<'a>, Failure> {
        let named = || {
            inputs
                .iter()
                .filter(|(name, _)| self.is_subject(name))
                .map(|(_, argument)| argument)
        };
        let environment = named().find(|argument| matches!(argument, Argument::Env(_)));
        let argument = environment.or_else(|| {
            named().find(|argument| match argument {
                Argument::Given(value) => scalar(value).is_some_and(|text| !text.trim().is_empty()),
                Argument::Env(_) => true,
            })
        });
        match (self.mode, argument) {
            (JinaMode::Search, None) => Err(Failure::arguments(
                "a search needs `q` (or `query`), a text that is not blank",
            )),
            (JinaMode::Reader, None) => Err(Failure::arguments(
                "the reader needs `url` (or `target_url`), an http or https URL",
            )),
            (JinaMode::Reader, Some(Argument::Given(value))) if !is_page(value) => Err(Failure::arguments(
                "/url: must be an http or https URL without user information",
            )),
            (_, Some(argument)) => Ok(argument),
        }
    }

    fn is_subject(&self, name: &str) -> bool {
        key(name) == subject(self.mode)
    }

    /// Every other argument; one from the environment wins over its aliases.
    fn others<'a>(&'a self, inputs: &'a Inputs) -> impl Iterator<Item = (&'a str, Argument<'a>)> {
        let environment: HashSet<String> = inputs.envs.keys().map(|name| key(name)).collect();
        inputs.iter().filter(move |(name, argument)| {
            !self.is_subject(name)
                && (matches!(argument, Argument::Env(_)) || !environment.contains(&key(name)))
        })
    }

    fn search_url(&self, inputs: &Inputs, headers: &mut HeaderMap) -> Result<Url, Failure> {
        let mut pairs = url::form_urlencoded::Serializer::new(String::new());
        append_query(&mut pairs, "q", self.subject(inputs)?.for_url("q")?);
        for (name, argument) in self.others(inputs) {
            match argument {
                Argument::Given(value) => append_query(&mut pairs, name, value),
                Argument::Env(_) => set_header(headers, &any_header(name), name, argument)?,
            }
        }
        parse(&format!("{}{}?{}", self.base, self.path, pairs.finish()))
    }

    fn reader_url(&self, inputs: &Inputs, headers: &mut HeaderMap) -> Result<Url, Failure> {
        let target = self.subject(inputs)?.for_url("url")?;
        let target = scalar(target).unwrap_or_default();
        for (name, argument) in self.others(inputs) {
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

impl RequestTemplate for JinaTemplate {
    fn label(&self) -> &str {
        &self.label
    }

    fn base(&self) -> &str {
        &self.base
    }

    fn credential(&self, values: Values<'_>) -> Result<Option<SecretString>, Failure> {
        if self.may_be_anonymous() {
            return Ok(values.get(self.credential_env()));
        }
        values.required(self.credential_env()).map(Some)
    }

    /// # Errors
    /// `invalid_arguments` when the query or the target is missing or not usable; `tool_unavailable` when an
    /// environment value would end up in the URL.
    fn plan(&self, inputs: &Inputs) -> Result<RequestPlan, Failure> {
        let mut headers = self.constant.clone();
        if let Some(key) = &inputs.credential {
            headers.insert(header::AUTHORIZATION, headers::bearer(key)?);
        }
        self.keeps_constants(inputs)?;
        let (url, body) = match (self.mode, self.method == Method::GET) {
            (JinaMode::Search, true) => (self.search_url(inputs, &mut headers)?, None),
            (JinaMode::Reader, true) => (self.reader_url(inputs, &mut headers)?, None),
            (_, false) => (self.bare_url()?, Some(self.body(inputs)?)),
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
                retry: self.retry,
            },
            secrets: inputs.secrets(),
        })
    }

    /// # Errors
    /// Jina's error.
    fn read(&self, answer: &Answer, plan: &RequestPlan) -> Result<Execution, Failure> {
        answer::read(answer, &plan.secrets, &self.key_env)
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

/// Whether a value is the address of a page that the reader may fetch.
fn is_page(value: &Value) -> bool {
    value
        .as_str()
        .and_then(|text| Url::parse(text.trim()).ok())
        .is_some_and(|url| {
            matches!(url.scheme(), "http" | "https")
                && url.has_host()
                && url.username().is_empty()
                && url.password().is_none()
        })
}

fn parse(text: &str) -> Result<Url, Failure> {
    Url::parse(text).map_err(|_| Failure::arguments("the arguments do not make a valid URL"))
}

#[cfg(test)]
#[path = "template_tests.rs"]
mod tests;
