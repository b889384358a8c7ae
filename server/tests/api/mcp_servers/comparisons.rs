//! Comparing the tools of servers with the approved ones: when they say that they changed, and by schedule.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::{StreamExt, stream};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::time::timeout;

use super::{Reply, Upstream, call, enable, forecast, import, put, with_tools};
use crate::support::{Client, TestApp};

const SOON: Duration = Duration::from_secs(60);

/// Waits until a tool waits in the quarantine.
pub(crate) async fn until_waiting(admin: &Client<'_>, tool: &str) -> Value {
    let waiting = async {
        loop {
            let found = admin.get("/projects/demo/quarantine").await.expect(200).json();
            let items = found["items"].as_array().expect("items");
            if let Some(item) = items.iter().find(|item| item["tool"] == tool) {
                return item.clone();
            }
            tokio::task::yield_now().await;
        }
    };
    timeout(SOON, waiting).await.expect("the change waits")
}

/// A list of tools with another description once the flag is set.
fn listed(is_changed: &AtomicBool) -> Reply {
    let description = match is_changed.load(Ordering::Acquire) {
        true => "Says the weather of tomorrow.",
        false => "Says the weather.",
    };
    Reply::Result(json!({"tools": [forecast(description)], "ttlMs": 0, "cacheScope": "private"}))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_of_the_newest_revision_is_listened_to() {
    let (changed, says) = (Arc::new(AtomicBool::new(false)), Arc::new(Notify::new()));
    let (is_changed, is_said) = (Arc::clone(&changed), Arc::clone(&says));
    let upstream = Upstream::new(move |message| {
        let id = &message["id"];
        let of_stream = json!({"io.modelcontextprotocol/subscriptionId": id});
        let notice = |method: &str, more: Value| {
            let mut params = json!({"_meta": of_stream});
            params.as_object_mut()?.extend(more.as_object()?.clone());
            Some(json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string())
        };
        match message["method"].as_str()? {
            "server/discover" => Some(Reply::Result(json!({
                "resultType": "complete", "supportedVersions": ["2026-07-28"], "ttlMs": 0, "cacheScope": "private",
                "capabilities": {"tools": {"listChanged": true}},
                "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "weather-server", "version": "2"}},
            }))),
            "tools/list" => Some(listed(&is_changed)),
            "subscriptions/listen" => {
                let asked = message["params"]["notifications"].clone();
                let first = notice(
                    "notifications/subscriptions/acknowledged",
                    json!({"notifications": asked}),
                )?;
                let second = notice("notifications/tools/list_changed", json!({}))?;
                let is_said = Arc::clone(&is_said);
                let later = stream::once(async move {
                    is_said.notified().await;
                    second
                });
                let events = stream::iter([first]).chain(later).chain(stream::pending());
                Some(Reply::Stream(events.boxed()))
            }
            _ => None,
        }
    })
    .await;
    let app = with_tools(&upstream, json!({"url": upstream.url})).await;
    app.run_background();
    let admin = app.admin().await;
    assert_eq!(
        upstream.seen("initialize").len(),
        0,
        "it is not asked as one of an earlier revision"
    );
    let listens = async {
        while upstream.seen("subscriptions/listen").is_empty() {
            tokio::task::yield_now().await;
        }
    };
    timeout(SOON, listens).await.expect("it is listened to");
    let asked = &upstream.seen("subscriptions/listen")[0].0["params"]["notifications"];
    assert_eq!(*asked, json!({"toolsListChanged": true}));
    changed.store(true, Ordering::Release);
    says.notify_one();
    assert_eq!(until_waiting(&admin, "forecast").await["by"], "server");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_hangs_while_it_is_compared_delays_no_other() {
    let changed = Arc::new(AtomicBool::new(false));
    let says_so =
        |is_changed: &AtomicBool, reply: fn(&AtomicBool) -> Reply, message: &Value| match message["method"]
            .as_str()?
        {
            "tools/list" if is_changed.load(Ordering::Acquire) => Some(reply(is_changed)),
            "tools/call" => Some(Reply::Events(vec![
                r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#.to_owned(),
                r#"{"jsonrpc":"2.0","id":"$ID","result":{"content":[]}}"#.to_owned(),
            ])),
            _ => None,
        };
    let (first, second) = (Arc::clone(&changed), Arc::clone(&changed));
    let silent = Upstream::new(move |message| says_so(&first, |_| Reply::Never, message)).await;
    let upstream = Upstream::new(move |message| says_so(&second, listed, message)).await;
    let allowed = format!("{},{}", silent.url, upstream.url);
    let app = TestApp::with(&[("TOOLGATE_EGRESS_ALLOW", &allowed)]).await;
    let admin = app.demo().await;
    // By its name it is compared first.
    let slow = json!({"url": silent.url, "timeout_ms": 300_000});
    put(&admin, "a-silent", slow).await;
    put(&admin, "weather", json!({"url": upstream.url})).await;
    let path = "/projects/demo/mcp-servers/a-silent/refresh?prefix=silent_";
    admin.post(path, &json!({})).await.expect(200);
    import(&admin, "weather").await;
    enable(&admin).await;
    let lists = |upstream: &Upstream| upstream.seen("tools/list").len();
    let before = lists(&silent);
    changed.store(true, Ordering::Release);
    call(&admin, "silent_forecast", json!({"city": "Oslo"})).await;
    app.run_background();
    let hangs = async {
        while lists(&silent) == before {
            tokio::task::yield_now().await;
        }
    };
    timeout(SOON, hangs).await.expect("the silent one is compared");
    call(&admin, "forecast", json!({"city": "Oslo"})).await;
    until_waiting(&admin, "forecast").await;
    assert_eq!(lists(&silent), before + 1, "it is not asked again meanwhile");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_that_the_server_does_not_announce_is_found_by_schedule() {
    let changed = Arc::new(AtomicBool::new(false));
    let is_changed = Arc::clone(&changed);
    let upstream =
        Upstream::new(move |message| (message["method"] == "tools/list").then(|| listed(&is_changed))).await;
    let definition = json!({"url": upstream.url, "on_change": "refuse", "refresh_s": 10});
    let app = with_tools(&upstream, definition).await;
    app.run_background();
    let admin = app.admin().await;
    let oslo = || json!({"city": "Oslo"});
    assert_eq!(call(&admin, "forecast", oslo()).await["status"], "succeeded");
    changed.store(true, Ordering::Release);
    until_waiting(&admin, "forecast").await;
    let refused = call(&admin, "forecast", oslo()).await;
    assert_eq!(refused["error"]["code"], "tool_unavailable", "{refused}");
}
