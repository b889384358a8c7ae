//! The connection to the message bus where something is wrong: certificates, a server of several that ends, a service that is away.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use async_nats::Client as BusClient;
use futures_util::StreamExt;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use serde_json::{Value, json};

use crate::bus::until_connected;
use crate::nats::{Nats, subscribe};
use crate::support::{Client, TestApp};

const REQUESTS: &str = "tg.demo.jokes";
const TOOLS: &str = "
tool-service:
  jokes: {request-queue: tg.demo.jokes, response-queue: tg.demo.answers}
tool:
  tell-joke: {type: tool-service, description: Tells a joke., service: jokes, arguments: [], options: {breaker: {failures: 2, open_s: 1}}}
";

/// A service that answers every request, to its inbox, with its own name.
async fn serve(client: BusClient, name: &'static str) {
    let mut requests = subscribe(&client, REQUESTS).await;
    tokio::spawn(async move {
        while let Some(request) = requests.next().await {
            let Some(inbox) = request.reply else { continue };
            let answer = json!({"response": name}).to_string();
            let mut headers = async_nats::HeaderMap::new();
            let id = request.headers.as_ref().and_then(|headers| headers.get("id"));
            headers.insert("id", id.expect("an id").clone());
            let _sent = client.publish_with_headers(inbox, headers, answer.into()).await;
        }
    });
}

async fn call(admin: &Client<'_>) -> Value {
    let asked = json!({"tool": "tell-joke", "arguments": {}});
    admin
        .post("/projects/demo/calls", &asked)
        .await
        .expect(200)
        .json()
}

/// The answer to the first call that succeeds.
async fn answered(admin: &Client<'_>) -> Value {
    loop {
        let answer = call(admin).await;
        if answer["status"] == "succeeded" {
            return answer["result"].clone();
        }
        tokio::task::yield_now().await;
    }
}

/// A certificate authority of this test, and a certificate of it for this machine: the settings of a NATS server, and the file of the
/// authority.
fn certificates(folder: &Path) -> (String, String) {
    let mut params = CertificateParams::new(Vec::new()).expect("valid");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params
        .distinguished_name
        .push(DnType::CommonName, "Authority of a test");
    let key = KeyPair::generate().expect("a key");
    let authority = params.self_signed(&key).expect("a certificate");
    let issuer = Issuer::new(params, key);
    let key = KeyPair::generate().expect("a key");
    let own = CertificateParams::new(vec!["127.0.0.1".to_owned()]).expect("valid");
    let own = own.signed_by(&key, &issuer).expect("a certificate");
    let file = |name: &str, text: String| {
        let path = folder.join(name);
        std::fs::write(&path, text).expect("written");
        path.display().to_string()
    };
    let (cert, key) = (
        file("server.pem", own.pem()),
        file("server.key", key.serialize_pem()),
    );
    let settings = format!("tls {{cert_file: \"{cert}\", key_file: \"{key}\"}}");
    (settings, file("authority.pem", authority.pem()))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_with_a_certificate_is_trusted_by_its_authority_only() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (settings, authority) = certificates(folder.path());
    let nats = Nats::with(&settings);
    let url = nats.url().replace("nats://", "tls://");
    let app = TestApp::with(&[
        ("TOOLGATE_NATS_URL", url.as_str()),
        ("TOOLGATE_NATS_CA_FILE", &authority),
        ("TOOLGATE_NATS_REQUIRE_TLS", "true"),
    ])
    .await;
    until_connected(&app, true).await;
    let admin = app.demo().await;
    admin.upload("/projects/demo/tools", TOOLS).await.expect(201);
    let other = async_nats::ConnectOptions::new().add_root_certificates(authority.into());
    let other = other.connect(url.as_str()).await.expect("connected");
    serve(other, "encrypted").await;
    assert_eq!(call(&admin).await["result"], "encrypted");

    // Without the authority the server's certificate counts for nothing, and the status says so.
    let app = TestApp::with(&[("TOOLGATE_NATS_URL", url.as_str())]).await;
    let admin = app.demo().await;
    admin.upload("/projects/demo/tools", TOOLS).await.expect(201);
    let mut summary = String::new();
    let said = async {
        while !summary.contains("invalid peer certificate: UnknownIssuer") {
            let status = admin.get("/status").await.expect(200).json();
            let mut checks = status["checks"].as_array().expect("checks").iter();
            let check = checks.find(|check| check["id"] == "message_bus");
            let check = check.expect("the bus");
            assert_eq!(check["status"], "failing", "{check}");
            check["summary"]
                .as_str()
                .expect("a text")
                .clone_into(&mut summary);
        }
    };
    let said = tokio::time::timeout(Duration::from_secs(30), said).await;
    assert!(said.is_ok(), "{summary}");
    let refused = call(&admin).await;
    assert_eq!(refused["error"]["code"], "tool_unavailable", "{refused}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_ends_gives_way_to_the_next_one() {
    const NAMES: [&str; 2] = ["first", "second"];
    let mut servers = BTreeMap::new();
    for name in NAMES {
        let nats = Nats::start();
        serve(async_nats::connect(nats.url()).await.expect("connected"), name).await;
        servers.insert(name, nats);
    }
    let urls = servers.values().map(Nats::url).collect::<Vec<_>>().join(",");
    let app = TestApp::with(&[("TOOLGATE_NATS_URL", urls.as_str())]).await;
    until_connected(&app, true).await;
    let admin = app.demo().await;
    admin.upload("/projects/demo/tools", TOOLS).await.expect(201);
    let before = answered(&admin).await;
    let name = before.as_str().expect("a name");
    servers.remove(name).expect("one of them").stop();
    let after = answered(&admin).await;
    assert_ne!(after, before, "the other one");
    assert!(servers.contains_key(after.as_str().expect("a name")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_circuit_breaker_of_a_service_opens_and_closes_again() {
    let nats = Nats::start();
    let app = TestApp::with(&[("TOOLGATE_NATS_URL", nats.url().as_str())]).await;
    until_connected(&app, true).await;
    let admin = app.demo().await;
    admin.upload("/projects/demo/tools", TOOLS).await.expect(201);
    let breaker = async || {
        let upstreams = admin.get("/projects/demo/upstreams").await.expect(200).json();
        upstreams["tools"][0].clone()
    };
    // Nothing reads the queue.
    for code in ["upstream_unavailable", "upstream_unavailable", "tool_unavailable"] {
        assert_eq!(call(&admin).await["error"]["code"], code);
    }
    let open = breaker().await;
    assert_eq!(
        (&open["tool"], &open["failures"]),
        (&json!("tell-joke"), &json!(2))
    );
    assert_ne!(open["state"], "closed", "{open}");
    let client = async_nats::connect(nats.url()).await.expect("connected");
    serve(client, "back").await;
    assert_eq!(answered(&admin).await, "back");
    let closed = breaker().await;
    assert_eq!(
        (&closed["state"], &closed["failures"]),
        (&json!("closed"), &json!(0))
    );
}
