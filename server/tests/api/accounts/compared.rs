//! Comparing the tools of a server that is reached with accounts: over the connection of a caller who is connected.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;

use super::{Service, app_with_server, connect};
use crate::mcp_servers::comparisons::until_waiting;
use crate::mcp_servers::{Reply, Upstream, call, enable, forecast, import};
use crate::oauth::member;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_server_says_to_one_account_waits_and_what_it_hides_from_it_stays() {
    let service = Service::start().await;
    let changed = Arc::new(AtomicBool::new(false));
    let is_changed = Arc::clone(&changed);
    let upstream = Upstream::new(move |message| match message["method"].as_str()? {
        "tools/list" if is_changed.load(Ordering::Acquire) => Some(Reply::Result(
            json!({"tools": [forecast("Says the weather of tomorrow.")]}),
        )),
        "tools/list" => {
            let mut archive = forecast("Says the weather of the past.");
            archive["name"] = json!("archive");
            Some(Reply::Result(
                json!({"tools": [forecast("Says the weather."), archive]}),
            ))
        }
        "tools/call" => Some(Reply::Events(vec![
            r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#.to_owned(),
            r#"{"jsonrpc":"2.0","id":"$ID","result":{"content":[]}}"#.to_owned(),
        ])),
        _ => None,
    })
    .await;
    let app = app_with_server(&service, &upstream).await;
    let admin = app.admin().await;
    connect(&admin, &service, "admin").await;
    import(&admin, "weather").await;
    enable(&admin).await;
    let ada = member(&app, "ada", "agent", &["*"]).await;
    connect(&ada, &service, "ada").await;
    changed.store(true, Ordering::Release);
    call(&ada, "forecast", json!({"city": "Oslo"})).await;
    app.run_background();
    let waiting = until_waiting(&admin, "forecast").await;
    assert_eq!(waiting["by"], "server");
    let kept = admin
        .get("/projects/demo/imports/weather")
        .await
        .expect(200)
        .json();
    assert_eq!(kept["counts"]["gone"], 0, "another account may see it: {kept}");
}
