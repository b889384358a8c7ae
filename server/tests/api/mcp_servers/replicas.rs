//! Two servers on one database: what one knows of an MCP server, the other one knows too.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::http::{Method, header};
use serde_json::{Value, json};

use super::{Reply, SERVERS, Upstream, call, enable, forecast, import, put};
use crate::replicas::{becomes, two};
use crate::support::{Client, TestApp};

/// An upstream whose tool has another description once that is set. Its calls say so.
async fn changing() -> (Upstream, Arc<AtomicBool>) {
    let changed = Arc::new(AtomicBool::new(false));
    let is_changed = Arc::clone(&changed);
    let upstream = Upstream::new(move |message| match message["method"].as_str() {
        Some("tools/list") if is_changed.load(Ordering::Acquire) => Some(Reply::Result(
            json!({"tools": [forecast("Says the weather of tomorrow.")]}),
        )),
        Some("tools/call") if is_changed.load(Ordering::Acquire) => Some(Reply::Events(vec![
            r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#.to_owned(),
            r#"{"jsonrpc":"2.0","id":"$ID","result":{"content":[{"type":"text","text":"sunny"}]}}"#
                .to_owned(),
        ])),
        _ => None,
    })
    .await;
    (upstream, changed)
}

/// Two servers that know an MCP server with its tool enabled; both keep their connections.
async fn both(upstream: &Upstream, definition: Value) -> (TestApp, TestApp) {
    let (first, second) = two(&[("TOOLGATE_EGRESS_ALLOW", &upstream.url)]).await;
    first.run_background();
    second.run_background();
    let admin = first.demo().await;
    put(&admin, "weather", definition).await;
    import(&admin, "weather").await;
    enable(&admin).await;
    let there = second.client(admin.token.clone().expect("a token"));
    becomes(&there, &format!("{SERVERS}/weather"), 200).await;
    until_call(&there, |answer| answer["status"] == "succeeded").await;
    drop(there);
    drop(admin);
    (first, second)
}

/// Calls until the answer is as expected: the other server looks at the database twice a second.
async fn until_call(client: &Client<'_>, is_so: impl Fn(&Value) -> bool) {
    let request = json!({"tool": "forecast", "arguments": {"city": "Oslo"}});
    let calling = async {
        while !is_so(&client.post("/projects/demo/calls", &request).await.json()) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), calling)
        .await
        .expect("the call comes to it");
}

async fn until_waiting(client: &Client<'_>) {
    let waiting = async {
        while client.get("/projects/demo/quarantine").await.expect(200).json()["items"][0]["tool"]
            != "forecast"
        {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), waiting)
        .await
        .expect("the change waits");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_is_called_quarantined_approved_and_removed_on_either() {
    let (upstream, changed) = changing().await;
    let (first, second) = both(&upstream, json!({"url": upstream.url, "on_change": "refuse"})).await;
    let (here, there) = (first.admin().await, second.admin().await);
    assert_eq!(
        call(&here, "forecast", json!({"city": "Oslo"})).await["status"],
        "succeeded"
    );

    changed.store(true, Ordering::Release);
    import(&here, "weather").await;
    until_waiting(&there).await;
    // The connection of the other server is the one over which the tools were listed as approved.
    until_call(&there, |answer| answer["error"]["code"] == "tool_unavailable").await;
    let waiting = there.get("/projects/demo/quarantine/forecast").await.expect(200);
    let tag = waiting.header("etag").to_owned();
    let approve = "/projects/demo/quarantine/forecast/approve";
    there
        .send_json(Method::POST, approve, &[(header::IF_MATCH, &tag)], &json!({}))
        .await
        .expect(200);
    assert_eq!(
        call(&there, "forecast", json!({"city": "Oslo"})).await["status"],
        "succeeded"
    );
    until_call(&here, |answer| answer["status"] == "succeeded").await;
    let tool = here.get("/projects/demo/tools/forecast").await.expect(200).json();
    assert_eq!(tool["definition"]["description"], "Says the weather of tomorrow.");

    there
        .delete(&format!("{SERVERS}/weather"), Some("*"))
        .await
        .expect(204);
    becomes(&here, &format!("{SERVERS}/weather"), 404).await;
    until_call(&here, |answer| answer["error"]["code"] == "tool_unavailable").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_that_both_hear_of_is_imported_once() {
    let (upstream, changed) = changing().await;
    let (first, second) = both(&upstream, json!({"url": upstream.url})).await;
    let (here, there) = (first.admin().await, second.admin().await);
    let listed = upstream.seen("tools/list").len();
    changed.store(true, Ordering::Release);
    for admin in [&here, &there] {
        assert_eq!(
            call(admin, "forecast", json!({"city": "Oslo"})).await["status"],
            "succeeded"
        );
    }
    let both_list = async {
        while upstream.seen("tools/list").len() < listed + 2 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), both_list)
        .await
        .expect("both list the tools again");
    until_waiting(&here).await;
    until_waiting(&there).await;
    // A change waits before its record is completed.
    let records = async {
        loop {
            let page = here
                .get("/projects/demo/audit?action=import&limit=100")
                .await
                .expect(200);
            let page = page.json();
            let records = page["items"].as_array().expect("records");
            if records.iter().all(|record| record["outcome"] != "open") {
                return page;
            }
        }
    };
    let records = tokio::time::timeout(Duration::from_secs(60), records)
        .await
        .expect("the records are completed");
    // One that lost the race while both wrote is recorded as failed.
    let by_server = records["items"].as_array().expect("records").iter();
    let made =
        by_server.filter(|record| record["principal_name"] == "server" && record["outcome"] == "succeeded");
    assert_eq!(made.count(), 1, "{records}");
}
