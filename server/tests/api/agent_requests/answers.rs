//! What the agent answers is passed on: events, JSON, faults, and its end.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{Method, StatusCode, header};
use futures_util::stream;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::{PATH, agent, events, last_record, names, with_agent};
use crate::support::{Answer, Client, TestApp, serve};

#[tokio::test]
async fn an_agents_events_are_passed_on_as_they_are() {
    let (url, seen) = agent(|| {
        events(&[
            ": hello\n\nid: 1\nevent: thought\nda",
            "ta: {\"content\": \"hm\"}\r\n\r\n",
            "data: one\ndata: two\n\nevent: answer\ndata: done\n\n",
        ])
    })
    .await;
    let app = with_agent(Some(&url)).await;
    let admin = app.admin().await;
    let body = json!({"question": "?", "group": ["read-only"], "history": [{"thought": "t", "own": [1]}]});
    let answer = admin
        .post(&format!("{PATH}?format=openai"), &body)
        .await
        .expect(200);
    assert_eq!(answer.header("content-type"), "text/event-stream");
    assert_eq!(
        answer.text(),
        ": hello\n\nid: 1\nevent: thought\ndata: {\"content\": \"hm\"}\n\ndata: one\ndata: two\n\nevent: answer\ndata: done\n\n"
    );
    let (headers, sent) = seen.lock().unwrap().remove(0);
    assert_eq!(sent["question"], "?");
    assert_eq!(sent["state"], "undefined");
    assert_eq!(sent["group"], json!(["read-only"]));
    assert_eq!(sent["history"], body["history"]);
    assert_eq!(sent["format"], "openai");
    assert_eq!(
        names(&sent, "/function/name"),
        ["knowledge-query", "text-completion"]
    );
    assert_eq!(
        headers.get(header::AUTHORIZATION),
        None,
        "the caller's credential stays here"
    );
    assert_eq!(headers.get(header::COOKIE), None);
    let record = last_record(&admin).await;
    assert_eq!(
        (&record["outcome"], &record["id"]),
        (&json!("succeeded"), &sent["id"])
    );
}

#[tokio::test]
async fn an_answer_that_is_json_becomes_one_event() {
    let (url, _) = agent(|| {
        (
            [(header::CONTENT_TYPE, "application/json; charset=utf-8")],
            "{\n  \"answer\": \"a\\nb\"\n}",
        )
    })
    .await;
    let app = with_agent(Some(&url)).await;
    let answer = app
        .admin()
        .await
        .post(PATH, &json!({"question": "?"}))
        .await
        .expect(200);
    assert_eq!(answer.text(), "event: answer\ndata: {\"answer\":\"a\\nb\"}\n\n");
}

#[tokio::test]
async fn faults_before_the_answer_begins_are_problems() {
    async fn ask(app: &TestApp) -> Answer {
        app.admin().await.post(PATH, &json!({"question": "?"})).await
    }
    let gone = serve(Router::new()).await;
    let (busy, _) = agent(|| {
        (
            StatusCode::SERVICE_UNAVAILABLE,
            [(header::RETRY_AFTER, "7")],
            "no model",
        )
    })
    .await;
    let (page, _) = agent(|| axum::response::Html("<p>Hi</p>")).await;
    let (broken, _) = agent(|| ([(header::CONTENT_TYPE, "application/json")], "{")).await;
    for (url, code, says) in [
        (format!("{gone}/run"), "upstream_rejected", "404"),
        (busy, "upstream_unavailable", "no model"),
        (page, "upstream_invalid", "event-stream"),
        (broken, "upstream_invalid", "not valid JSON"),
    ] {
        let app = with_agent(Some(&url)).await;
        let answer = ask(&app).await;
        if code == "upstream_unavailable" {
            assert_eq!(answer.header("retry-after"), "7");
        }
        let problem = answer.problem(502, code);
        assert!(problem["detail"].as_str().unwrap().contains(says), "{problem}");
        let record = last_record(&app.admin().await).await;
        assert_eq!(
            (&record["outcome"], &record["code"]),
            (&json!("failed"), &json!(code))
        );
        assert_eq!(record["id"], problem["call_id"]);
    }
}

