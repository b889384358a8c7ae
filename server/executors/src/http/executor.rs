//! Tools that are one HTTP request: what their templates have in common on the way out.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use http::{HeaderName, HeaderValue, StatusCode};
use secrecy::SecretString;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::Instant;
use toolgate_api::ErrorCode;
use toolgate_core::definition::{ExecutorKind, ServiceDefinition, ToolDefinition};
use toolgate_core::http_mapping::LinkedFile;
use toolgate_core::ids::ProjectId;
use url::Url;

use super::oauth::{OAuthTemplate, TokenRequest, Tokens};
use super::plan::{Inputs, RequestPlan};
use super::send::{Answer, Sender, denied};
use super::template::HttpTemplate;
use super::{files, probe, reuse};
use crate::account::{self, Account};
use crate::exchange::Exchange;
use crate::executor::{Circumstances, Executor, Key, Planned, Prepared, Reply, Scope};
use crate::executors::{QUEUE_FOR, place};
use crate::failure::Failure;
use crate::invocation::{Execution, Invocation, Parts};
use crate::redact::Secrets;
use crate::values::Values;

/// Calls with files at the same time: each may hold as many bytes as an answer may have, several times.
const FILES_AT_ONCE: usize = 16;

/// What all HTTP requests of a process share.
pub(crate) struct Transport {
    pub(crate) sender: Sender,
    pub(crate) tokens: Tokens,
    files: Semaphore,
    max_response_bytes: usize,
}

impl Transport {
    pub(crate) fn new(sender: Sender, max_response_bytes: usize) -> Self {
        Self {
            sender,
            tokens: Tokens::new(),
            files: Semaphore::new(FILES_AT_ONCE),
            max_response_bytes,
        }
    }
}

/// A definition's request, made ready: arguments become a plan, and an answer becomes a result. It sends nothing.
pub(crate) trait RequestTemplate: Send + Sync {
    /// Host and path template, for logs: no argument and no query is in it.
    fn label(&self) -> &str;

    /// Scheme, host, port and path prefix.
    fn base(&self) -> &str;

    /// The value of its credential, if it presents one.
    fn credential(&self, values: Values<'_>) -> Result<Option<SecretString>, Failure>;

    /// Makes the request.
    fn plan(&self, inputs: &Inputs) -> Result<RequestPlan, Failure>;

    /// Reads the upstream's answer.
    fn read(&self, answer: &Answer, plan: &RequestPlan) -> Result<Execution, Failure>;

    /// How its token is fetched, if it presents one.
    fn token(&self) -> Option<&OAuthTemplate> {
        None
    }

    /// Whether it presents the credential of the caller's account.
    fn uses_account(&self) -> bool {
        false
    }

    /// The header by which the upstream knows a repetition.
    fn idempotency_header(&self) -> Option<&HeaderName> {
        None
    }

    /// Whether there is a place for a file that may be given by its address.
    fn takes_files(&self) -> bool {
        false
    }

    /// The files among the arguments that are given by their address.
    fn linked_files<'a>(&self, _arguments: &'a mut Map<String, Value>) -> Vec<LinkedFile<'a>> {
        Vec::new()
    }

    /// The request that asks whether the upstream is well, if the definition has one.
    fn probe(&self, _values: Values<'_>) -> Result<Option<RequestPlan>, Failure> {
        Ok(None)
    }

    /// Whether [`Self::read`] follows the definition's `result`.
    fn shapes(&self) -> bool {
        false
    }
}

/// Makes the request of one call.
pub(crate) fn plan(
    template: &dyn RequestTemplate,
    arguments: Map<String, Value>,
    envs: &BTreeMap<String, String>,
    values: Values<'_>,
) -> Result<RequestPlan, Failure> {
    template.plan(&Inputs {
        arguments,
        envs: values.all(envs)?,
        credential: template.credential(values)?,
    })
}

/// Executes `options.http`.
pub(crate) struct HttpExecutor(pub(crate) Arc<Transport>);

impl Executor for HttpExecutor {
    fn kind(&self) -> ExecutorKind {
        ExecutorKind::Http
    }

    fn prepare(
        &self,
        definition: &Arc<ToolDefinition>,
        _service: Option<&Arc<ServiceDefinition>>,
    ) -> Result<Box<dyn Prepared>, Failure> {
        let Some(http) = definition.options.http_request() else {
            return Err(Failure::misconfigured("the definition has no options.http"));
        };
        let template = HttpTemplate::new(&http)?;
        Ok(Box::new(PreparedRequest::new(&self.0, Box::new(template))))
    }
}

/// A tool whose call is one request.
pub(crate) struct PreparedRequest {
    transport: Arc<Transport>,
    template: Box<dyn RequestTemplate>,
}

