//! The HTTP client: hyper-util's, with its pool, over connections to checked addresses only.
//!
//! Which version of HTTP an upstream speaks is agreed in the TLS handshake; without TLS it is HTTP/1.1. The pool keeps
//! connections by scheme, host and port. What may be dialled depends on these and on the server's own configuration, never
//! on the project that calls; which hosts a project may name is checked before every request (`send.rs`).

use std::time::Duration;

use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::Connect;
use hyper_util::client::legacy::{self, ResponseFuture};
use hyper_util::rt::{TokioExecutor, TokioTimer};

use super::tls;
use crate::egress::connector::GuardedConnector;

/// Connections of HTTP/1 that are kept per origin.
const PER_ORIGIN: usize = 128;
/// How long one is kept.
const KEPT: Duration = Duration::from_secs(60);

/// Why there is no head of an answer.
pub(crate) type SendError = legacy::Error;

/// Sends requests.
pub(crate) struct Client(legacy::Client<HttpsConnector<GuardedConnector>, Full<Bytes>>);

impl Client {
    pub(crate) fn new(guarded: GuardedConnector) -> Self {
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(tls::config())
            .https_or_http()
            .enable_all_versions()
            .wrap_connector(guarded);
        Self(pooled(connector))
    }

    /// Sends a request to an absolute URI; the answer is there when its head is.
    ///
    /// A connection that turns out to be closed before anything was sent over it is no failure: the request is made once
    /// more over another one. A request that was sent is never sent again.
    pub(crate) fn request(&self, request: Request<Full<Bytes>>) -> ResponseFuture {
        self.0.request(request)
    }
}

