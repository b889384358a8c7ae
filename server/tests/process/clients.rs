//! A real server process that one client floods with connections which say nothing.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::timeout;

use crate::support::{PATIENCE, Server};

/// More than a server accepts from all clients together.
const SILENT: u32 = 4200;
/// From so many addresses: together they may have every connection.
const ADDRESSES: u32 = 5;

async fn connect(from: &str, to: SocketAddr) -> TcpStream {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket
        .bind(SocketAddr::new(from.parse().expect("an address"), 0))
        .expect("an address of this machine");
    socket.connect(to).await.expect("a connection")
}

/// Sends a request on fresh connections until it is answered. While the silent connections of an address are younger than
/// their grace, another one from there is refused: it tries again.
async fn until_answered(from: &str, to: SocketAddr) {
    while !matches!(try_to_ask(from, to).await.as_deref(), Ok("HTTP/1.1 200 OK")) {
        tokio::task::yield_now().await;
    }
}

async fn try_to_ask(from: &str, to: SocketAddr) -> std::io::Result<String> {
    let mut stream = connect(from, to).await;
    let request = "GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    stream.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    Ok(answer.lines().next().unwrap_or_default().to_owned())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn silent_connections_keep_no_client_out() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    // Nothing but giving way closes a silent connection.
    let forever = [
        ("TOOLGATE_LIMITS_HEADER_TIMEOUT_S", "3600"),
        ("TOOLGATE_LIMITS_IDLE_TIMEOUT_S", "3600"),
    ];
    let server = Server::start(folder.path(), "", &forever);
    let to: SocketAddr = server.at("")["http://".len()..].parse().expect("its address");
    for addresses in [1, ADDRESSES] {
        let mut silent = Vec::new();
        for at in 0..SILENT {
            silent.push(connect(&format!("127.0.1.{}", at % addresses), to).await);
        }
        // From another address, and from one of those that are silent.
        for from in ["127.0.2.1", "127.0.1.0"] {
            let answered = timeout(PATIENCE, until_answered(from, to)).await;
            answered.expect("it does not wait for the silent ones");
        }
    }
    assert!(server.stop());
}
