//! The only way out of a sandbox with the network: an HTTP proxy that reaches what the egress lists permit, at checked addresses.
//!
//! It listens at a socket in the file system, which is mounted into the sandbox. There a relay ([`relay`](super::relay)) brings it to
//! a port of the sandbox's own loopback.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::uri::Authority;
use http::{HeaderName, HeaderValue, Method, Request, Response, StatusCode, Uri, header};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Empty, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::upgrade;
use hyper_util::rt::{TokioIo, TokioTimer};
use tempfile::TempDir;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpStream, UnixListener, UnixStream};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tower::Service;

use super::log::Log;
use super::target::SharedTarget;
use crate::egress::parse_exact;
use crate::http::executor::Transport;

/// Connections of one process at the same time.
const CONNECTIONS: usize = 64;
/// How long a request may take to say where it goes.
const HEAD_WITHIN: Duration = Duration::from_secs(10);
/// Headers that are about the connection to the proxy.
const OF_THE_PROXY: [HeaderName; 6] = [
    header::CONNECTION,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRAILER,
    header::UPGRADE,
    HeaderName::from_static("proxy-connection"),
];

type Body = BoxBody<Bytes, hyper::Error>;

/// A proxy that serves until it is dropped; its connections end with it.
pub(super) struct Proxy {
    folder: TempDir,
    _serving: JoinSet<()>,
}

impl Proxy {
    /// Starts one for the process of a server, whose egress list counts as it is at each request.
    ///
    /// # Errors
    /// When there can be no socket.
    pub(super) fn start(transport: Arc<Transport>, target: SharedTarget, log: Arc<Log>) -> io::Result<Self> {
        // Only the user of this process can look into it.
        let folder = tempfile::Builder::new().prefix("toolgate-egress-").tempdir()?;
        let listener = UnixListener::bind(socket(folder.path()))?;
        let way = Arc::new(Way {
            transport,
            target,
            log,
        });
        let mut serving = JoinSet::new();
        serving.spawn(accept(listener, way));
        Ok(Self {
            folder,
            _serving: serving,
        })
    }

    /// Where it listens.
    pub(super) fn socket(&self) -> PathBuf {
        socket(self.folder.path())
    }
}

fn socket(folder: &Path) -> PathBuf {
    folder.join("socket")
}

async fn accept(listener: UnixListener, way: Arc<Way>) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    let mut connections = JoinSet::new();
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else {
            return;
        };
        let Ok((stream, _)) = listener.accept().await else {
            return;
        };
        while connections.try_join_next().is_some() {}
        connections.spawn(serve(stream, Arc::clone(&way), place));
    }
}

/// Serves one connection, and what it was made a tunnel for.
async fn serve(stream: UnixStream, way: Arc<Way>, _place: OwnedSemaphorePermit) {
    let (tunnel, mut tunnelled) = unbounded_channel::<Tunnel>();
    let service = service_fn(move |request| {
        let (way, tunnel) = (Arc::clone(&way), tunnel.clone());
        async move { Ok::<_, hyper::Error>(way.answer(request, &tunnel).await) }
    });
    let served = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_WITHIN)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades()
        .await;
    if served.is_ok()
        && let Ok(Tunnel { inside, mut outside }) = tunnelled.try_recv()
        && let Ok(inside) = inside.await
    {
        // It ends when both ends have ended, or with the process.
        let _ended = copy_bidirectional(&mut TokioIo::new(inside), &mut outside).await;
    }
}

/// Two ends that are joined once the answer to `CONNECT` was sent.
struct Tunnel {
    inside: upgrade::OnUpgrade,
    outside: TcpStream,
}

/// Where the process may go.
struct Way {
    transport: Arc<Transport>,
    target: SharedTarget,
    log: Arc<Log>,
}

impl Way {
    async fn answer(&self, request: Request<Incoming>, tunnel: &UnboundedSender<Tunnel>) -> Response<Body> {
        let answered = if request.method() == Method::CONNECT {
            self.tunnel(request, tunnel).await
        } else {
            self.forward(request).await
        };
        answered.unwrap_or_else(|(status, why)| {
            self.log.add(&format!("[network: {why}]"));
            let mut answer = Response::new(Full::from(why).map_err(|never| match never {}).boxed());
            *answer.status_mut() = status;
            answer
        })
    }

    /// Opens a tunnel for a connection with TLS.
    async fn tunnel(
        &self,
        mut request: Request<Incoming>,
        tunnel: &UnboundedSender<Tunnel>,
    ) -> Result<Response<Body>, (StatusCode, String)> {
        let authority = request.uri().authority().cloned();
        let authority = authority.ok_or_else(|| bad("CONNECT names no host and port".to_owned()))?;
        let outside = self.dial("https", &authority).await?;
        let _gone = tunnel.send(Tunnel {
            inside: upgrade::on(&mut request),
            outside,
        });
        Ok(Response::new(
            Empty::new().map_err(|never| match never {}).boxed(),
        ))
    }

    /// Sends a request without TLS to where it goes.
    async fn forward(&self, mut request: Request<Incoming>) -> Result<Response<Body>, (StatusCode, String)> {
        let authority = request.uri().authority().cloned();
        let is_http = request.uri().scheme_str() == Some("http");
        let authority = authority
            .filter(|_| is_http)
            .ok_or_else(|| bad("this proxy takes CONNECT, and requests of http:// addresses".to_owned()))?;
        let outside = self.dial("http", &authority).await?;
        for name in OF_THE_PROXY {
            request.headers_mut().remove(name);
        }
        // The host that is permitted, whatever the program wrote.
        let host =
            HeaderValue::from_str(authority.as_str()).map_err(|_| bad("the host is no text".to_owned()))?;
        request.headers_mut().insert(header::HOST, host);
        let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
        let path: Uri = path
            .parse()
            .map_err(|_| bad("the address has no path".to_owned()))?;
        *request.uri_mut() = path;
        let failed = |error: hyper::Error| {
            (
                StatusCode::BAD_GATEWAY,
                format!("{authority} did not answer: {error}"),
            )
        };
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(outside))
            .await
            .map_err(failed)?;
        tokio::spawn(connection);
        let answer = sender.send_request(request).await.map_err(failed)?;
        Ok(answer.map(BodyExt::boxed))
    }

    async fn dial(&self, scheme: &str, authority: &Authority) -> Result<TcpStream, (StatusCode, String)> {
        let address = format!("{scheme}://{authority}");
        let sender = &self.transport.sender;
        let refused = |why: String| (StatusCode::FORBIDDEN, format!("{address} is not reached: {why}"));
        let url = parse_exact(&address).map_err(|error| refused(error.to_string()))?;
        sender
            .policy()
            .permits_with(&url, self.target.read().egress.as_deref())
            .map_err(|error| refused(error.to_string()))?;
        let uri: Uri = url
            .as_str()
            .parse()
            .map_err(|_| bad(format!("{address} is no address")))?;
        let stream = sender.connector().call(uri).await;
        stream
            .map(TokioIo::into_inner)
            .map_err(|error| (StatusCode::BAD_GATEWAY, error.to_string()))
    }
}

fn bad(why: String) -> (StatusCode, String) {
    (StatusCode::BAD_REQUEST, why)
}
