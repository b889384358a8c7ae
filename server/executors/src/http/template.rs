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
use super::exact_request::ExactRequest;
use super::executor::RequestTemplate;
use super::headers;
use super::oauth::OAuthTemplate;
use super::plan::{Inputs, RequestPlan};
use super::redirect::Hop;
use super::retry::RetryPolicy;
use super::send::Answer;
use super::short::ShortRequest;
use super::{answer, links};
use crate::failure::Failure;
use crate::invocation::Execution;
use crate::redact::Secrets;
use crate::result::ResultTemplate;
use crate::values::Values;

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
        if let Some(conflict) = places::first_conflict(options) {
            return Err(Failure::misconfigured(conflict.message));
        }
        let url = base_url(&options.base_url)?;
        let base = url.as_str().trim_end_matches('/').to_owned();
        let path = slashed(&options.path);
        literal_path(&path)?;
        let request = match &options.request {
            Some(request) => Form::Exact(ExactRequest::new(&base, &path, request, options.auth.as_deref())?),
            None => Form::Short(ShortRequest::new(&base, &path, options)?),
        };
        let result = options.result.as_deref();
        let accept = result
            .filter(|result| !result.accept.is_empty())
            .map_or_else(|| ACCEPT.to_owned(), |result| result.accept.join(", "));
        let retry = options.retry.as_deref();
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
            credential: options.auth.as_deref().map(Credential::new).transpose()?,
            retry: RetryPolicy::new(retry),
            idempotency_header,
            result: result.map(ResultTemplate::new).transpose()?,
            probe,
        })
    }

    /// The variable that holds the credential.
    pub(crate) fn credential_env(&self) -> Option<&str> {
        self.credential.as_ref().and_then(Credential::env)
    }

    /// The request that asks whether the upstream is well: with the constant headers and the credential of a call, and
    /// nothing else. `None` when the definition has none.
    ///
    /// # Errors
    /// `tool_unavailable` when the credential cannot be presented.
    fn probe_with(&self, credential: Option<&SecretString>) -> Result<Option<RequestPlan>, Failure> {
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
}

impl RequestTemplate for HttpTemplate {
    fn label(&self) -> &str {
        &self.label
    }

    fn base(&self) -> &str {
        &self.base
    }

    fn credential(&self, values: Values<'_>) -> Result<Option<SecretString>, Failure> {
        self.credential_env()
            .map(|name| values.required(name))
            .transpose()
    }

    fn token(&self) -> Option<&OAuthTemplate> {
        self.credential.as_ref().and_then(Credential::token)
    }

    fn uses_account(&self) -> bool {
        self.credential.as_ref().is_some_and(Credential::is_account)
    }

    fn idempotency_header(&self) -> Option<&HeaderName> {
        self.idempotency_header.as_ref()
    }

    fn takes_files(&self) -> bool {
        matches!(&self.request, Form::Exact(exact) if exact.takes_files())
    }

    fn linked_files<'a>(&self, arguments: &'a mut Map<String, Value>) -> Vec<LinkedFile<'a>> {
        match &self.request {
            Form::Exact(exact) => exact.linked_files(arguments),
            Form::Short(_) => Vec::new(),
        }
    }

    /// # Errors
    /// `invalid_arguments` when an argument does not fit its place; `tool_unavailable` when an environment value would
    /// end up in the URL.
    fn plan(&self, inputs: &Inputs) -> Result<RequestPlan, Failure> {
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

    fn probe(&self, values: Values<'_>) -> Result<Option<RequestPlan>, Failure> {
        if self.probe.is_none() {
            return Ok(None);
        }
        self.probe_with(self.credential(values)?.as_ref())
    }

    /// # Errors
    /// What an error status stands for; `upstream_invalid` for an answer that cannot be used.
    fn read(&self, answer: &Answer, plan: &RequestPlan) -> Result<Execution, Failure> {
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

    fn shapes(&self) -> bool {
        true
    }
}

#[cfg(test)]
#[path = "template_tests.rs"]
mod tests;
