//! Redirects are followed by hand.

use rstest::rstest;
use serde_json::json;
use toolgate_api::ErrorCode;

use crate::support::{Server, Step, answer, call, executors, get, ok, tool};

fn to(status: u16, location: &str) -> Step {
    Step::Send(answer(status, &[("location", location)], ""))
}

#[tokio::test]
async fn within_the_origin_they_are_followed_with_the_credential() {
    let server = Server::start([to(302, "/there?x=1#f"), Step::Send(ok("1"))]).await;
    let executors = executors(&[&server.url], &[("KEY", "k-123456789")]);
    let tool = tool(json!({"http": {"base_url": server.url, "path": "/here", "auth": {"env": "KEY"}}}));
    executors
        .execute(&mut call(&tool, json!({})))
        .await
        .expect("a result");
    let second = &server.requests()[1];
    assert!(second.starts_with("GET /there?x=1 HTTP/1.1"), "{second}");
    assert!(second.contains("Bearer k-123456789"));
}

#[tokio::test]
async fn another_listed_origin_gets_no_secret() {
    let target = Server::start([Step::Send(ok("1"))]).await;
    let server = Server::start([to(307, &target.url)]).await;
    let executors = executors(
        &[&server.url, &target.url],
        &[("KEY", "k-123456789"), ("PARAM", "p-123456789")],
    );
    let tool = tool(json!({
        "envs": {"token": "PARAM"},
        "http": {"base_url": server.url, "auth": {"env": "KEY"}, "header": {"X-Token": "token"}},
    }));
    executors
        .execute(&mut call(&tool, json!({})))
        .await
        .expect("a result");
    assert!(server.requests()[0].contains("p-123456789"));
    let leaked = &target.requests()[0];
    assert!(
        !leaked.contains("123456789") && !leaked.to_lowercase().contains("authorization"),
        "{leaked}"
    );
}

#[tokio::test]
async fn a_body_with_a_secret_does_not_travel_to_another_origin() {
    let target = Server::start([Step::Send(ok("1"))]).await;
    let server = Server::start([to(308, &target.url)]).await;
    let executors = executors(&[&server.url, &target.url], &[("PARAM", "p-123456789")]);
    let tool = tool(json!({"envs": {"token": "PARAM"}, "http": {"base_url": server.url, "method": "POST"}}));
    let failure = executors
        .execute(&mut call(&tool, json!({})))
        .await
        .expect_err("refused");
    assert_eq!(failure.code, ErrorCode::EgressDenied);
    assert_eq!(target.connections(), 0);
}

#[rstest]
#[case::metadata("http://169.254.169.254/latest/meta-data/")]
#[case::loopback_by_name("http://localhost:{port}/")]
#[case::loopback_by_number("http://2130706433:{port}/")]
#[case::mapped("http://[::ffff:127.0.0.1]:{port}/")]
#[case::unlisted_port("http://127.0.0.1:{port}/")]
#[case::user_info("http://a:b@127.0.0.1:{port}/")]
#[case::private("http://10.0.0.1/")]
#[case::unlisted_name("https://evil.example/")]
#[case::file("file:///etc/passwd")]
#[case::gopher("gopher://127.0.0.1:{port}/")]
#[case::network_path("//127.0.0.1:{port}/")]
#[tokio::test]
async fn forbidden_targets_are_not_followed(#[case] location: &str) {
    let victim = Server::start([Step::Send(ok("1"))]).await;
    let port = victim.url.rsplit(':').next().expect("a port").to_owned();
    let server = Server::start([to(302, &location.replace("{port}", &port))]).await;
    let failure = get(&executors(&[&server.url], &[]), &server.url)
        .await
        .expect_err("not followed");
    assert_eq!(failure.code, ErrorCode::EgressDenied, "{}", failure.message);
    assert_eq!((victim.connections(), server.requests().len()), (0, 1));
}

#[tokio::test]
async fn a_loop_ends() {
    let server = Server::start([to(302, "/again")]).await;
    let failure = get(&executors(&[&server.url], &[]), &server.url)
        .await
        .expect_err("a loop");
    assert_eq!(failure.code, ErrorCode::UpstreamInvalid);
    assert!(
        failure.message.contains("more than 5 times"),
        "{}",
        failure.message
    );
    assert_eq!(server.requests().len(), 6);
}

#[rstest]
#[case::see_other(303, "GET /next")]
#[case::found(302, "GET /next")]
#[case::temporary(307, "POST /next")]
#[tokio::test]
async fn methods_follow_the_rules(#[case] status: u16, #[case] expected: &str) {
    let server = Server::start([to(status, "/next"), Step::Send(ok("1"))]).await;
    let tool = tool(json!({"http": {"base_url": server.url, "method": "POST"}}));
    executors(&[&server.url], &[])
        .execute(&mut call(&tool, json!({"a": 1})))
        .await
        .expect("a result");
    let second = &server.requests()[1];
    assert!(second.starts_with(expected), "{second}");
    assert_eq!(second.ends_with(r#"{"a":1}"#), status == 307, "{second}");
}

#[tokio::test]
async fn a_redirect_to_nowhere_is_an_unusable_answer() {
    for location in ["http://[", "http://"] {
        let server = Server::start([to(302, location)]).await;
        let failure = get(&executors(&[&server.url], &[]), &server.url)
            .await
            .expect_err("nowhere");
        assert_eq!(failure.code, ErrorCode::UpstreamInvalid);
    }
}
