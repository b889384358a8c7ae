//! `options.http` made ready: a definition and arguments become a [`RequestPlan`].

use http::header::HeaderName;
use http::{HeaderMap, Method};
use secrecy::SecretString;
use serde_json::{Map, Value};
use toolgate_core::definition::model::HttpOptions;
use toolgate_core::http_mapping::{LinkedFile, places};
use url::Url;

use super::address::{base_url, literal_path, slashed};
use super::credential::Credential;
use super::exact::ExactRequest;
use super::headers;
use super::oauth::OAuthTemplate;
use super::plan::{Inputs, RequestPlan};
use super::redirect::Hop;
use super::result::ResultTemplate;
use super::retry::RetryPolicy;
use super::send::Answer;
use super::short::ShortRequest;
use super::{answer, links};
use crate::failure::Failure;
use crate::invocation::Execution;
use crate::redact::Secrets;

const ACCEPT: &str = "application/json, text/*;q=0.9, */*;q=0.5";

/// A prepared `options.http`.
pub(crate) struct HttpTemplate {
    /// Scheme, host, port and path prefix, without a slash at the end.
    base: String,
    label: String,
    method: Method,
    request: Form,
    constant: HeaderMap,
    credential: Option<Credential>,
    retry: RetryPolicy,
    idempotency_header: Option<HeaderName>,
    result: Option<ResultTemplate>,
    /// How and where it is asked whether the upstream is well.
    probe: Option<(Method, Url)>,
}

/// The two forms in which a definition says where arguments go.
enum Form {
    Short(ShortRequest),
    Exact(ExactRequest),
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
        let path = slashed(&options.path);
        literal_path(&path)?;
        let request = match &options.request {
            Some(request) => Form::Exact(ExactRequest::new(&base, &path, request, options.auth.as_ref())?),
            None => Form::Short(ShortRequest::new(&base, &path, options)?),
        };
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
            label: format!("{}{path}", url.host_str().unwrap_or_default()),
            base,
            method: headers::method(options.method.as_deref(), Method::GET)?,
            request,
            constant: headers::constant(&options.headers, &accept)?,
            credential: options.auth.as_ref().map(Credential::new).transpose()?,
            retry: RetryPolicy::new(retry),
            idempotency_header,
            result: result.map(ResultTemplate::new).transpose()?,
            probe,
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
        matches!(&self.request, Form::Exact(exact) if exact.takes_files())
    }

    /// The files among the arguments that are given by their address.
    pub(crate) fn linked_files<'a>(&self, arguments: &'a mut Map<String, Value>) -> Vec<LinkedFile<'a>> {
        match &self.request {
            Form::Exact(exact) => exact.linked_files(arguments),
            Form::Short(_) => Vec::new(),
        }
    }

    /// Makes the request.
    ///
    /// # Errors
    /// `invalid_arguments` when an argument does not fit its place; `tool_unavailable` when an environment value would
    /// end up in the URL.
    pub(crate) fn plan(&self, inputs: &Inputs) -> Result<RequestPlan, Failure> {
        let mut secrets = inputs.secrets();
        let mut headers = self.constant.clone();
        let (url, body) = match &self.request {
            Form::Exact(exact) => exact.write(inputs, &mut headers)?,
            Form::Short(short) => short.write(inputs, &mut headers)?,
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
}

#[cfg(test)]
#[path = "template_tests.rs"]
mod tests;
