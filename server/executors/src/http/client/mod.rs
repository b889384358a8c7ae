//! The HTTP client: sends a request over a connection that is idle, or over a new one.
//!
//! Which version of HTTP an upstream speaks is agreed in the TLS handshake; without TLS it is HTTP/1.1. A connection of
//! HTTP/1 serves one request at a time and is [kept](idle) between them; one of HTTP/2 serves all requests to its origin.

mod idle;
mod received;
mod tls;

use std::error::Error;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::{FutureExt, TryFutureExt};
use http::uri::{Authority, PathAndQuery, Scheme};
use http::{HeaderValue, Request, Response, Uri, header};
use http_body_util::Full;
use hyper::client::conn::{TrySendError, http1, http2};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::Connection as _;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use thiserror::Error;
use tower::ServiceExt;

use self::idle::{Connections, Found, Idle};
pub(crate) use self::received::Received;
use crate::egress::connector::GuardedConnector;
use crate::egress::{EgressPolicy, Resolve};

/// How often it is looked for an idle connection before a new one is opened.
const TRIES: usize = 3;

/// The bodies of requests.
type Content = Full<Bytes>;

/// Why there is no head of an answer.
#[derive(Debug, Error)]
pub(crate) enum SendError {
    #[error("no connection was made")]
    Connect(#[source] Box<dyn Error + Send + Sync>),
    #[error("the request was not answered")]
    Request(#[from] hyper::Error),
}

/// What became of a request; one that was not sent is given back.
type Sent = Result<Response<Received>, TrySendError<Request<Content>>>;

/// Something that takes requests.
enum Connection {
    Http1(http1::SendRequest<Content>),
    Http2(http2::SendRequest<Content>),
}

/// Sends requests.
pub(crate) struct Client {
    connector: HttpsConnector<GuardedConnector>,
    idle: Arc<Idle>,
}

impl Client {
    pub(crate) fn new(policy: Arc<EgressPolicy>, resolver: Arc<dyn Resolve>) -> Self {
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(tls::config())
            .https_or_http()
            .enable_all_versions()
            .wrap_connector(GuardedConnector::new(policy, resolver));
        Self {
            connector,
            idle: Arc::default(),
        }
    }

    /// Sends a request to an absolute URI and waits for the head of the answer.
    ///
    /// A connection that turns out to be closed before anything was sent over it is no failure: the request is made once
    /// more for another one.
    ///
    /// # Errors
    /// When there is no head.
    pub(crate) async fn request(
        &self,
        uri: &Uri,
        request: impl Fn() -> Request<Content>,
    ) -> Result<Response<Received>, SendError> {
        let authority = uri
            .authority()
            .ok_or_else(|| SendError::Connect("the URL names no host".into()))?;
        let idle = self
            .idle
            .to(uri.scheme() == Some(&Scheme::HTTPS), authority.as_str());
        for _ in 0..TRIES {
            match idle.take() {
                Found::Ready(connection) => match send(connection, &idle, uri, request()).await {
                    Err(error) if error.message().is_some() => {}
                    sent => return Ok(sent.map_err(TrySendError::into_error)?),
                },
                Found::Soon => tokio::task::yield_now().await,
                Found::Nothing => break,
            }
        }
        // Boxed, because it is large and seldom needed, and calls move what they wait for.
        let connection = Box::pin(self.open(&idle, uri)).await?;
        let sent = send(connection, &idle, uri, request()).await;
        Ok(sent.map_err(TrySendError::into_error)?)
    }

    async fn open(&self, idle: &Connections, uri: &Uri) -> Result<Connection, SendError> {
        let stream = self
            .connector
            .clone()
            .oneshot(uri.clone())
            .await
            .map_err(SendError::Connect)?;
        if stream.connected().is_negotiated_h2() {
            let (sender, connection) = http2::Builder::new(TokioExecutor::new())
                .timer(TokioTimer::new())
                .handshake(stream)
                .await?;
            tokio::spawn(ended(connection));
            idle.share(sender.clone());
            return Ok(Connection::Http2(sender));
        }
        let (mut sender, connection) = http1::handshake(stream).await?;
        tokio::spawn(ended(connection));
        sender.ready().await?;
        Ok(Connection::Http1(sender))
    }
}

/// Sends a request over a connection, in the form that its version asks for (RFC 9112, section 3.2; RFC 9113,
/// section 8.3.1).
fn send<'a>(
    connection: Connection,
    idle: &'a Arc<Connections>,
    uri: &Uri,
    mut request: Request<Content>,
) -> impl Future<Output = Sent> + use<'a> {
    match connection {
        Connection::Http1(mut sender) => {
            *request.uri_mut() = uri
                .path_and_query()
                .cloned()
                .unwrap_or_else(|| PathAndQuery::from_static("/"))
                .into();
            let authority = uri.authority().map_or("", Authority::as_str);
            if let Ok(host) = HeaderValue::from_str(authority) {
                request.headers_mut().insert(header::HOST, host);
            }
            let answer = sender.try_send_request(request);
            let lease = |body| Received::leased(body, sender, Arc::clone(idle));
            answer.map_ok(|response| response.map(lease)).left_future()
        }
        Connection::Http2(mut sender) => {
            *request.uri_mut() = uri.clone();
            let answer = sender.try_send_request(request);
            answer
                .map_ok(|response| response.map(Received::shared))
                .right_future()
        }
    }
}

