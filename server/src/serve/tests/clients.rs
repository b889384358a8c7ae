//! How many connections one client has, on real sockets: every address in 127.0.0.0/8 is this machine.

use axum::response::IntoResponse;

use super::*;
use crate::middleware::TrustedProxies;
use crate::serve::raw::{Raw, header};

const HERE: &str = "127.0.0.2";
const THERE: &str = "127.0.0.3";

fn few(all: u32, of_one: u32) -> Limits {
    Limits {
        max_connections: all,
        max_connections_per_address: of_one,
        header_timeout_s: 3600,
        idle_timeout_s: 3600,
        ..limits()
    }
}

/// A connection whose first request was answered: it does not give way.
async fn used(server: &Server, from: &str) -> Raw {
    let mut raw = server.connect_from(from).await;
    raw.send(GET).await;
    raw.until("hello").await;
    raw
}

/// Asks on fresh connections from an address until one is answered with 200.
async fn until_served(server: &Server, from: &str) {
    loop {
        let mut raw = server.connect_from(from).await;
        raw.send(LAST_GET).await;
        if status(&raw.rest().await) == 200 {
            return;
        }
    }
}

#[tokio::test]
async fn one_address_cannot_take_every_connection() {
    let server = Server::start(few(8, 2), |_| hello()).await;
    let first = used(&server, HERE).await;
    let _second = used(&server, HERE).await;
    let refused = server.connect_from(HERE).await.rest().await;
    assert_eq!((status(&refused), header(&refused, "retry-after")), (429, "1"));
    assert!(refused.contains("\"code\":\"rate_limited\""), "{refused}");
    used(&server, THERE).await;
    drop(first);
    until_served(&server, HERE).await;

    let report = server.clients.report();
    assert!(report.refused.of_clients >= 1, "{report:?}");
    assert_eq!(report.refused.silent, 0, "{report:?}");
}

#[tokio::test]
async fn a_silent_connection_gives_way_to_others_of_its_address() {
    let server = Server::start(few(8, 2), |_| hello()).await;
    let mut oldest = server.connect_from(HERE).await;
    let mut half = server.connect_from(HERE).await;
    half.send("GET / HT").await;
    until_served(&server, HERE).await;
    assert_eq!(oldest.rest().await, "");
    half.send("TP/1.1\r\nhost: localhost\r\n\r\n").await;
    half.until("hello").await;
}

#[tokio::test]
async fn a_silent_connection_gives_way_when_all_are_taken() {
    let server = Server::start(few(3, 2), |_| hello()).await;
    let mut used = used(&server, HERE).await;
    let _silent = (server.connect_from(HERE).await, server.connect_from(THERE).await);
    until_served(&server, "127.0.0.4").await;
    used.send(GET).await;
    used.until("hello").await;
}

#[tokio::test]
async fn a_client_behind_a_proxy_has_a_bounded_number_of_requests() {
    let (router, came, go) = gated();
    let marked = axum::middleware::from_fn(
        async |request: axum::extract::Request, next: axum::middleware::Next| match request
            .extensions()
            .get::<TooManyRequests>()
        {
            Some(_) => axum::http::StatusCode::TOO_MANY_REQUESTS.into_response(),
            None => next.run(request).await,
        },
    );
    let server = Server::behind(&[HERE], few(16, 2), |_| router.layer(marked)).await;
    let ask = |path: &str, client: &str| {
        format!(
            "GET {path} HTTP/1.1\r\nhost: localhost\r\nx-forwarded-for: {client}\r\nconnection: close\r\n\r\n"
        )
    };
    // Idle connections of the proxy beyond what one client may have.
    let mut idle = Vec::new();
    for _ in 0..4 {
        idle.push(used(&server, HERE).await);
    }
    let mut slow = Vec::new();
    // One /64 is one client.
    for client in ["2001:db8::1", "2001:db8::2"] {
        let mut raw = server.connect_from(HERE).await;
        raw.send(ask("/slow", client)).await;
        came.notified().await;
        slow.push(raw);
    }
    let asked = async |client: &str| {
        let mut raw = server.connect_from(HERE).await;
        raw.send(ask("/", client)).await;
        status(&raw.rest().await)
    };
    assert_eq!(asked("2001:db8::3").await, 429);
    assert_eq!(asked("2001:db8:0:1::3").await, 200);
    assert_eq!(asked(HERE).await, 200, "the proxy itself");
    go.notify_one();
    go.notify_one();
    for mut raw in slow {
        assert_eq!(status(&raw.rest().await), 200);
    }
    assert_eq!(asked("2001:db8::3").await, 200);
    // What an untrusted client says about the origin of its requests is not read: its own connections are counted.
    let _taken = (used(&server, THERE).await, used(&server, THERE).await);
    let mut third = server.connect_from(THERE).await;
    assert_eq!(status(&third.rest().await), 429);
}

#[tokio::test]
async fn a_64_of_ipv6_is_one_client() {
    let clients = Arc::new(Clients::new(TrustedProxies::default(), &few(16, 2)));
    let connect = |address: &str| {
        let activity = Arc::new(Activity::default());
        let place = clients.connect(SocketAddr::new(address.parse().unwrap(), 1), &activity);
        drop(activity.begin(Version::HTTP_11));
        place
    };
    let places = [connect("2001:db8::1"), connect("2001:db8::2")];
    assert!(places.iter().all(Option::is_some));
    assert!(connect("2001:db8::3").is_none());
    assert!(connect("2001:db8:0:1::3").is_some());
    assert_eq!(
        clients
            .report()
            .busiest
            .map(|(client, taken)| (client.to_string(), taken)),
        Some(("2001:db8::/64".to_owned(), 2))
    );
    drop(places);
    assert!(connect("2001:db8::3").is_some());
    assert_eq!(clients.report().open, 0);
    assert_eq!(clients.report().busiest, None);
}
