//! Making a connection, by each transport.

use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::ProtocolVersion;
use rmcp::service::{ClientInitializeError, ClientLifecycleMode, ClientServiceExt, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use toolgate_api::ErrorCode;
use toolgate_api::mcp_servers::McpTransport;

use super::bearer::Bearer;
use super::connection::{Connection, Live};
use super::error;
use super::handler::Handler;
use super::http::GuardedClient;
use super::lines::LineTransport;
use super::listen;
use super::manager::Shared;
use super::notices::Notices;
use super::offers::KeptLists;
use super::sse::SseTransport;
use super::stdio;
use super::target::headers;
use super::throttle::Throttled;
use crate::failure::Failure;
use crate::redact::Secrets;

/// The longest a request may wait for its answer, beside the deadline of its call.
const LONGEST_REQUEST: Duration = Duration::from_secs(600);

impl Connection {
    /// Connects by the transport of the server.
    ///
    /// # Errors
    /// Why there is no connection; secrets are masked.
    pub(super) async fn connect(&self, shared: &Shared) -> Result<Live, Failure> {
        let definition = &self.server.definition;
        let target = self.target();
        match definition.transport() {
            McpTransport::Stdio => {
                let (process, (stdout, stdin), secrets) = stdio::start(
                    &target,
                    &shared.stdio,
                    shared.values(&target),
                    &self.log,
                    (&shared.transport, &self.target),
                    shared.max_bytes,
                )?;
                let transport = LineTransport::new(stdout, stdin);
                let handler = Handler::new(
                    &target.server,
                    KeptLists::new(&shared.list_changes, &target),
                    false,
                );
                let transport = Notices::new(Throttled::new(transport), &handler);
                let started = handler
                    .clone()
                    .serve_with_lifecycle(transport, ClientLifecycleMode::Initialize)
                    .await;
                match started {
                    Ok(service) => Ok(Live::new(service, handler, secrets, Some(process), None)),
                    Err(error) => {
                        let mut failure = clean(error::of_start(&error), &secrets);
                        if let Some(how) = process.ended().await {
                            failure = Failure::new(ErrorCode::UpstreamUnavailable, how);
                        }
                        Err(failure)
                    }
                }
            }
            McpTransport::Sse => {
                let (client, secrets) = self.client(shared)?;
                let bearer = client.bearer.clone();
                let clean = |failure| clean(failure, &with_token(&secrets, bearer.as_deref()));
                let url = definition.url.as_deref().unwrap_or_default();
                let transport = SseTransport::open(client, url).await.map_err(clean)?;
                let handler = Handler::new(
                    &target.server,
                    KeptLists::new(&shared.list_changes, &target),
                    false,
                );
                let transport = Notices::new(Throttled::new(transport), &handler);
                let started = handler
                    .clone()
                    .serve_with_lifecycle(transport, ClientLifecycleMode::Initialize);
                let service = started.await.map_err(|error| clean(error::of_start(&error)))?;
                Ok(Live::new(service, handler, secrets, None, bearer))
            }
            McpTransport::StreamableHttp => self.connect_http(shared).await,
        }
    }

    async fn connect_http(&self, shared: &Shared) -> Result<Live, Failure> {
        let (client, secrets) = self.client(shared)?;
        let bearer = client.bearer.clone();
        let is_legacy = self.seen().is_legacy;
        let mode = if is_legacy {
            ClientLifecycleMode::Initialize
        } else {
            ClientLifecycleMode::Auto {
                preferred_versions: vec![ProtocolVersion::V_2026_07_28],
                legacy_version: Some(ProtocolVersion::V_2025_11_25),
            }
        };
        let mut started = self.begin(shared, client.clone(), mode).await;
        // There are servers that answer every request, also one that they do not know.
        if !is_legacy && matches!(started, Err(ClientInitializeError::ExpectedInitResult(_))) {
            started = self.begin(shared, client, ClientLifecycleMode::Initialize).await;
        }
        let (service, handler) = started
            .map_err(|error| clean(error::of_start(&error), &with_token(&secrets, bearer.as_deref())))?;
        let agreed = service.peer().peer_info();
        self.seen().is_legacy = agreed.is_some_and(|info| info.protocol_version.has_initialize());
        listen::start(service.peer(), &handler);
        Ok(Live::new(service, handler, secrets, None, bearer))
    }

    /// Begins over streamable HTTP.
    async fn begin(
        &self,
        shared: &Shared,
        client: GuardedClient,
        mode: ClientLifecycleMode,
    ) -> Result<(RunningService<RoleClient, Handler>, Handler), ClientInitializeError> {
        let url = self.server.definition.url.as_deref().unwrap_or_default();
        let mut config = StreamableHttpClientTransportConfig::with_uri(url)
            .max_sse_event_size(shared.max_bytes)
            .max_json_response_size(shared.max_bytes)
            // Beside the calls: listening, and what lists.
            .max_concurrent_requests(self.most.saturating_add(5))
            .control_request_timeout(self.within())
            // Whether a call may be sent twice is decided where it is sent.
            .reinit_on_expired_session(false);
        config.allow_stateless = true;
        let handler = Handler::new(
            &self.server,
            KeptLists::new(&shared.list_changes, &self.target()),
            true,
        );
        let transport = StreamableHttpClientTransport::with_client(client, config);
        let transport = Notices::new(Throttled::new(transport), &handler);
        let service = handler.clone().serve_with_lifecycle(transport, mode).await?;
        Ok((service, handler))
    }

    fn client(&self, shared: &Shared) -> Result<(GuardedClient, Secrets), Failure> {
        let target = self.target();
        let definition = &self.server.definition;
        let (headers, mut secrets) = headers(&definition.headers, shared.values(&target))?;
        let bearer = match &definition.oauth {
            Some(client) => {
                let bearer = Bearer::new(client, &target, shared.values(&target), &mut secrets)?;
                Some(Arc::new(bearer))
            }
            None => definition
                .account
                .as_ref()
                .and(target.account.as_ref())
                .map(|account| Arc::new(Bearer::of_account(account))),
        };
        let client = GuardedClient {
            transport: Arc::clone(&shared.transport),
            origins: target.egress,
            headers,
            bearer,
            within: self.within(),
            longest: LONGEST_REQUEST,
            max_bytes: shared.max_bytes,
        };
        Ok((client, secrets))
    }
}

fn with_token(secrets: &Secrets, bearer: Option<&Bearer>) -> Secrets {
    let mut all = secrets.clone();
    if let Some(bearer) = bearer {
        bearer.hide(&mut all);
    }
    all
}

fn clean(mut failure: Failure, secrets: &Secrets) -> Failure {
    failure.message = secrets.message(&failure.message);
    failure.upstream_message = failure.upstream_message.map(|said| secrets.message(&said));
    failure
}