impl PreparedRequest {
    pub(crate) fn new(transport: &Arc<Transport>, template: Box<dyn RequestTemplate>) -> Self {
        Self {
            transport: Arc::clone(transport),
            template,
        }
    }

    /// The request for the token that it presents, if it presents one.
    fn token_request(
        &self,
        project: &ProjectId,
        values: Values<'_>,
    ) -> Result<Option<TokenRequest>, Failure> {
        let Some(token) = self.template.token() else {
            return Ok(None);
        };
        let [id, secret] = token.sources();
        let pair = [values.required(id)?, values.required(secret)?];
        token.request(project, pair).map(Some)
    }

    /// Fetches the files that are given by their address, and puts their content into the arguments. What is returned is to
    /// be held until the call has ended; `None` when there is no such file.
    async fn fetch_files(
        &self,
        call: &mut Invocation,
        scope: Scope<'_>,
    ) -> Result<Option<SemaphorePermit<'_>>, Failure> {
        let linked = self.template.linked_files(&mut call.arguments);
        if linked.is_empty() {
            return Ok(None);
        }
        // There is no use in fetching what will not be sent.
        scope.breaker_is_closed()?;
        let Transport {
            sender,
            files,
            max_response_bytes,
            ..
        } = &*self.transport;
        let queue_until = scope.deadline.min(scope.start + QUEUE_FOR);
        let place = place(files, queue_until, "tools with files").await?;
        files::resolve(
            sender,
            linked,
            call.egress.clone(),
            *max_response_bytes,
            scope.deadline,
        )
        .await?;
        Ok(Some(place))
    }
}

#[async_trait]
impl Prepared for PreparedRequest {
    fn label(&self) -> &str {
        self.template.label()
    }

    fn host(&self) -> Option<&str> {
        self.template.label().split('/').next()
    }

    fn foresee(&self, circumstances: Circumstances<'_>) -> Result<(), Failure> {
        let Circumstances {
            envs, values, egress, ..
        } = circumstances;
        values.all(envs)?;
        let token = self.template.token();
        for name in token.into_iter().flat_map(OAuthTemplate::sources) {
            values.required(name)?;
        }
        self.template.credential(values)?;
        let base = Url::parse(self.template.base()).ok();
        for url in base.iter().chain(token.map(OAuthTemplate::url)) {
            self.transport
                .sender
                .policy()
                .permits_with(url, egress.map(|origins| &**origins))
                .map_err(|error| denied(&error))?;
        }
        Ok(())
    }

    async fn plan<'a>(
        &'a self,
        call: &mut Invocation,
        scope: Scope<'_>,
    ) -> Result<Box<dyn Planned + 'a>, Failure> {
        let template = &*self.template;
        let account = match template.uses_account() {
            true => Some(Arc::clone(account::required(call.account.as_ref())?)),
            false => None,
        };
        let token = self
            .token_request(&call.project, scope.values)?
            .map(|token| Box::new(token.reaching(call.egress.clone())));
        let files = if template.takes_files() {
            Box::pin(self.fetch_files(call, scope)).await?
        } else {
            None
        };
        let mut plan = plan(
            template,
            std::mem::take(&mut call.arguments),
            &call.envs,
            scope.values,
        )?;
        if let Some(account) = &account {
            account::may_be_sent(account.provider(), &plan.first.url)?;
        }
        let of_account = account
            .as_ref()
            .map(|account| Sha256::digest(account.key()).into());
        // Before anything that belongs to this one call is in it.
        let key = scope.wants_key.then(|| {
            let presented = token.as_ref().map(|token| &token.key);
            reuse::key(&plan, presented.or(of_account.as_ref()))
        });
        if let Some(name) = template.idempotency_header() {
            let id = HeaderValue::from_str(&call.call_id.to_string());
            plan.first.headers.extend(id.ok().map(|id| (name.clone(), id)));
        }
        plan.hand_on(std::mem::take(&mut call.trace));
        plan.first.origins = call.egress.take();
        Ok(Box::new(PlannedRequest {
            transport: &self.transport,
            template,
            plan,
            token,
            account,
            key,
            parts: call.parts.take(),
            exchange: call.exchange.take(),
            _files: files,
        }))
    }

    fn redacts(&self) -> bool {
        true
    }

    fn shapes(&self) -> bool {
        self.template.shapes()
    }

    async fn probe(
        &self,
        circumstances: Circumstances<'_>,
        deadline: Instant,
    ) -> Result<Option<StatusCode>, Failure> {
        let Circumstances {
            project,
            values,
            egress,
            ..
        } = circumstances;
        let Some(mut plan) = self.template.probe(values)? else {
            return Ok(None);
        };
        let Transport { sender, tokens, .. } = &*self.transport;
        plan.first.origins = egress.cloned();
        if let Some(token) = self.token_request(project, values)? {
            let token = tokens
                .get(&token.reaching(egress.cloned()), sender, deadline)
                .await?;
            plan.present(&token)?;
        }
        probe::ask(sender, &plan, deadline).await.map(Some)
    }
}

