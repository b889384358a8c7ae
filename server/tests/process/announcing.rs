//! Programs of the Rust kit that announce themselves to a real server, with tokens of its REST API.

use axum::http::{HeaderMap, Method};
use serde_json::json;
use toolgate_worker::{Announcement, RestTokens, ToolService, Worker};

use crate::nats::Nats;
use crate::support::{Client, Server};

/// The tool as the server has it, as soon as it is there.
async fn until_there(admin: &Client, server: &Server, tool: &str) -> serde_json::Value {
    loop {
        let found = admin
            .get(server.at(&format!("/projects/demo/tools/{tool}")))
            .await;
        if found["name"] == tool {
            return found;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_trusted_program_announces_with_a_token_counts_at_once_and_without_one_it_waits() {
    let nats = Nats::start();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let url = nats.url();
    let server = Server::start(folder.path(), "", &[("TOOLGATE_NATS_URL", &url)]);
    let admin = server.demo(HeaderMap::new()).await;
    let key = json!({"name": "joke service", "role": "agent", "groups": []});
    let key = admin.post(server.at("/projects/demo/keys"), &key).await;
    let settings = json!({"trusted_announcers": [key["principal"]]});
    let put = admin.send_if_any(Method::PUT, server.at("/projects/demo/settings"), &settings);
    assert_eq!(put.await, 200);

    let tool = |name: &str| json!({"name": name, "description": "Answers.", "arguments": []});
    let secret = key["secret"].as_str().expect("a secret");
    let tokens = RestTokens::new(&server.at(""), "demo", secret);
    let service = ToolService::new("trusted", async |_| Ok("trusted".into()))
        .request_queue("non-persistent://tg/demo/trusted")
        .response_queue("non-persistent://tg/demo/trusted-answers")
        .announce(
            "trusted",
            Announcement::new("1.0.0")
                .project("demo")
                .tool(tool("trusted"))
                .tokens(tokens),
        );
    let worker = Worker::new("plain", async |_| Ok("plain".into()))
        .project("demo")
        .announce(Announcement::new("1.0.0").project("demo").tool(tool("plain")));
    let connect = async || async_nats::connect(nats.url()).await.expect("connected");
    let serving = tokio::spawn(service.serve(connect().await, std::future::pending()));
    let working = tokio::spawn(worker.serve(connect().await, std::future::pending()));

    let trusted = until_there(&admin, &server, "trusted").await;
    assert_eq!(trusted["enabled"], true, "{trusted}");
    let plain = until_there(&admin, &server, "plain").await;
    assert_eq!(plain["enabled"], false, "{plain}");
    let call = json!({"tool": "trusted", "arguments": {}});
    let answer = admin.post(server.at("/projects/demo/calls"), &call).await;
    assert_eq!(answer["result"], "trusted", "{answer}");
    serving.abort();
    working.abort();
    assert!(server.stop());
}