#[tokio::test]
async fn a_fault_after_the_answer_began_is_an_event() {
    let (fall, falls) = oneshot::channel::<()>();
    let falls = Arc::new(Mutex::new(Some(falls)));
    let (url, _) = agent(move || {
        let falls = falls.lock().expect("no panic").take();
        let parts = stream::unfold((false, falls), |(told, falls)| async move {
            if !told {
                return Some((Ok(Bytes::from_static(b"data: one\n\n")), (true, falls)));
            }
            falls?.await.ok()?;
            Some((Err(std::io::Error::other("the agent fell over")), (true, None)))
        });
        (
            [(header::CONTENT_TYPE, "text/event-stream")],
            Body::from_stream(parts),
        )
    })
    .await;
    let app = with_agent(Some(&url)).await;
    let admin = app.admin().await;
    let mut response = app.open(question(&admin)).await;
    let request_id = response.headers()["x-request-id"]
        .to_str()
        .expect("text")
        .to_owned();
    let first = response
        .body_mut()
        .frame()
        .await
        .expect("an event")
        .expect("no fault");
    assert_eq!(first.into_data().expect("data"), "data: one\n\n");
    fall.send(()).expect("the agent runs");

    let rest = response
        .into_body()
        .collect()
        .await
        .expect("a whole body")
        .to_bytes();
    let text = std::str::from_utf8(&rest).expect("text");
    let problem = text
        .strip_prefix("event: error\ndata: ")
        .unwrap_or_else(|| panic!("{text}"))
        .trim_end();
    let problem: Value = serde_json::from_str(problem).unwrap();
    assert_eq!(problem["code"], "upstream_unavailable");
    assert_eq!(problem["request_id"], request_id);
    let record = last_record(&admin).await;
    assert_eq!(
        (&record["code"], &record["id"]),
        (&json!("upstream_unavailable"), &problem["call_id"])
    );
}

/// A question, ready to be sent.
fn question(client: &Client<'_>) -> axum::http::Request<Body> {
    client
        .request(Method::POST, PATH)
        .header(header::CONTENT_TYPE, "application/json")
        .body(Body::from(json!({"question": "?"}).to_string()))
        .expect("a request")
}

/// Says when it is dropped.
struct Dropped(Option<oneshot::Sender<()>>);

impl Drop for Dropped {
    fn drop(&mut self) {
        if let Some(sender) = self.0.take() {
            let _ended = sender.send(());
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_caller_that_goes_away_cancels_the_request() {
    let (dropped, was_dropped) = oneshot::channel();
    let dropped = Arc::new(Mutex::new(Some(dropped)));
    let (url, _) = agent(move || {
        let guard = Dropped(dropped.lock().expect("no panic").take());
        // One event, then silence for as long as there is a listener.
        let parts = stream::unfold((guard, false), |(guard, told)| async move {
            if told {
                std::future::pending::<()>().await;
            }
            Some((
                Ok::<_, Infallible>(Bytes::from_static(b"data: one\n\n")),
                (guard, true),
            ))
        });
        (
            [(header::CONTENT_TYPE, "text/event-stream")],
            Body::from_stream(parts),
        )
    })
    .await;
    let app = with_agent(Some(&url)).await;
    let admin = app.admin().await;
    let mut response = app.open(question(&admin)).await;
    let first = response.body_mut().frame().await.unwrap().unwrap();
    assert_eq!(first.into_data().unwrap(), "data: one\n\n");
    assert_eq!(last_record(&admin).await["outcome"], "open");
    drop(response);

    was_dropped.await.expect("the agent sees that nobody listens");
    let record = loop {
        let record = last_record(&admin).await;
        if record["outcome"] != "open" {
            break record;
        }
        tokio::task::yield_now().await;
    };
    assert_eq!(
        (&record["outcome"], &record["code"]),
        (&json!("failed"), &json!("cancelled"))
    );
}

#[tokio::test]
async fn an_endpoint_that_is_not_allowed_any_more_is_not_reached() {
    let (url, seen) = agent(|| events(&["data: one\n\n"])).await;
    let app = with_agent(None).await;
    let project = app.gateway.snapshots.now().project("demo").unwrap().row.uid;
    let settings = serde_json::from_value(json!({"agent_endpoint": url})).unwrap();
    let replacement = toolgate_store::rows::Replacement {
        value: &settings,
        expected: None,
        author: "admin",
    };
    app.gateway
        .store
        .put_settings(project, &replacement, app.gateway.clock.now())
        .await
        .unwrap();
    app.gateway.snapshots.refresh().await.unwrap();
    let admin = app.admin().await;
    admin
        .post(PATH, &json!({"question": "?"}))
        .await
        .problem(502, "egress_denied");
    assert!(seen.lock().unwrap().is_empty());
}
