//! Answers are compressed for clients that accept it.

use std::io::Read;

use axum::http::header;
use http_body_util::BodyExt;
use rstest::rstest;

use crate::support::TestApp;

/// How a compressed body is read.
fn plain(encoding: &str, body: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    match encoding {
        "br" => brotli::Decompressor::new(body, 4096).read_to_end(&mut text),
        "gzip" => flate2::read::GzDecoder::new(body).read_to_end(&mut text),
        _ => panic!("{encoding} is not expected"),
    }
    .expect("it is compressed as it says");
    text
}

#[rstest]
#[case::best("gzip, br", "br")]
#[case::older("gzip", "gzip")]
#[tokio::test]
async fn a_long_answer_is_compressed(#[case] accepted: &str, #[case] encoding: &str) {
    let app = TestApp::new().await;
    let whole = app.anonymous().get("/openapi.json").await.expect(200);
    assert_eq!(whole.header("content-encoding"), "");

    let answer = app
        .anonymous()
        .open("/openapi.json", &[("accept-encoding", accepted)])
        .await;
    assert_eq!(answer.headers()[header::CONTENT_ENCODING], encoding);
    assert_eq!(answer.headers()[header::VARY], "accept-encoding");
    assert!(!answer.headers().contains_key(header::CONTENT_LENGTH));
    let body = answer.into_body().collect().await.expect("a body").to_bytes();
    assert!(
        body.len() * 4 < whole.body.len(),
        "{} of {}",
        body.len(),
        whole.body.len()
    );
    assert_eq!(plain(encoding, &body), whole.body);
}

#[tokio::test]
async fn a_short_answer_travels_as_it_is() {
    let app = TestApp::new().await;
    let answer = app
        .anonymous()
        .open("/healthz", &[("accept-encoding", "gzip, br")])
        .await;
    assert!(!answer.headers().contains_key(header::CONTENT_ENCODING));
}

#[tokio::test]
async fn the_live_stream_of_the_record_is_not_held_back_by_compression() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let answer = admin
        .open(
            "/projects/demo/audit/stream",
            &[("accept-encoding", "gzip, br"), ("accept", "text/event-stream")],
        )
        .await;
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.headers()[header::CONTENT_TYPE], "text/event-stream");
    assert!(!answer.headers().contains_key(header::CONTENT_ENCODING));
}