fn pooled<C: Connect + Clone>(connector: C) -> legacy::Client<C, Full<Bytes>> {
    legacy::Client::builder(TokioExecutor::new())
        .timer(TokioTimer::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(KEPT)
        .pool_max_idle_per_host(PER_ORIGIN)
        .build(connector)
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::convert::Infallible;
    use std::future::{Ready, ready};
    use std::io;
    use std::pin::Pin;
    use std::sync::{Arc, Mutex};
    use std::task::{Context, Poll};

    use http::{Response, Uri, header};
    use http_body_util::BodyExt;
    use hyper::body::Incoming;
    use hyper::rt::{Read, ReadBufCursor, Write};
    use hyper::service::service_fn;
    use hyper_util::client::legacy::connect::{Connected, Connection};
    use hyper_util::rt::TokioIo;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
    use tower::Service;

    use super::*;
    use crate::egress::EgressPolicy;
    use crate::egress::connector::SystemResolver;

    /// A connection that was made already, by HTTP/2 or HTTP/1.
    struct Made(TokioIo<DuplexStream>, bool);

    impl Connection for Made {
        fn connected(&self) -> Connected {
            if self.1 {
                Connected::new().negotiated_h2()
            } else {
                Connected::new()
            }
        }
    }

    impl Read for Made {
        fn poll_read(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
            into: ReadBufCursor<'_>,
        ) -> Poll<io::Result<()>> {
            Pin::new(&mut self.0).poll_read(context, into)
        }
    }

    impl Write for Made {
        fn poll_write(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            Pin::new(&mut self.0).poll_write(context, bytes)
        }

        fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
            Pin::new(&mut self.0).poll_flush(context)
        }

        fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
            Pin::new(&mut self.0).poll_shutdown(context)
        }
    }

    /// Gives out connections in their order.
    #[derive(Clone)]
    struct Ends(Arc<Mutex<VecDeque<Made>>>);

    impl Ends {
        /// Connections by HTTP/2 or HTTP/1, and their other ends.
        fn new(count: usize, http2: bool) -> (Self, Vec<DuplexStream>) {
            let (near, far): (VecDeque<_>, Vec<_>) = (0..count)
                .map(|_| duplex(4096))
                .map(|(near, far)| (Made(TokioIo::new(near), http2), far))
                .unzip();
            (Self(Arc::new(Mutex::new(near))), far)
        }

        fn left(&self) -> usize {
            self.0.lock().expect("no panic").len()
        }
    }

    impl Service<Uri> for Ends {
        type Response = Made;
        type Error = io::Error;
        type Future = Ready<io::Result<Made>>;

        fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn call(&mut self, _: Uri) -> Self::Future {
            let made = self.0.lock().expect("no panic").pop_front();
            ready(made.ok_or_else(|| io::Error::other("there are no more")))
        }
    }

    fn get(uri: &'static str) -> Request<Full<Bytes>> {
        let mut request = Request::new(Full::default());
        *request.uri_mut() = Uri::from_static(uri);
        request
    }

    async fn text(response: ResponseFuture) -> Result<String, SendError> {
        let body = response.await?.into_body().collect().await.expect("a body");
        Ok(String::from_utf8(body.to_bytes().to_vec()).expect("text"))
    }

    async fn echo(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
        let host = request.headers().get(header::HOST);
        let host = host.map_or("none", |host| host.to_str().expect("text"));
        Ok(Response::new(Full::from(format!("{} {host}", request.uri()))))
    }

    #[tokio::test]
    async fn requests_of_http2_share_a_connection_and_say_the_whole_uri() {
        let (ends, mut far) = Ends::new(1, true);
        tokio::spawn(
            hyper::server::conn::http2::Builder::new(TokioExecutor::new())
                .serve_connection(TokioIo::new(far.remove(0)), service_fn(echo)),
        );
        let client = pooled(ends.clone());
        for _ in 0..2 {
            let answer = text(client.request(get("https://a.example/b?c=d"))).await;
            assert_eq!(answer.expect("an answer"), "https://a.example/b?c=d none");
        }
        assert_eq!(ends.left(), 0);
    }

    #[tokio::test]
    async fn requests_of_http1_say_path_and_host() {
        for (uri, said) in [
            ("http://a.example", "/ a.example"),
            ("http://a.example:81/b?c=d", "/b?c=d a.example:81"),
            ("http://[::1]:81/b", "/b [::1]:81"),
        ] {
            let (ends, mut far) = Ends::new(1, false);
            tokio::spawn(
                hyper::server::conn::http1::Builder::new()
                    .serve_connection(TokioIo::new(far.remove(0)), service_fn(echo)),
            );
            assert_eq!(
                text(pooled(ends).request(get(uri))).await.expect("an answer"),
                said
            );
        }
    }

    /// Reads one request and answers it; the connection stays open until the stream is dropped.
    async fn serve_one(far: &mut DuplexStream) {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(far.read_u8().await.expect("a request"));
        }
        let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
        far.write_all(answer).await.expect("to be open");
    }

    #[tokio::test]
    async fn a_request_that_was_not_sent_goes_over_the_next_connection() {
        let (ends, mut far) = Ends::new(2, false);
        let client = pooled(ends.clone());
        let (first, answer) = tokio::join!(
            serve_one(&mut far[0]),
            text(client.request(get("http://a.example/")))
        );
        assert_eq!((first, answer.expect("an answer")), ((), "ok".to_owned()));
        assert_eq!(ends.left(), 1);
        // The upstream closes the idle connection, and its task has not yet noticed when the next request comes.
        far.remove(0);
        let (_, answer) = tokio::join!(
            serve_one(&mut far[0]),
            text(client.request(get("http://a.example/")))
        );
        assert_eq!(answer.expect("an answer"), "ok");
    }

    #[tokio::test]
    async fn a_request_that_was_sent_is_not_sent_again() {
        let (ends, mut far) = Ends::new(2, false);
        let client = pooled(ends.clone());
        let (_, answer) = tokio::join!(
            serve_one(&mut far[0]),
            text(client.request(get("http://a.example/")))
        );
        answer.expect("an answer");
        let mut used = far.remove(0);
        let closed_after_reading = async move { used.read_u8().await.expect("the next request") };
        let (_, answer) = tokio::join!(
            closed_after_reading,
            text(client.request(get("http://a.example/")))
        );
        answer.expect_err("whether it ran is unknown");
        assert_eq!(ends.left(), 1, "no other connection was opened for it");
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_that_is_not_used_is_closed_after_a_while() {
        let (ends, mut far) = Ends::new(1, false);
        let client = pooled(ends);
        let (_, answer) = tokio::join!(
            serve_one(&mut far[0]),
            text(client.request(get("http://a.example/")))
        );
        answer.expect("an answer");
        // The clock goes on by itself: this waits until the connection is closed.
        assert_eq!(far[0].read(&mut [0]).await.expect("an end"), 0);
    }

    #[tokio::test]
    async fn each_origin_has_its_own_connections() {
        let (ends, mut far) = Ends::new(3, false);
        let client = pooled(ends.clone());
        for (at, uri) in ["http://a.example/", "http://b.example/", "http://a.example:81/"]
            .into_iter()
            .enumerate()
        {
            let (_, answer) = tokio::join!(serve_one(&mut far[at]), text(client.request(get(uri))));
            answer.expect("an answer");
            assert_eq!(ends.left(), 2 - at, "{uri}");
        }
    }

    #[tokio::test]
    async fn without_a_host_there_is_nowhere_to_go() {
        let policy = EgressPolicy::parse(&[]).expect("no entries");
        let client = Client::new(GuardedConnector::new(Arc::new(policy), Arc::new(SystemResolver)));
        client.request(get("/b")).await.expect_err("no host");
    }
}
