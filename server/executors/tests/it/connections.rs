//! Connections to upstreams: which are used again, and which are not.

use rstest::rstest;

use crate::support::{Server, Step, executors, get};

const KEPT: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}";
const EMPTY: &[u8] = b"HTTP/1.1 204 No Content\r\n\r\n";
const CHUNKED: &[u8] =
    b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n";
const LAST: &[u8] =
    b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}";

async fn three_calls(step: Step) -> usize {
    let server = Server::start([step]).await;
    let executors = executors(&[&server.url], &[]);
    for _ in 0..3 {
        get(&executors, &server.url).await.expect("a result");
    }
    assert_eq!(server.requests().len(), 3);
    server.connections()
}

#[rstest]
#[case::of_known_length(KEPT)]
#[case::without_body(EMPTY)]
#[case::in_chunks(CHUNKED)]
#[tokio::test]
async fn a_connection_whose_answer_was_read_is_used_again(#[case] answer: &[u8]) {
    assert_eq!(three_calls(Step::Send(answer.to_vec())).await, 1);
}

#[rstest]
#[case::as_it_said(LAST)]
#[case::without_a_word(KEPT)]
#[tokio::test]
async fn a_connection_that_its_upstream_closes_is_not(#[case] answer: &[u8]) {
    assert_eq!(three_calls(Step::SendAndClose(answer.to_vec())).await, 3);
}

#[tokio::test]
async fn a_connection_whose_answer_was_not_read_is_not() {
    let large = b"HTTP/1.1 200 OK\r\ncontent-length: 104857600\r\n\r\n".to_vec();
    let server = Server::start([Step::Send(large), Step::Send(KEPT.to_vec())]).await;
    let executors = executors(&[&server.url], &[]);
    get(&executors, &server.url).await.expect_err("too large");
    get(&executors, &server.url).await.expect("a result");
    assert_eq!(server.connections(), 2);
}
