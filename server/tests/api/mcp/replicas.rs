//! A session on two servers with one database.

use serde_json::json;

use super::streams::{SOON, Stream};
use super::{McpClient, tools};
use crate::replicas::{becomes, two};
use crate::support::echo;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_is_the_same_on_every_server() {
    let base = echo().await;
    let (first, second) = two(&[("TOOLGATE_EGRESS_ALLOW", &base)]).await;
    second.run_background();
    let admin = first.demo().await;
    admin
        .upload("/projects/demo/tools", &tools(&base))
        .await
        .expect(201);
    let here = first.key(&admin, "demo", "agent", &["work"]).await;
    let there = second.client(here.token.clone().expect("a key"));
    becomes(&there, "/projects/demo/tools/start", 200).await;

    let mcp = McpClient::begun(here, "?group=work").await;
    let mut elsewhere = McpClient::new(there, "?group=work");
    elsewhere.headers.clone_from(&mcp.headers);
    let mut stream = Stream::open(&elsewhere).await;
    assert_eq!(elsewhere.names().await, ["start"]);
    mcp.call("start", json!({})).await;
    let told = stream.next(SOON).await.expect("a change");
    assert_eq!(told["method"], "notifications/tools/list_changed");
    assert_eq!(elsewhere.names().await, ["finish"]);
    // What its client ends on one server before anything is stored of it has ended on the other one.
    let begun = McpClient::begun(elsewhere.client.clone(), "?group=work").await;
    let mut same = McpClient::new(mcp.client.clone(), "?group=work");
    same.headers.clone_from(&begun.headers);
    same.send("tools/list", json!({})).await.expect(200);
    begun.end().await.expect(204);
    same.send("tools/list", json!({})).await.expect(404);
    same.end().await.expect(404);
    // Another principal's id is none here, either.
    let other = second.client("no key");
    let mut stranger = McpClient::new(other, "");
    stranger.headers.clone_from(&mcp.headers);
    stranger.send("tools/list", json!({})).await.expect(401);
}
