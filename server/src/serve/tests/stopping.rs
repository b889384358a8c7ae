use super::*;
use crate::serve::raw::{body, header};

#[tokio::test]
async fn stopping_lets_running_requests_end() {
    let (router, came, go) = gated();
    let server = Server::start(limits(), |_| router).await;
    let mut running = server.connect().await;
    running
        .send("GET /slow HTTP/1.1\r\nhost: localhost\r\n\r\n")
        .await;
    came.notified().await;
    let mut idle = server.connect().await;
    idle.send(GET).await;
    idle.until("hello").await;

    assert!(!server.shutdown.is_stopping());
    server.shutdown.stop();
    assert!(server.shutdown.is_stopping(), "readiness fails at once");
    assert_eq!(idle.rest().await, "", "idle connections are closed");
    // Probes are still answered while a request runs, each on a connection of its own.
    let answer = server.exchange(GET).await;
    assert_eq!(
        (status(&answer), header(&answer, "connection"), body(&answer)),
        (200, "close", "hello")
    );

    go.notify_one();
    let answer = running.rest().await;
    assert_eq!((status(&answer), body(&answer)), (200, "done"));
    let (address, shutdown) = (server.address, server.shutdown.clone());
    assert_eq!(server.ended().await, Drained { aborted: 0 });
    timeout(SECOND, shutdown.stopped())
        .await
        .expect("the end is told");
    assert!(
        TcpStream::connect(address).await.is_err(),
        "nothing listens any more"
    );
}

#[tokio::test]
async fn stopping_ends_in_time_even_if_a_request_does_not() {
    let (router, came, _go) = gated();
    let server = Server::start(
        Limits {
            drain_s: 1,
            ..limits()
        },
        |_| router,
    )
    .await;
    let mut running = server.connect().await;
    running
        .send("GET /slow HTTP/1.1\r\nhost: localhost\r\n\r\n")
        .await;
    came.notified().await;
    let started = Instant::now();
    server.shutdown.stop();
    assert_eq!(server.ended().await, Drained { aborted: 1 });
    assert!(
        (SECOND..5 * SECOND).contains(&started.elapsed()),
        "{:?}",
        started.elapsed()
    );
    assert_eq!(running.rest().await, "");
}

#[tokio::test]
async fn silent_connections_do_not_delay_the_end() {
    let server = Server::start(limits(), |_| hello()).await;
    let mut silent = server.connect().await;
    let mut half = server.connect().await;
    half.send("GET / HT").await;
    // A third one was answered: the first two are accepted by then.
    server.exchange(LAST_GET).await;
    server.shutdown.stop();
    assert_eq!(
        timeout(5 * SECOND, server.ended()).await.expect("it waits"),
        Drained { aborted: 0 }
    );
    assert_eq!(
        (silent.rest().await, half.rest().await),
        (String::new(), String::new())
    );
}

#[tokio::test]
async fn a_lingering_server_goes_on_as_before() {
    let server = Server::start(
        Limits {
            linger_s: 1,
            ..limits()
        },
        |_| hello(),
    )
    .await;
    let mut raw = server.connect().await;
    raw.send(GET).await;
    raw.until("hello").await;
    server.shutdown.stop();
    raw.send(GET).await;
    assert_eq!(
        header(&raw.until("hello").await, "connection"),
        "",
        "the connection is kept"
    );
    assert_eq!(status(&server.exchange(LAST_GET).await), 200);
    assert_eq!(server.ended().await, Drained { aborted: 0 });
}
