//! What can be worked out once per definition instead of once per call.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use http::HeaderName;
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Map, Value};
use tokio::sync::Semaphore;
use toolgate_core::definition::Execution as ExecutedBy;
use toolgate_core::definition::model::{HttpCache, ToolDefinition};
use toolgate_core::definition::source::ValueSource;
use toolgate_core::http_mapping::LinkedFile;
use toolgate_core::ids::ProjectId;
use toolgate_core::redact::MarkedParameters;

use crate::config::{EnvSource, ExecutorConfig, SecretSource};
use crate::failure::Failure;
use crate::guard::BreakerPolicy;
use crate::http::oauth::{OAuthTemplate, TokenRequest};
use crate::http::plan::{Inputs, RequestPlan};
use crate::http::send::Answer;
use crate::http::template::HttpTemplate;
use crate::invocation::Execution;
use crate::jina::JinaTemplate;

/// A definition made ready for execution.
pub(crate) struct Prepared {
    /// The definition it was made from.
    pub(crate) definition: Arc<ToolDefinition>,
    /// Another number for another definition.
    pub(crate) number: u64,
    /// How long one call may take.
    pub(crate) timeout: Duration,
    /// When its upstream is left alone.
    pub(crate) breaker: BreakerPolicy,
    /// The places for calls at the same time that the definition has, if it says.
    pub(crate) running: Option<Semaphore>,
    /// How long an answer serves further calls, if it may.
    pub(crate) keep: Option<Duration>,
    /// Which arguments are secret, as the definition says.
    pub(crate) marked: Option<MarkedParameters>,
    /// The executor, or why the definition cannot be executed.
    pub(crate) template: Result<Template, Failure>,
}

/// The executors of this crate.
pub(crate) enum Template {
    Http(Box<HttpTemplate>),
    Jina(Box<JinaTemplate>),
}

/// The number of the next definition.
static NEXT: AtomicU64 = AtomicU64::new(0);

fn places(count: u32) -> Semaphore {
    Semaphore::new(usize::try_from(count).unwrap_or(Semaphore::MAX_PERMITS))
}

impl Prepared {
    pub(crate) fn new(definition: Arc<ToolDefinition>, config: &ExecutorConfig) -> Self {
        let timeout = definition
            .options
            .timeout_ms
            .map_or(config.default_timeout, Duration::from_millis)
            .clamp(Duration::from_millis(1), config.max_timeout);
        let template = Template::new(&definition);
        let http = definition.options.http.as_ref();
        let seconds = |cache: &HttpCache| Duration::from_secs(cache.ttl_s.into());
        Self {
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            timeout,
            breaker: BreakerPolicy::new(http.and_then(|http| http.breaker)),
            running: http.and_then(|http| http.concurrency).map(places),
            keep: http.and_then(|http| http.cache.as_ref()).map(seconds),
            marked: MarkedParameters::of(&definition.parameters),
            definition,
            template,
        }
    }
}

impl Template {
    fn new(definition: &ToolDefinition) -> Result<Self, Failure> {
        match definition.execution() {
            Ok(ExecutedBy::Jina(jina)) => {
                JinaTemplate::new(jina).map(|template| Self::Jina(Box::new(template)))
            }
            Ok(ExecutedBy::Http(http)) => {
                HttpTemplate::new(http).map(|template| Self::Http(Box::new(template)))
            }
            Err(why) => Err(Failure::misconfigured(why.to_string())),
        }
    }

    /// Host and path template, for logs: no argument and no query is in it.
    pub(crate) fn label(&self) -> &str {
        match self {
            Self::Http(template) => template.label(),
            Self::Jina(template) => template.label(),
        }
    }

    /// Scheme, host, port and path prefix.
    pub(crate) fn base(&self) -> &str {
        match self {
            Self::Http(template) => template.base(),
            Self::Jina(template) => template.base(),
        }
    }

    /// Whether everything has a value that the definition only names.
    pub(crate) fn has_values(
        &self,
        envs: &BTreeMap<String, String>,
        values: Values<'_>,
    ) -> Result<(), Failure> {
        values.all(envs)?;
        if let Some(token) = self.token() {
            token
                .sources()
                .into_iter()
                .try_for_each(|name| values.required(name).map(drop))?;
        }
        self.credential(values).map(drop)
    }

    /// How its token is fetched, if it presents one.
    pub(crate) fn token(&self) -> Option<&OAuthTemplate> {
        match self {
            Self::Http(template) => template.token(),
            Self::Jina(_) => None,
        }
    }

