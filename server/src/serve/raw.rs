//! A client that writes and reads bytes, for tests of what no proper client sends.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::{Clients, Drained, Shutdown, serve};
use crate::config::Limits;
use crate::middleware::TrustedProxies;

/// Longer than anything in these tests takes: a guard against an unbounded wait.
const PATIENCE: Duration = Duration::from_secs(20);

/// A running server.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) shutdown: Shutdown,
    pub(crate) clients: Arc<Clients>,
    task: JoinHandle<Drained>,
}

impl Server {
    pub(crate) async fn start(limits: Limits, router: impl FnOnce(SocketAddr) -> Router) -> Self {
        Self::behind(&[], limits, router).await
    }

    /// A server that believes these proxies.
    pub(crate) async fn behind(
        proxies: &[&str],
        limits: Limits,
        router: impl FnOnce(SocketAddr) -> Router,
    ) -> Self {
        let proxies: Vec<String> = proxies.iter().map(|&proxy| proxy.to_owned()).collect();
        let clients = Clients::new(TrustedProxies::parse(&proxies).unwrap(), &limits);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (shutdown, app) = (Shutdown::new(), router(address));
        let handle = shutdown.clone();
        let clients = Arc::new(clients);
        let task = tokio::spawn({
            let clients = Arc::clone(&clients);
            async move { serve(listener, app, &limits, clients, handle).await }
        });
        Self {
            address,
            shutdown,
            clients,
            task,
        }
    }

    pub(crate) async fn connect(&self) -> Raw {
        Raw(TcpStream::connect(self.address).await.unwrap())
    }

    /// A connection from an address of this machine, such as `127.0.0.2`.
    pub(crate) async fn connect_from(&self, address: &str) -> Raw {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind(SocketAddr::new(address.parse().unwrap(), 0)).unwrap();
        Raw(socket.connect(self.address).await.unwrap())
    }

    /// Sends on a fresh connection and reads until the server closes it.
    pub(crate) async fn exchange(&self, bytes: impl AsRef<[u8]>) -> String {
        let mut raw = self.connect().await;
        raw.send(bytes).await;
        raw.rest().await
    }

    /// Waits until the server has ended by itself.
    pub(crate) async fn ended(self) -> Drained {
        timeout(PATIENCE, self.task)
            .await
            .expect("the server did not stop")
            .unwrap()
    }
}

/// A connection.
pub(crate) struct Raw(TcpStream);

impl Raw {
    pub(crate) async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.0.write_all(bytes.as_ref()).await.unwrap();
    }

    /// Reads until a text has come.
    pub(crate) async fn until(&mut self, text: &str) -> String {
        let mut read = Vec::new();
        timeout(PATIENCE, async {
            while !String::from_utf8_lossy(&read).contains(text) {
                let byte = self.0.read_u8().await;
                read.push(
                    byte.unwrap_or_else(|_| panic!("closed after {:?}", String::from_utf8_lossy(&read))),
                );
            }
        })
        .await
        .unwrap_or_else(|_| panic!("{text:?} did not come"));
        String::from_utf8_lossy(&read).into_owned()
    }

    /// Reads until the server closes the connection, by an end or by a reset.
    pub(crate) async fn rest(&mut self) -> String {
        let mut read = Vec::new();
        let closed = timeout(PATIENCE, self.0.read_to_end(&mut read)).await;
        assert!(
            closed.is_ok(),
            "the server did not close the connection after {:?}",
            String::from_utf8_lossy(&read)
        );
        String::from_utf8_lossy(&read).into_owned()
    }
}

/// The status of an answer.
pub(crate) fn status(answer: &str) -> u16 {
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok());
    status.unwrap_or_else(|| panic!("not an answer: {answer:?}"))
}

/// The value of a header of an answer; empty when it has none.
pub(crate) fn header<'a>(answer: &'a str, name: &str) -> &'a str {
    let head = answer.split("\r\n\r\n").next().unwrap_or_default();
    let line = |line: &'a str| {
        line.split_once(": ")
            .filter(|(found, _)| found.eq_ignore_ascii_case(name))
    };
    head.lines().find_map(line).map_or("", |(_, value)| value)
}

/// The body of an answer.
pub(crate) fn body(answer: &str) -> &str {
    answer.split_once("\r\n\r\n").map_or("", |(_, body)| body)
}
