//! HTTP with server-sent events, as in the revision 2024-11-05: one stream brings all messages, each request is a POST.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use http::Method;
use rmcp::RoleClient;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::streamable_http_client::SseError;
use sse_stream::Sse;
use tokio::time::timeout;
use toolgate_api::ErrorCode;
use url::Url;

use super::error::Guarded;
use super::http::GuardedClient;
use super::raw::Waiting;
use crate::failure::Failure;
use crate::http::text;

/// The stream, and where requests go.
pub(super) struct SseTransport {
    client: GuardedClient,
    endpoint: Arc<str>,
    events: BoxStream<'static, Result<Sse, SseError>>,
    waiting: Waiting,
}

impl SseTransport {
    /// Opens the stream and waits until it says where requests go.
    ///
    /// # Errors
    /// Why there is no stream, or that requests would go to another origin.
    pub(super) async fn open(client: GuardedClient, url: &str) -> Result<Self, Failure> {
        let invalid = |what: &str| Failure::new(ErrorCode::UpstreamInvalid, what);
        let response = client
            .send(Method::GET, url, HashMap::new(), None, client.within)
            .await?;
        if !response.status().is_success() {
            return Err(client.refusal(response).await.0);
        }
        if text::media_type(response.headers()) != "text/event-stream" {
            return Err(invalid("the MCP server's answer is no stream of events"));
        }
        let mut events = client.events(response, usize::MAX);
        let first = timeout(client.within, async {
            while let Some(Ok(event)) = events.next().await {
                if event.event.as_deref() == Some("endpoint") {
                    return event.data;
                }
            }
            None
        });
        let named = first.await.map_err(|_| Failure::timeout(client.within))?;
        let named = named.ok_or_else(|| invalid("the MCP server does not say where requests go"))?;
        let base = Url::parse(url).map_err(|_| invalid("the address of the MCP server is none"))?;
        let endpoint = base
            .join(named.trim())
            .map_err(|_| invalid("the MCP server names an invalid address for requests"))?;
        // The headers, which may hold credentials, go there.
        if endpoint.origin() != base.origin() {
            return Err(Failure::new(
                ErrorCode::EgressDenied,
                "the MCP server wants requests sent to another origin than its own",
            ));
        }
        Ok(Self {
            client,
            endpoint: endpoint.as_str().into(),
            events,
            waiting: Waiting::default(),
        })
    }
}

impl Transport<RoleClient> for SseTransport {
    type Error = Guarded;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Guarded>> + Send + 'static {
        let (client, endpoint) = (self.client.clone(), Arc::clone(&self.endpoint));
        self.waiting.sends(&item);
        async move {
            let content = serde_json::to_vec(&item).map_err(|error| {
                Guarded(Failure::arguments(format!(
                    "the request cannot be written: {error}"
                )))
            })?;
            let within = client.within;
            let response = client
                .send(
                    Method::POST,
                    &endpoint,
                    HashMap::new(),
                    Some(Bytes::from(content)),
                    within,
                )
                .await
                .map_err(Guarded)?;
            if response.status().is_success() {
                return Ok(());
            }
            Err(Guarded(client.refusal(response).await.0))
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            let event = self.events.next().await?.ok()?;
            if !matches!(event.event.as_deref(), None | Some("" | "message")) {
                continue;
            }
            let data = event.data.unwrap_or_default();
            match self.waiting.receives(data.as_bytes()) {
                Some(message) => return Some(message),
                None => tracing::debug!("an event of an MCP server is no JSON-RPC message"),
            }
        }
    }

    async fn close(&mut self) -> Result<(), Guarded> {
        self.events = futures_util::stream::empty().boxed();
        Ok(())
    }
}
