//! The accept loop: own, because every connection needs time limits and a share of a bounded number.
//!
//! What guards one connection is in `stream`, who may have how many in `clients`, what stops the server in `shutdown`.
//! Nothing here costs a request more than a few atomic operations.

mod clients;
mod files;
pub mod status;
mod stream;

#[cfg(test)]
pub(crate) mod raw;
#[cfg(test)]
mod tests;

use std::convert::Infallible;
use std::io::Write;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::ConnectInfo;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use http::{HeaderValue, Request, Version, header};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::sync::CancellationToken;
use toolgate_api::ErrorCode;
use tower::Service;

use self::clients::Place;
pub use self::clients::{ClientReport, Clients, Refused, TooManyRequests};
pub use self::files::{allow_files, connections};
use self::stream::{Activity, TimedStream};
use crate::config::Limits;
use crate::gateway::Problem;
use crate::shutdown::{Running, Shutdown};

/// Requests that one HTTP/2 connection may have open.
const MAX_STREAMS: u32 = 128;
/// Streams that a client may reset before they were served (rapid reset).
const MAX_PENDING_RESETS: usize = 32;
/// After a failed accept, such as for want of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Between two looks for a silent connection that gives way, while every connection is taken.
const ROOM_PAUSE: Duration = Duration::from_millis(50);

/// How serving ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Drained {
    /// Requests that were cut off because they did not end in time.
    pub aborted: usize,
}

type Builder = auto::Builder<TokioExecutor>;

/// Serves until `shutdown` stops it and what runs has ended, or until the time to drain is over.
///
/// A stopping server goes through three steps: for `linger` everything goes on, so that load balancers see it is not
/// ready; then answers close their connections while running requests end; then nothing is accepted any more.
/// Handlers find the client's address as [`ConnectInfo<SocketAddr>`].
pub async fn serve(
    listener: TcpListener,
    app: Router,
    limits: &Limits,
    clients: Arc<Clients>,
    shutdown: Shutdown,
) -> Drained {
    let all = connections(limits.max_connections);
    let server = Arc::new(Server {
        builder: builder(limits),
        refusal: refusal(&clients),
        clients,
        app,
        header_timeout: limits.header_timeout(),
        idle_timeout: limits.idle_timeout(),
        slots: Arc::new(Semaphore::new(all as usize)),
        connections: metrics::gauge!("toolgate_http_connections"),
        running: Running::default(),
        drain: CancellationToken::new(),
        close: CancellationToken::new(),
        abort: CancellationToken::new(),
    });

    // Until the server is asked to stop.
    server.accept_while(&listener, shutdown.stopping()).await;
    let deadline = Instant::now() + limits.drain();
    tracing::info!(running = server.running.count(), "stopping");
    // Not ready any more, but all goes on.
    let linger = Instant::now() + limits.linger().min(limits.drain());
    server
        .accept_while(&listener, tokio::time::sleep_until(linger))
        .await;
    // Answers close their connections; idle ones close now.
    server.drain.cancel();
    server
        .accept_while(&listener, async {
            drop(timeout_at(deadline, server.running.none()).await);
        })
        .await;
    drop(listener);
    // The last bytes go out.
    server.close.cancel();
    let flushed = timeout_at(deadline, server.slots.acquire_many(all)).await.is_ok();
    let aborted = if flushed { 0 } else { server.running.count() };
    if !flushed {
        tracing::warn!(aborted, "the time to drain is over");
        server.abort.cancel();
        // Cut connections give their slots back at once; wait so that none outlives the server.
        drop(server.slots.acquire_many(all).await);
    }
    shutdown.set_stopped();
    Drained { aborted }
}

fn builder(limits: &Limits) -> Builder {
    let mut builder = Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        // The stream has this limit and the idle one, without a timer for every request.
        .header_read_timeout(None)
        // A head that does not fit the buffer is answered with 431.
        .max_buf_size(limits.max_header_bytes as usize);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(MAX_STREAMS)
        .max_pending_accept_reset_streams(MAX_PENDING_RESETS)
        .max_header_list_size(limits.max_header_bytes)
        .keep_alive_interval(limits.idle_timeout())
        .keep_alive_timeout(limits.header_timeout());
    builder
}

/// What a connection is answered with when its client has too many.
fn refusal(clients: &Clients) -> Vec<u8> {
    let most = clients.report().most;
    let detail =
        format!("This address has {most} connections open already. Close some, or wait for their answers.");
    let problem = Problem::new(ErrorCode::RateLimited, detail).into_body("");
    let body = serde_json::to_string(&problem).unwrap_or_default();
    let length = body.len();
    format!(
        "HTTP/1.1 429 Too Many Requests\r\ncontent-type: application/problem+json\r\ncontent-length: {length}\r\n\
         retry-after: 1\r\nconnection: close\r\n\r\n{body}"
    )
    .into_bytes()
}

struct Server {
    builder: Builder,
    clients: Arc<Clients>,
    refusal: Vec<u8>,
    app: Router,
    header_timeout: Duration,
    idle_timeout: Duration,
    slots: Arc<Semaphore>,
    connections: metrics::Gauge,
    running: Running,
    /// Connections close after the answer they are at.
    drain: CancellationToken,
    /// Connections that came after `drain` close too.
    close: CancellationToken,
    /// Connections are cut.
    abort: CancellationToken,
}