/// The request of one call.
struct PlannedRequest<'a> {
    transport: &'a Transport,
    template: &'a dyn RequestTemplate,
    plan: RequestPlan,
    token: Option<Box<TokenRequest>>,
    account: Option<Arc<dyn Account>>,
    key: Option<Key>,
    parts: Option<Parts>,
    exchange: Option<Exchange>,
    _files: Option<SemaphorePermit<'a>>,
}

#[async_trait]
impl Planned for PlannedRequest<'_> {
    fn secrets(&mut self) -> &mut Secrets {
        &mut self.plan.secrets
    }

    fn key(&self) -> Option<Key> {
        self.key
    }

    async fn run(&mut self, deadline: Instant) -> Result<Reply, Failure> {
        let answer = match self.exchange.clone() {
            None => self.send(deadline).await?,
            Some(exchange) => Box::pin(self.send_shown(&exchange, deadline)).await?,
        };
        Ok(Reply {
            execution: self.template.read(&answer, &self.plan)?,
            may_be_kept: reuse::is_permitted(&answer.headers),
        })
    }
}

impl PlannedRequest<'_> {
    async fn send(&mut self, deadline: Instant) -> Result<Answer, Failure> {
        let Transport { sender, tokens, .. } = self.transport;
        match &self.token {
            None if self.account.is_some() => Box::pin(self.send_with_account(deadline)).await,
            None => sender.send(&self.plan, self.parts.as_ref(), deadline).await,
            // Boxed, so that the calls of other tools need not carry its state.
            Some(token) => {
                let parts = self.parts.as_ref();
                Box::pin(send_with_token(
                    sender,
                    tokens,
                    &mut self.plan,
                    token,
                    parts,
                    deadline,
                ))
                .await
            }
        }
    }

    /// Sends, and notes what went out and came back. A time-out leaves what is known by then.
    async fn send_shown(&mut self, exchange: &Exchange, deadline: Instant) -> Result<Answer, Failure> {
        exchange.sends(&self.plan.first, &self.plan.secrets);
        let answer = self.send(deadline).await;
        // With the token or the credential that was presented only now.
        exchange.sends(&self.plan.first, &self.plan.secrets);
        if let Ok(answer) = &answer {
            exchange.received(answer, &self.plan.secrets);
        }
        answer
    }

    /// Sends with the credential of the caller's account. A request that is refused for it is sent once more with a new one: it was
    /// not read the first time.
    async fn send_with_account(&mut self, deadline: Instant) -> Result<Answer, Failure> {
        let account = account::required(self.account.as_ref())?;
        let RequestPlan { first, secrets } = &mut self.plan;
        let mut credential = account.credential(deadline).await?;
        account::present(account.provider(), &credential, &mut first.headers, secrets)?;
        let answer = self
            .transport
            .sender
            .send(&self.plan, self.parts.as_ref(), deadline)
            .await?;
        if answer.status != StatusCode::UNAUTHORIZED || !account.refused(&credential, deadline).await {
            return Ok(answer);
        }
        credential = account.credential(deadline).await?;
        let RequestPlan { first, secrets } = &mut self.plan;
        account::present(account.provider(), &credential, &mut first.headers, secrets)?;
        let answer = self
            .transport
            .sender
            .send(&self.plan, self.parts.as_ref(), deadline)
            .await?;
        if answer.status == StatusCode::UNAUTHORIZED {
            account.refused(&credential, deadline).await;
        }
        Ok(answer)
    }
}

/// Sends with an access token. One that the upstream does not take is forgotten, and where the request may be sent twice, it
/// is sent once more with a new one.
async fn send_with_token(
    sender: &Sender,
    tokens: &Tokens,
    plan: &mut RequestPlan,
    request: &TokenRequest,
    parts: Option<&Parts>,
    deadline: Instant,
) -> Result<Answer, Failure> {
    for retries in 0.. {
        let token = tokens.get(request, sender, deadline).await?;
        plan.present(&token)?;
        let answer = sender.send(plan, parts, deadline).await?;
        if answer.status != StatusCode::UNAUTHORIZED {
            return Ok(answer);
        }
        tokens.forget(request, &token).await;
        if retries > 0 || !plan.first.retry.permits(&plan.first.method, retries) {
            return Ok(answer);
        }
    }
    Err(Failure::new(
        ErrorCode::UpstreamAuth,
        "the upstream takes no access token",
    ))
}