    /// The request for the token that it presents, if it presents one.
    pub(crate) fn token_request(
        &self,
        project: &ProjectId,
        values: Values<'_>,
    ) -> Result<Option<TokenRequest>, Failure> {
        let Some(token) = self.token() else {
            return Ok(None);
        };
        let [id, secret] = token.sources();
        let pair = [values.required(id)?, values.required(secret)?];
        token.request(project, pair).map(Some)
    }

    /// The header by which the upstream knows a repetition.
    pub(crate) fn idempotency_header(&self) -> Option<&HeaderName> {
        match self {
            Self::Http(template) => template.idempotency_header(),
            Self::Jina(_) => None,
        }
    }

    fn credential(&self, values: Values<'_>) -> Result<Option<SecretString>, Failure> {
        match self {
            Self::Http(template) => template
                .credential_env()
                .map(|name| values.required(name))
                .transpose(),
            Self::Jina(template) => match values.get(template.credential_env()) {
                Some(key) => Ok(Some(key)),
                None if template.may_be_anonymous() => Ok(None),
                None => Err(missing(template.credential_env())),
            },
        }
    }

    /// Whether there is a place for a file that may be given by its address.
    pub(crate) fn takes_files(&self) -> bool {
        match self {
            Self::Http(template) => template.takes_files(),
            Self::Jina(_) => false,
        }
    }

    /// The files among the arguments that are given by their address.
    pub(crate) fn linked_files<'a>(&self, arguments: &'a mut Map<String, Value>) -> Vec<LinkedFile<'a>> {
        match self {
            Self::Http(template) => template.linked_files(arguments),
            Self::Jina(_) => Vec::new(),
        }
    }

    /// The request that asks whether the upstream is well, if the definition has one.
    pub(crate) fn probe(&self, values: Values<'_>) -> Result<Option<RequestPlan>, Failure> {
        match self {
            Self::Http(template) if template.has_probe() => template.probe(self.credential(values)?.as_ref()),
            Self::Http(_) | Self::Jina(_) => Ok(None),
        }
    }

    /// Makes the request.
    pub(crate) fn plan(
        &self,
        arguments: Map<String, Value>,
        envs: &BTreeMap<String, String>,
        values: Values<'_>,
    ) -> Result<RequestPlan, Failure> {
        let inputs = Inputs {
            arguments,
            envs: values.all(envs)?,
            credential: self.credential(values)?,
        };
        match self {
            Self::Http(template) => template.plan(&inputs),
            Self::Jina(template) => template.plan(&inputs),
        }
    }

    /// Reads the upstream's answer.
    pub(crate) fn read(&self, answer: &Answer, plan: &RequestPlan) -> Result<Execution, Failure> {
        match self {
            Self::Http(template) => template.read(answer, plan),
            Self::Jina(template) => template.read(answer, &plan.secrets),
        }
    }
}

/// Where the values come from that definitions only name.
#[derive(Clone, Copy)]
pub(crate) struct Values<'a> {
    /// What tools may use of the server's environment.
    pub(crate) envs: &'a dyn EnvSource,
    /// The secrets of the call's project.
    pub(crate) secrets: Option<&'a dyn SecretSource>,
}

impl Values<'_> {
    fn all(self, names: &BTreeMap<String, String>) -> Result<BTreeMap<String, SecretString>, Failure> {
        names
            .iter()
            .map(|(parameter, name)| Ok((parameter.clone(), self.required(name)?)))
            .collect()
    }

    fn required(self, name: &str) -> Result<SecretString, Failure> {
        self.get(name).ok_or_else(|| missing(name))
    }

    fn get(self, name: &str) -> Option<SecretString> {
        match ValueSource::of(name) {
            ValueSource::Env(name) => self.envs.get(name),
            ValueSource::Secret(name) => self.secrets.and_then(|secrets| secrets.get(name)),
        }
        .filter(|value| !value.expose_secret().is_empty())
    }
}

fn missing(name: &str) -> Failure {
    Failure::misconfigured(match ValueSource::of(name) {
        ValueSource::Env(name) => format!(
            "the environment variable {name} is not set or not offered to tools: set it and list it in TOOLGATE_TOOL_ENV"
        ),
        ValueSource::Secret(name) => format!(
            "the project has no secret {name}, or the server cannot read it: set it under /projects/{{project_id}}/secrets/{name}"
        ),
    })
}

#[cfg(test)]
#[path = "pinned_tests.rs"]
mod pinned_tests;
