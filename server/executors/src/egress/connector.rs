//! Opening connections, to checked addresses only.

use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use async_trait::async_trait;
use http::Uri;
use hyper_util::rt::TokioIo;
use thiserror::Error;
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};
use tower::Service;

use super::EgressPolicy;
use super::address::AddressClass;

/// How long opening one connection may take, all its addresses together.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// How long one address may take while there are others to try.
const PER_ADDRESS: Duration = Duration::from_millis(1500);

/// Turns names into addresses.
#[async_trait]
pub trait Resolve: Send + Sync {
    /// Every address of a host.
    ///
    /// # Errors
    /// When the name cannot be resolved.
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>>;
}

/// The resolver of the operating system.
pub(crate) struct SystemResolver;

#[async_trait]
impl Resolve for SystemResolver {
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        // The port is not part of the question; zero is a placeholder.
        Ok(tokio::net::lookup_host((host, 0))
            .await?
            .map(|address| address.ip())
            .collect())
    }
}

/// Why no connection was opened.
#[derive(Debug, Error)]
pub(crate) enum ConnectError {
    #[error("{host} is {} and is not dialled", class.describe())]
    Forbidden { host: String, class: AddressClass },
    #[error("the name {host} cannot be resolved")]
    Resolve { host: String },
    #[error("connecting to {host} failed: {kind}")]
    Refused { host: String, kind: io::ErrorKind },
    #[error("connecting to {host} took too long")]
    Timeout { host: String },
}

/// The one place where a connection to an upstream is opened. It resolves names itself, so that no address, whether
/// resolved or written in the URL, is dialled unchecked, and it knows no proxy.
#[derive(Clone)]
pub(crate) struct GuardedConnector {
    policy: Arc<EgressPolicy>,
    resolver: Arc<dyn Resolve>,
}

impl GuardedConnector {
    pub(crate) fn new(policy: Arc<EgressPolicy>, resolver: Arc<dyn Resolve>) -> Self {
        Self { policy, resolver }
    }

    async fn connect(self, uri: Uri) -> Result<TokioIo<TcpStream>, ConnectError> {
        let host = uri.host().unwrap_or_default();
        let https = uri.scheme_str() == Some("https");
        let port = uri.port_u16().unwrap_or(if https { 443 } else { 80 });
        let deadline = Instant::now() + CONNECT_TIMEOUT;
        let addresses = timeout_at(deadline, self.addresses(host, https, port))
            .await
            .map_err(|_| ConnectError::Timeout {
                host: host.to_owned(),
            })??;
        let mut last = ConnectError::Resolve {
            host: host.to_owned(),
        };
        for (index, address) in addresses.iter().enumerate() {
            let is_last = index + 1 == addresses.len();
            let until = if is_last {
                deadline
            } else {
                deadline.min(Instant::now() + PER_ADDRESS)
            };
            match timeout_at(until, TcpStream::connect(SocketAddr::new(*address, port))).await {
                Ok(Ok(stream)) => {
                    // A failure here costs some latency, never the connection.
                    let _ = stream.set_nodelay(true);
                    return Ok(TokioIo::new(stream));
                }
                Ok(Err(error)) => {
                    last = ConnectError::Refused {
                        host: host.to_owned(),
                        kind: error.kind(),
                    }
                }
                Err(_) => {
                    last = ConnectError::Timeout {
                        host: host.to_owned(),
                    }
                }
            }
        }
        Err(last)
    }

    /// The addresses that may be dialled, in the resolver's order.
    async fn addresses(&self, host: &str, https: bool, port: u16) -> Result<Vec<IpAddr>, ConnectError> {
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let mut addresses = match bare.parse::<IpAddr>() {
            Ok(literal) => vec![literal],
            Err(_) => self
                .resolver
                .resolve(bare)
                .await
                .map_err(|_| ConnectError::Resolve {
                    host: host.to_owned(),
                })?,
        };
        let mut refused = None;
        addresses.retain(
            |address| match self.policy.check_address(host, https, port, *address) {
                Ok(()) => true,
                Err(class) => {
                    refused = Some(class);
                    false
                }
            },
        );
        match refused {
            Some(class) if addresses.is_empty() => Err(ConnectError::Forbidden {
                host: host.to_owned(),
                class,
            }),
            _ => Ok(addresses),
        }
    }
}

impl Service<Uri> for GuardedConnector {
    type Response = TokioIo<TcpStream>;
    type Error = ConnectError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        Box::pin(self.clone().connect(uri))
    }
}
