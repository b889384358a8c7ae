mod clients;
mod stopping;

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::routing::{get, post};
use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper_util::rt::TokioIo;
use tokio::sync::{Notify, oneshot};
use tokio::time::timeout;

use super::raw::{Server, status};
use super::*;

const GET: &str = "GET / HTTP/1.1\r\nhost: localhost\r\n\r\n";
const LAST_GET: &str = "GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
const SECOND: Duration = Duration::from_secs(1);

/// Generous where a test does not wait for it.
fn limits() -> Limits {
    Limits {
        header_timeout_s: 60,
        idle_timeout_s: 60,
        linger_s: 0,
        ..Limits::default()
    }
}

fn hello() -> Router {
    Router::new()
        .route("/", get(async || "hello"))
        .route("/", post(async |text: String| text))
}

/// A route that says when a request has come, and answers when it is released.
fn gated() -> (Router, Arc<Notify>, Arc<Notify>) {
    let (came, go) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (says, waits) = (Arc::clone(&came), Arc::clone(&go));
    let slow = get(move || async move {
        says.notify_one();
        waits.notified().await;
        "done"
    });
    (hello().route("/slow", slow), came, go)
}

#[tokio::test]
async fn keep_alive_and_peer_address() {
    let peer = get(async |ConnectInfo(peer): ConnectInfo<SocketAddr>| peer.ip().to_string());
    let server = Server::start(limits(), |_| hello().route("/peer", peer)).await;
    let mut raw = server.connect().await;
    for _ in 0..3 {
        raw.send(GET).await;
        assert_eq!(status(&raw.until("hello").await), 200);
    }
    raw.send("GET /peer HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
    raw.until("127.0.0.1").await;
}

#[tokio::test]
async fn http2_without_tls() {
    let server = Server::start(
        Limits {
            header_timeout_s: 1,
            ..limits()
        },
        |_| hello(),
    )
    .await;
    let tcp = TcpStream::connect(server.address).await.unwrap();
    let (mut client, connection) =
        hyper::client::conn::http2::handshake::<_, _, Empty<Bytes>>(TokioExecutor::new(), TokioIo::new(tcp))
            .await
            .unwrap();
    tokio::spawn(connection);
    for _ in 0..3 {
        let request = Request::builder()
            .uri("http://localhost/")
            .body(Empty::new())
            .unwrap();
        let answer = client.send_request(request).await.unwrap();
        assert_eq!(answer.version(), Version::HTTP_2);
        assert_eq!(answer.into_body().collect().await.unwrap().to_bytes(), "hello");
    }
}

#[tokio::test]
async fn a_slow_head_is_cut_off() {
    let limits = Limits {
        header_timeout_s: 1,
        ..limits()
    };
    let server = Server::start(limits, |_| hello()).await;
    // (what was answered before, what is sent of the next head)
    for (before, part) in [
        (false, ""),
        (false, "P"),
        (false, "GET / HTTP/1.1\r\nho"),
        (true, "GET / HT"),
    ] {
        let mut raw = server.connect().await;
        if before {
            raw.send(GET).await;
            raw.until("hello").await;
        }
        let started = Instant::now();
        raw.send(part).await;
        assert_eq!(raw.rest().await, "", "{part:?}");
        let took = started.elapsed();
        assert!(
            (SECOND..10 * SECOND).contains(&took),
            "{part:?} was cut off after {took:?}"
        );
    }
}

#[tokio::test]
async fn trickling_does_not_extend_the_time_for_a_head() {
    let server = Server::start(
        Limits {
            header_timeout_s: 1,
            ..limits()
        },
        |_| hello(),
    )
    .await;
    let tcp = TcpStream::connect(server.address).await.unwrap();
    let (mut read, mut write) = tcp.into_split();
    let trickle = tokio::spawn(async move {
        use tokio::io::AsyncWriteExt;
        let mut every = tokio::time::interval(Duration::from_millis(50));
        while write.write_all(b"x").await.is_ok() {
            every.tick().await;
        }
    });
    let closed = async {
        use tokio::io::AsyncReadExt;
        let mut rest = Vec::new();
        drop(read.read_to_end(&mut rest).await);
    };
    timeout(10 * SECOND, closed)
        .await
        .expect("the connection stays open");
    timeout(10 * SECOND, trickle)
        .await
        .expect("the connection takes bytes")
        .unwrap();
}

#[tokio::test]
async fn an_idle_connection_is_closed_later_than_a_slow_head() {
    let server = Server::start(
        Limits {
            header_timeout_s: 1,
            idle_timeout_s: 2,
            ..limits()
        },
        |_| hello(),
    )
    .await;
    // With a body that comes apart from its head, too: its bytes are not the head of a further request.
    for (head, text) in [
        (GET, ""),
        (
            "POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 5\r\n\r\n",
            "hello",
        ),
    ] {
        let mut raw = server.connect().await;
        raw.send(head).await;
        raw.send(text).await;
        raw.until("hello").await;
        let started = Instant::now();
        assert_eq!(raw.rest().await, "");
        let took = started.elapsed();
        assert!(
            (2 * SECOND - SECOND / 10..10 * SECOND).contains(&took),
            "closed after {took:?}"
        );
    }
}

#[tokio::test]
async fn a_running_request_is_not_idle() {
    let (router, came, go) = gated();
    let server = Server::start(
        Limits {
            header_timeout_s: 1,
            idle_timeout_s: 1,
            ..limits()
        },
        |_| router,
    )
    .await;
    let mut raw = server.connect().await;
    raw.send("GET /slow HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
    came.notified().await;
    // Another connection is idle for as long: when it is closed, the running one has outlived the limit.
    assert_eq!(server.exchange("").await, "");
    go.notify_one();
    raw.until("done").await;
}

#[tokio::test]
async fn a_client_that_does_not_take_its_answer_is_cut_off() {
    struct Endless(Option<oneshot::Sender<()>>);
    impl Drop for Endless {
        fn drop(&mut self) {
            let _ = self.0.take().map(|gone| gone.send(()));
        }
    }
    let (gone, is_gone) = oneshot::channel();
    let endless = std::sync::Mutex::new(Some(Endless(Some(gone))));
    let endless = Arc::new(endless);
    let route = get(move || async move {
        let kept = endless.lock().unwrap().take();
        Body::from_stream(futures_util::stream::repeat_with(move || {
            let _ = &kept;
            Ok::<_, Infallible>(Bytes::from_static(&[0; 16 * 1024]))
        }))
    });
    let server = Server::start(
        Limits {
            idle_timeout_s: 1,
            ..limits()
        },
        |_| Router::new().route("/", route),
    )
    .await;
    let mut raw = server.connect().await;
    raw.send(GET).await;
    timeout(10 * SECOND, is_gone)
        .await
        .expect("the answer goes on for ever")
        .unwrap();
}

#[tokio::test]
async fn a_large_head_is_refused() {
    let server = Server::start(
        Limits {
            max_header_bytes: 8192,
            ..limits()
        },
        |_| hello(),
    )
    .await;
    let with = |bytes: usize| {
        format!(
            "GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nx: {}\r\n\r\n",
            "x".repeat(bytes)
        )
    };
    assert_eq!(status(&server.exchange(with(7000)).await), 200);
    assert_eq!(status(&server.exchange(with(9000)).await), 431);
    let many: String = (0..150).map(|n| format!("x{n}: 1\r\n")).collect();
    let many = format!("GET / HTTP/1.1\r\nhost: localhost\r\n{many}\r\n");
    assert_eq!(status(&server.exchange(many).await), 431);
}

#[tokio::test]
async fn further_connections_wait_for_a_slot() {
    let server = Server::start(
        Limits {
            max_connections: 2,
            ..limits()
        },
        |_| hello(),
    )
    .await;
    let mut first = server.connect().await;
    let mut second = server.connect().await;
    for raw in [&mut first, &mut second] {
        raw.send(GET).await;
        raw.until("hello").await;
    }
    let mut third = server.connect().await;
    third.send(LAST_GET).await;
    // The two that have slots are served while the third waits.
    first.send(GET).await;
    first.until("hello").await;
    assert!(
        timeout(SECOND / 5, third.until("hello")).await.is_err(),
        "a third connection was served"
    );
    drop(first);
    third.until("hello").await;
    second.send(GET).await;
    second.until("hello").await;
}

#[tokio::test]
async fn a_burst_over_the_cap_is_served_in_the_end() {
    let server = Server::start(
        Limits {
            max_connections: 8,
            ..limits()
        },
        |_| hello(),
    )
    .await;
    let answers = futures_util::future::join_all((0..100).map(|_| server.exchange(LAST_GET))).await;
    assert!(answers.iter().all(|answer| status(answer) == 200));
}
