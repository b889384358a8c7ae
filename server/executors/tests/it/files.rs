//! Files that callers give by their address: fetched through the same gates, and sent like any other.

use std::sync::Arc;

use serde_json::{Value, json};
use toolgate_api::ErrorCode;
use toolgate_core::definition::model::ToolDefinition;

use crate::support::{Server, Step, answer, call, config, executors, ok, tool};

/// A tool that sends a form with a photo, or a list of them, and presents a credential.
fn upload(upstream: &Server) -> Arc<ToolDefinition> {
    let form = json!({"argument": "form", "content_type": "multipart/form-data",
        "encoding": {"photo": {"file": true, "content_type": "image/png, image/jpeg"}}});
    tool(
        json!({"http": {"base_url": upstream.url, "method": "POST", "auth": {"env": "KEY"}, "request": {"body": form}}}),
    )
}

fn photo(url: &str) -> Value {
    json!({"form": {"title": "A cat", "photo": {"url": url}}})
}

#[tokio::test]
async fn a_file_is_fetched_without_credentials_and_sent_with_its_name_and_type() {
    let named = [
        ("content-type", "image/png; x=y"),
        ("content-disposition", "attachment; filename=\"cat.png\""),
    ];
    let files = Server::start([
        Step::Send(answer(302, &[("location", "/moved/dog.jpg")], "")),
        Step::Send(answer(200, &[("content-type", "image/jpeg")], "A DOG")),
        Step::Send(answer(200, &named, "A CAT")),
    ])
    .await;
    let upstream = Server::start([Step::Send(ok("{}"))]).await;
    let executors = executors(&[&files.url, &upstream.url], &[("KEY", "k-secret-1")]);
    let url = format!("{}/dog", files.url);
    let arguments = json!({"form": {"photo": [{"url": url}, {"base64": "QSBGSVNI"}, {"url": url, "filename": "mine.png"}]}});
    executors
        .execute(&mut call(&upload(&upstream), arguments))
        .await
        .expect("a result");
    let [sent] = &upstream.requests()[..] else {
        panic!("one request")
    };
    for part in [
        "name=\"photo\"; filename=\"dog\"\r\ncontent-type: image/jpeg\r\n\r\na dog\r\n",
        "\r\n\r\na fish\r\n",
        "name=\"photo\"; filename=\"mine.png\"\r\ncontent-type: image/png\r\n\r\na cat\r\n",
    ] {
        assert!(sent.to_ascii_lowercase().contains(part), "{part} in {sent}");
    }
    assert!(sent.contains("k-secret-1"));
    let asked = files.requests();
    assert_eq!(asked.len(), 3);
    assert!(asked[0].starts_with("GET /dog ") && asked[1].starts_with("GET /moved/dog.jpg "));
    for request in asked {
        assert!(!request.contains("k-secret-1") && !request.to_ascii_lowercase().contains("authorization"));
    }
}

#[tokio::test]
async fn a_file_can_be_the_whole_body() {
    let files = Server::start([Step::Send(answer(200, &[("content-type", "image/gif")], "GIF"))]).await;
    let upstream = Server::start([Step::Send(ok("{}"))]).await;
    let executors = executors(&[&files.url, &upstream.url], &[]);
    let tool = tool(json!({"http": {"base_url": upstream.url, "method": "PUT",
        "request": {"body": {"argument": "image", "content_type": "image/*"}}}}));
    let arguments = json!({"image": {"url": format!("{}/a.gif", files.url)}});
    executors
        .execute(&mut call(&tool, arguments))
        .await
        .expect("a result");
    let sent = upstream.requests().remove(0);
    assert!(
        sent.to_ascii_lowercase().contains("content-type: image/gif") && sent.ends_with("GIF"),
        "{sent}"
    );
}

#[tokio::test]
async fn a_file_that_cannot_be_had_fails_the_call_before_anything_is_sent() {
    let upstream = Server::start([Step::Send(ok("{}"))]).await;
    let elsewhere = Server::start([Step::Send(ok("{}"))]).await;
    let png = |body: &str| answer(200, &[("content-type", "image/png")], body);
    let away = answer(302, &[("location", &elsewhere.url)], "");
    let rows = [
        (Step::Send(answer(404, &[], "")), ErrorCode::UpstreamRejected),
        (Step::Send(answer(503, &[], "")), ErrorCode::UpstreamUnavailable),
        (Step::Send(png(&"x".repeat(1001))), ErrorCode::UpstreamInvalid),
        (Step::Send(away), ErrorCode::EgressDenied),
        (Step::SendAndClose(Vec::new()), ErrorCode::UpstreamUnavailable),
        (Step::Nothing, ErrorCode::Timeout),
    ];
    for (step, code) in rows {
        let files = Server::start([step]).await;
        let mut config = config(&[&files.url, &upstream.url], &[("KEY", "k-secret-1")]);
        config.max_response_bytes = 1000;
        config.default_timeout =
            std::time::Duration::from_millis(if code == ErrorCode::Timeout { 50 } else { 20_000 });
        let executors = toolgate_executors::Executors::new(config);
        let failure = executors
            .execute(&mut call(&upload(&upstream), photo(&files.url)))
            .await
            .expect_err("no file");
        assert_eq!(failure.code, code, "{failure:?}");
        if code != ErrorCode::Timeout {
            assert!(failure.message.starts_with("/form/photo: "), "{failure:?}");
        }
    }
    // What is not allowed, is no picture, or is too much together.
    let files = Server::start([
        Step::Send(png(&"x".repeat(600))),
        Step::Send(png(&"x".repeat(600))),
        Step::Send(answer(200, &[("content-type", "text/html")], "<p>")),
    ])
    .await;
    let mut config = config(&[&files.url, &upstream.url], &[("KEY", "k-secret-1")]);
    config.max_response_bytes = 1000;
    let executors = toolgate_executors::Executors::new(config);
    let two = json!({"form": {"photo": [{"url": files.url}, {"url": files.url}]}});
    let many = json!({"form": {"photo": vec![json!({"url": files.url}); 17]}});
    for (arguments, code, at) in [
        (two, ErrorCode::UpstreamInvalid, "/form/photo/1: "),
        (photo(&files.url), ErrorCode::InvalidArguments, "/form/photo: "),
        (photo(&elsewhere.url), ErrorCode::EgressDenied, "/form/photo: "),
        (
            photo("file:///etc/passwd"),
            ErrorCode::EgressDenied,
            "/form/photo: ",
        ),
        (
            photo("http://169.254.169.254/latest"),
            ErrorCode::EgressDenied,
            "/form/photo: ",
        ),
        (many, ErrorCode::InvalidArguments, "/form/photo/16: "),
    ] {
        let failure = executors
            .execute(&mut call(&upload(&upstream), arguments))
            .await
            .expect_err("no file");
        assert_eq!(failure.code, code, "{failure:?}");
        assert!(failure.message.starts_with(at), "{failure:?}");
    }
    assert_eq!(upstream.requests().len(), 0);
    assert_eq!(elsewhere.requests().len(), 0);
}
