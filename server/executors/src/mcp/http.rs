//! Streamable HTTP through the guarded client: every address passes the same gates as a tool's, and every size is bounded.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::BoxStream;
use futures_util::{Stream, StreamExt, TryStreamExt};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode, header};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorData, JsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::{Sse, SseStream};
use tokio::time::{Instant, timeout};
use toolgate_api::ErrorCode;
use url::Url;

use super::bearer::Bearer;
use super::error::Guarded;
use super::raw::Kept;
use super::{callers, raw};
use crate::egress::{Origins, parse_exact};
use crate::failure::Failure;
use crate::http::executor::Transport;
use crate::http::redirect::Hop;
use crate::http::retry::RetryPolicy;
use crate::http::{body, headers, send, status, text};

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");
/// Longest message of a refusal, in characters.
const SAID: usize = 300;
/// How much larger than the largest message the events of one answer may be: progress comes before it.
const EVENTS_OF_AN_ANSWER: usize = 4;

type Answer<T> = Result<T, StreamableHttpError<Guarded>>;
type Events = BoxStream<'static, Result<Sse, SseError>>;

/// The guarded client, with what one server is reached with.
#[derive(Clone)]
pub(super) struct GuardedClient {
    pub(super) transport: Arc<Transport>,
    pub(super) origins: Option<Arc<Origins>>,
    /// Sensitive.
    pub(super) headers: HeaderMap,
    pub(super) bearer: Option<Arc<Bearer>>,
    /// Until the head of an answer to a notification or to a stream is there.
    pub(super) within: Duration,
    /// Until that of an answer to a request is there; calls have their own deadline.
    pub(super) longest: Duration,
    /// Bytes of one message.
    pub(super) max_bytes: usize,
}

impl GuardedClient {
    /// Sends a request and waits for the head of its answer. One whose token the server does not take is sent once more, with a
    /// new token: it was not read the first time.
    pub(super) async fn send(
        &self,
        method: Method,
        uri: &str,
        more: HashMap<HeaderName, HeaderValue>,
        content: Option<Bytes>,
        within: Duration,
    ) -> Result<Response<Incoming>, Failure> {
        let mut hop = self.hop(method, uri, more, content)?;
        let deadline = Instant::now() + within;
        let sent = async {
            let Some(bearer) = &self.bearer else {
                return self.transport.sender.send_streaming(hop, deadline).await;
            };
            bearer
                .present(&self.transport, &mut hop.headers, deadline)
                .await?;
            let mut again = hop.clone();
            let response = self.transport.sender.send_streaming(hop, deadline).await?;
            if response.status() != StatusCode::UNAUTHORIZED {
                return Ok(response);
            }
            if !bearer.forget(&self.transport, deadline).await {
                return Ok(response);
            }
            drop(response);
            bearer
                .present(&self.transport, &mut again.headers, deadline)
                .await?;
            let response = self.transport.sender.send_streaming(again, deadline).await?;
            if response.status() == StatusCode::UNAUTHORIZED {
                bearer.forget(&self.transport, deadline).await;
            }
            Ok(response)
        };
        timeout(within, sent)
            .await
            .map_err(|_| Failure::timeout(within))?
    }

