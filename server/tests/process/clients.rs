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

/// Sends a request on a fresh connection; the status line.
async fn ask(from: &str, to: SocketAddr) -> String {
    let mut stream = connect(from, to).await;
    let request = "GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    stream.write_all(request.as_bytes()).await.expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("an answer");
    answer.lines().next().unwrap_or_default().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn silent_connections_keep_nobody_out() {
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
            let asked = timeout(PATIENCE, ask(from, to)).await;
            assert_eq!(
                asked.expect("it does not wait for the silent ones"),
                "HTTP/1.1 200 OK"
            );
        }
    }
    assert!(server.stop());
}