/// Runs a connection until it ends. Who sent over it hears of errors.
async fn ended(connection: impl Future<Output = hyper::Result<()>>) {
    if let Err(error) = connection.await {
        tracing::debug!(%error, "a connection to an upstream ended");
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use http_body_util::BodyExt;
    use hyper::body::Incoming;
    use hyper::service::service_fn;
    use hyper_util::rt::TokioIo;
    use tokio::io::duplex;

    use super::*;
    use crate::egress::connector::SystemResolver;

    /// A client that may dial nothing.
    fn client() -> Client {
        let policy = EgressPolicy::parse(&[]).expect("no entries");
        Client::new(Arc::new(policy), Arc::new(SystemResolver))
    }

    fn nothing() -> Request<Content> {
        Request::new(Content::default())
    }

    async fn echo(request: Request<Incoming>) -> Result<Response<Content>, Infallible> {
        let said = format!(
            "{} {}",
            request.uri(),
            request.headers().contains_key(header::HOST)
        );
        Ok(Response::new(Content::from(said)))
    }

    #[tokio::test]
    async fn requests_of_http2_share_a_connection_and_say_the_whole_uri() {
        let client = client();
        let uri = Uri::from_static("https://a.example/b?c=d");
        let (near, far) = duplex(4096);
        tokio::spawn(
            hyper::server::conn::http2::Builder::new(TokioExecutor::new())
                .serve_connection(TokioIo::new(far), service_fn(echo)),
        );
        let (sender, connection) = http2::handshake(TokioExecutor::new(), TokioIo::new(near))
            .await
            .expect("a handshake");
        tokio::spawn(ended(connection));
        client.idle.to(true, "a.example").share(sender);
        let ask = || async {
            let response = client.request(&uri, nothing).await.expect("an answer");
            response.into_body().collect().await.expect("a body").to_bytes()
        };
        let answers = tokio::join!(ask(), ask());
        assert_eq!(
            answers,
            (
                "https://a.example/b?c=d false".into(),
                "https://a.example/b?c=d false".into()
            )
        );
    }

    #[tokio::test]
    async fn a_request_that_was_not_sent_goes_over_the_next_connection() {
        let client = client();
        let uri = Uri::from_static("http://a.example/b?c=d");
        for alive in [true, false] {
            let (near, far) = duplex(4096);
            let (mut sender, connection) = http1::handshake(TokioIo::new(near)).await.expect("a handshake");
            tokio::spawn(ended(connection));
            sender.ready().await.expect("open");
            client.idle.to(false, "a.example").put(sender);
            if alive {
                tokio::spawn(
                    hyper::server::conn::http1::Builder::new()
                        .serve_connection(TokioIo::new(far), service_fn(echo)),
                );
            }
            // The task of the other one has not yet heard that it is closed.
        }
        let response = client.request(&uri, nothing).await.expect("an answer");
        let said = response.into_body().collect().await.expect("a body").to_bytes();
        assert_eq!(said, "/b?c=d true");
    }

    #[tokio::test]
    async fn without_a_host_there_is_nowhere_to_go() {
        let asked = client().request(&Uri::from_static("/b"), nothing).await;
        assert!(matches!(asked, Err(SendError::Connect(_))));
    }
}