impl Server {
    /// Accepts connections until `end`; without a free slot they wait in the backlog of the operating system while those
    /// that have sent no request yet are closed.
    async fn accept_while(self: &Arc<Self>, listener: &TcpListener, end: impl Future<Output = ()>) {
        let mut end = std::pin::pin!(end);
        loop {
            let accepted = tokio::select! {
                biased;
                () = &mut end => return,
                accepted = self.accept(listener) => accepted,
            };
            match accepted {
                Ok((stream, peer, slot)) => {
                    let activity = Arc::new(Activity::default());
                    match self.clients.connect(peer, &activity) {
                        Some(place) => {
                            tokio::spawn(Arc::clone(self).connection(stream, peer, activity, place, slot));
                        }
                        None => self.refuse(stream),
                    }
                }
                Err(error) if is_of_connection(&error) => {}
                Err(error) => {
                    tracing::error!(%error, "a connection could not be accepted");
                    tokio::select! {
                        () = &mut end => return,
                        () = tokio::time::sleep(ACCEPT_PAUSE) => {}
                    }
                }
            }
        }
    }

    async fn accept(
        &self,
        listener: &TcpListener,
    ) -> std::io::Result<(TcpStream, SocketAddr, OwnedSemaphorePermit)> {
        let slot = self.slot().await?;
        let (stream, peer) = listener.accept().await?;
        Ok((stream, peer, slot))
    }

    async fn slot(&self) -> std::io::Result<OwnedSemaphorePermit> {
        if let Ok(slot) = Arc::clone(&self.slots).try_acquire_owned() {
            return Ok(slot);
        }
        loop {
            self.clients.make_room();
            if let Ok(slot) = timeout(ROOM_PAUSE, Arc::clone(&self.slots).acquire_owned()).await {
                return slot.map_err(std::io::Error::other);
            }
        }
    }

    /// Says why, as far as that can be done without waiting for the client, and closes the connection.
    fn refuse(&self, stream: TcpStream) {
        if let Ok(mut stream) = stream.into_std() {
            drop(stream.write(&self.refusal));
        }
    }

    async fn connection(
        self: Arc<Self>,
        stream: TcpStream,
        peer: SocketAddr,
        activity: Arc<Activity>,
        place: Place,
        _slot: OwnedSemaphorePermit,
    ) {
        let _open = Open::new(&self.connections);
        // Answers are small and written whole: waiting to fill a packet only adds time.
        drop(stream.set_nodelay(true));
        let stream = TimedStream::new(
            stream,
            Arc::clone(&activity),
            self.header_timeout,
            self.idle_timeout,
        );

        let (server, requests, seat) = (Arc::clone(&self), Arc::clone(&activity), &place);
        let service = service_fn(move |mut request: Request<Incoming>| {
            let version = request.version();
            let forwarded = seat.forward(peer, request.headers()).unwrap_or_else(|too_many| {
                request.extensions_mut().insert(too_many);
                None
            });
            let guards = (requests.begin(version), server.running.begin(), forwarded);
            request.extensions_mut().insert(ConnectInfo(peer));
            let answer = server.app.clone().call(request);
            let server = Arc::clone(&server);
            async move {
                let Ok(mut response) = answer.await;
                if version < Version::HTTP_2 && server.drain.is_cancelled() {
                    response
                        .headers_mut()
                        .insert(header::CONNECTION, HeaderValue::from_static("close"));
                }
                Ok::<_, Infallible>(response.map(|body| stream::Guarded::new(body, guards)))
            }
        });
        let mut connection = std::pin::pin!(self.builder.serve_connection(TokioIo::new(stream), service));
        // Looked at when one of them comes, and not whenever something happens on the connection.
        let mut signals = FuturesUnordered::new();
        // A connection that comes while draining gets its one answer before it is closed.
        signals.push(if self.drain.is_cancelled() {
            Signal::Finish.of(&self.close)
        } else {
            Signal::Finish.of(&self.drain)
        });
        signals.push(Signal::Abort.of(&self.abort));
        signals.push(Signal::Leave.of(place.leave()));
        loop {
            tokio::select! {
                biased;
                ended = connection.as_mut() => {
                    if let Err(error) = ended {
                        tracing::debug!(%error, %peer, "connection ended");
                    }
                    return;
                }
                Some(signal) = signals.next() => match signal {
                    Signal::Finish => {
                        connection.as_mut().graceful_shutdown();
                        signals.push(Signal::Close.of(&self.close));
                    }
                    Signal::Close => activity.close(),
                    Signal::Abort => return,
                    Signal::Leave if activity.is_silent() => return,
                    Signal::Leave => place.stay(),
                },
            }
        }
    }
}

/// What a connection is asked to do.
#[derive(Debug, Clone, Copy)]
enum Signal {
    /// To end after the answer it is at.
    Finish,
    /// To wait for nothing any more.
    Close,
    /// To end as it is.
    Abort,
    /// To end if it has sent no request yet.
    Leave,
}

impl Signal {
    /// This signal, when the token says so.
    fn of(self, token: &CancellationToken) -> impl Future<Output = Self> + use<> {
        token.clone().cancelled_owned().map(move |()| self)
    }
}

/// Counts an open connection until it is dropped.
struct Open<'a>(&'a metrics::Gauge);

impl<'a> Open<'a> {
    fn new(gauge: &'a metrics::Gauge) -> Self {
        gauge.increment(1.0);
        Self(gauge)
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.decrement(1.0);
    }
}

/// Faults of the one connection that was to be accepted, not of the listener.
fn is_of_connection(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(
        error.kind(),
        ConnectionAborted | ConnectionRefused | ConnectionReset
    )
}