    fn hop(
        &self,
        method: Method,
        uri: &str,
        more: HashMap<HeaderName, HeaderValue>,
        content: Option<Bytes>,
    ) -> Result<Hop, Failure> {
        let url: Url = parse_exact(uri).map_err(|error| send::denied(&error))?;
        let mut headers = HeaderMap::new();
        headers.insert(header::USER_AGENT, headers::USER_AGENT);
        let accept = if content.is_some() {
            "application/json, text/event-stream"
        } else {
            "text/event-stream"
        };
        headers.insert(header::ACCEPT, HeaderValue::from_static(accept));
        // A stream that is compressed cannot be read event by event.
        headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        if content.is_some() {
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        headers.extend(self.headers.clone());
        headers.extend(more.into_iter().map(|(name, value)| (Some(name), value)));
        Ok(Hop {
            method,
            url,
            headers,
            body: content,
            origins: self.origins.clone(),
            query_secret: None,
            retry: RetryPolicy::default(),
        })
    }

    /// The events of an answer, each of a bounded size, and of this size together.
    pub(super) fn events(&self, response: Response<Incoming>, in_all: usize) -> Events {
        let data = response
            .into_body()
            .into_data_stream()
            .map_err(|error| std::io::Error::other(error.to_string()));
        SseStream::from_bytes_stream(bounded(data, self.max_bytes, in_all)).boxed()
    }

    /// The failure that an answer with an error status is.
    pub(super) async fn refusal(&self, response: Response<Incoming>) -> (Failure, Bytes) {
        let read = body::read(response, self.max_bytes).await;
        match read {
            Ok(answer) => {
                let mut failure = status::failure(answer.status, &answer.headers);
                let said = String::from_utf8_lossy(&answer.body);
                let said: String = said.chars().filter(|c| !c.is_control()).take(SAID).collect();
                failure.upstream_message = (!said.is_empty()).then_some(said);
                (failure, answer.body)
            }
            Err(failure) => (failure, Bytes::new()),
        }
    }
}

/// Fails when an event is larger than this, or all of them together.
fn bounded<S>(parts: S, max_bytes: usize, in_all: usize) -> impl Stream<Item = std::io::Result<Bytes>>
where
    S: Stream<Item = std::io::Result<Bytes>>,
{
    let (mut size, mut total) = (0_usize, 0_usize);
    let mut line_is_empty = true;
    parts.map(move |part| {
        let part = part?;
        for &byte in &part {
            match byte {
                b'\n' if line_is_empty => size = 0,
                b'\n' => line_is_empty = true,
                b'\r' => {}
                _ => line_is_empty = false,
            }
            size += 1;
        }
        total = total.saturating_add(part.len());
        if total > in_all {
            return Err(std::io::Error::other(format!(
                "the events of one answer are larger than {in_all} bytes"
            )));
        }
        if size > max_bytes {
            return Err(std::io::Error::other(format!(
                "an event is larger than {max_bytes} bytes"
            )));
        }
        Ok(part)
    })
}

fn client(failure: Failure) -> StreamableHttpError<Guarded> {
    StreamableHttpError::Client(Guarded(failure))
}

fn invalid(what: impl Into<String>) -> StreamableHttpError<Guarded> {
    client(Failure::new(ErrorCode::UpstreamInvalid, what))
}

impl StreamableHttpClient for GuardedClient {
    type Error = Guarded;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        _auth_header: Option<String>,
        mut custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Answer<StreamableHttpPostResponse> {
        let content = Bytes::from(serde_json::to_vec(&message)?);
        let has_session = session_id.is_some();
        if let Some(value) = session_id.and_then(|id| HeaderValue::from_str(&id).ok()) {
            custom_headers.insert(SESSION, value);
        }
        let asks = matches!(message, ClientJsonRpcMessage::Request(_));
        let within = if asks { self.longest } else { self.within };
        let response = self
            .send(Method::POST, &uri, custom_headers, Some(content), within)
            .await
            .map_err(client)?;
        let status = response.status();
        let session = response
            .headers()
            .get(SESSION)
            .and_then(|value| value.to_str().ok());
        let session = session.map(str::to_owned);
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) || (status.is_success() && !asks) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if status == StatusCode::NOT_FOUND && has_session {
            return Err(StreamableHttpError::SessionExpired);
        }
        let media_type = text::media_type(response.headers());
        if !status.is_success() {
            let (failure, said) = self.refusal(response).await;
            return refused(&message, status, failure, &said)
                .map(|error| StreamableHttpPostResponse::Json(error, session));
        }
        let kept = raw::kept(&message);
        match media_type.as_str() {
            "text/event-stream" => {
                let in_all = match &message {
                    // It ends with the connection.
                    ClientJsonRpcMessage::Request(request) if listens(&request.request) => usize::MAX,
                    _ => self.max_bytes.saturating_mul(EVENTS_OF_AN_ANSWER),
                };
                let events = self.events(response, in_all);
                let events = events
                    .map_ok(move |event| as_it_came(event, kept.as_ref()))
                    .boxed();
                Ok(StreamableHttpPostResponse::Sse(events, session))
            }
            "application/json" => {
                let answer = body::read(response, self.max_bytes).await.map_err(client)?;
                let kept = kept.and_then(|kept| raw::message(&answer.body, &kept));
                let answer = match kept {
                    Some(answer) => answer,
                    None => {
                        let answer = serde_json::from_slice::<ServerJsonRpcMessage>(&answer.body)
                            .map_err(|_| invalid("the MCP server's answer is no JSON-RPC message"))?;
                        answering(&message, answer)?
                    }
                };
                Ok(StreamableHttpPostResponse::Json(answer, session))
            }
            other => Err(invalid(format!(
                "the MCP server's answer has the media type {other:?}, not JSON or events"
            ))),
        }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        _auth_header: Option<String>,
        mut custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Answer<()> {
        if let Ok(value) = HeaderValue::from_str(&session_id) {
            custom_headers.insert(SESSION, value);
        }
        // A server that does not let clients end sessions ends them itself.
        self.send(Method::DELETE, &uri, custom_headers, None, self.within)
            .await
            .map(|_| ())
            .map_err(client)
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        _auth_header: Option<String>,
        mut custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Answer<Events> {
        if let Some(value) = session_id.and_then(|id| HeaderValue::from_str(&id).ok()) {
            custom_headers.insert(SESSION, value);
        }
        if let Some(value) = last_event_id.and_then(|id| HeaderValue::from_str(&id).ok()) {
            custom_headers.insert(LAST_EVENT, value);
        }
        let response = self
            .send(Method::GET, &uri, custom_headers, None, self.within)
            .await
            .map_err(client)?;
        if !response.status().is_success() || text::media_type(response.headers()) != "text/event-stream" {
            return Err(StreamableHttpError::ServerDoesNotSupportSse);
        }
        let events = self.events(response, usize::MAX);
        Ok(events.map_ok(|event| as_it_came(event, None)).boxed())
    }
}

const fn listens(request: &ClientRequest) -> bool {
    matches!(request, ClientRequest::SubscriptionsListenRequest(_))
}

/// What a body of JSON answers the request with. What belongs to another request would be waited for in vain.
fn answering(message: &ClientJsonRpcMessage, answer: ServerJsonRpcMessage) -> Answer<ServerJsonRpcMessage> {
    let ClientJsonRpcMessage::Request(request) = message else {
        return Ok(answer);
    };
    let other = || invalid("the MCP server's answer has the id of another request");
    match answer {
        JsonRpcMessage::Response(answer) if answer.id != request.id => Err(other()),
        JsonRpcMessage::Error(answer) if answer.id.as_ref().is_some_and(|id| *id != request.id) => {
            Err(other())
        }
        // An error without an id is about this request: nothing else was asked here.
        JsonRpcMessage::Error(answer) => Ok(ServerJsonRpcMessage::error(
            answer.error,
            Some(request.id.clone()),
        )),
        answer @ JsonRpcMessage::Response(_) => Ok(answer),
        _ => Err(invalid("the MCP server's answer is no JSON-RPC response")),
    }
}

/// An event on the stream of a request whose answer is kept, or on another stream.
fn as_it_came(mut event: Sse, kept: Option<&Kept>) -> Sse {
    let Some(data) = event.data.as_deref() else {
        return event;
    };
    let request = kept.map(|kept| &kept.request);
    let kept = kept.and_then(|kept| raw::event(data, kept));
    if let Some(changed) = kept.or_else(|| callers::tagged(data, request)) {
        event.data = Some(changed);
    }
    event
}

/// An answer with an error status: the JSON-RPC error in it, or the failure.
fn refused(
    message: &ClientJsonRpcMessage,
    status: StatusCode,
    failure: Failure,
    said: &[u8],
) -> Answer<ServerJsonRpcMessage> {
    let is_access = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    let ClientJsonRpcMessage::Request(request) = message else {
        return Err(client(failure));
    };
    if is_access || !status.is_client_error() || status == StatusCode::TOO_MANY_REQUESTS {
        return Err(client(failure));
    }
    let error = match serde_json::from_slice::<ServerJsonRpcMessage>(said) {
        Ok(JsonRpcMessage::Error(error)) => Some(error.error),
        _ => None,
    };
    // Servers of older revisions refuse this request in many ways, and are asked by `initialize` then.
    let is_probe = matches!(request.request, ClientRequest::DiscoverRequest(_));
    match error {
        Some(error) => Ok(ServerJsonRpcMessage::error(error, Some(request.id.clone()))),
        None if is_probe => Ok(ServerJsonRpcMessage::error(
            ErrorData::invalid_request(format!("refused with the status {status}"), None),
            Some(request.id.clone()),
        )),
        None => Err(client(failure)),
    }
}
