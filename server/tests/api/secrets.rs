//! Secrets of a project: set, used, replaced, removed, and encrypted.

use axum::http::{Method, header};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use toolgate::secrets::Keyring;
use toolgate::secrets::rotate::{Rotation, rotate};

use crate::postgres::new_database;
use crate::support::{ANY, Answer, Client, TestApp, echo};

const SECRETS: &str = "/projects/demo/secrets";
const CALLS: &str = "/projects/demo/calls";

pub(super) fn key(byte: u8) -> String {
    STANDARD.encode([byte; 32])
}

async fn set(client: &Client<'_>, name: &str, if_match: Option<&str>, value: &str) -> Answer {
    let mut request = client
        .request(Method::PUT, &format!("{SECRETS}/{name}"))
        .header(header::CONTENT_TYPE, "application/json");
    if let Some(tag) = if_match {
        request = request.header(header::IF_MATCH, tag);
    }
    let body = json!({ "value": value }).to_string();
    client.send(request.body(body.into()).expect("a request")).await
}

/// A tool that presents a secret.
fn presenting(name: &str, base: &str, secret: &str) -> String {
    format!(
        "name: {name}\ntype: openapi\ndescription: Presents a secret.\nparameters: {{type: object, properties: {{}}}}\n\
         options:\n  http: {{base_url: \"{base}\", path: /x, auth: {{scheme: header, name: X-Api-Key, env: \"secret:{secret}\"}}}}\n"
    )
}

/// How many bytes of a key the upstream got, or the error's message.
async fn call(client: &Client<'_>, name: &str) -> Result<u64, String> {
    let answer = client
        .post(CALLS, &json!({"tool": name}))
        .await
        .expect(200)
        .json();
    match answer["result"]["key_bytes"].as_u64() {
        Some(bytes) => Ok(bytes),
        None => {
            assert_eq!(answer["error"]["code"], "tool_unavailable", "{answer}");
            Err(answer["error"]["message"].as_str().expect("text").to_owned())
        }
    }
}

#[tokio::test]
async fn without_a_key_nothing_can_be_set_and_the_rest_works() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let problem = set(&admin, "KEY", None, "long enough")
        .await
        .problem(503, "secrets_not_configured");
    assert!(
        problem["detail"]
            .as_str()
            .expect("text")
            .contains("TOOLGATE_SECRETS_KEY")
    );
    assert_eq!(admin.get(SECRETS).await.expect(200).json(), json!({"items": []}));
    admin
        .get(&format!("{SECRETS}/KEY"))
        .await
        .problem(404, "not_found");
}

#[tokio::test]
async fn a_secret_is_set_shown_without_its_value_and_replaced_by_revision() {
    let app = TestApp::with(&[("TOOLGATE_SECRETS_KEY", &key(1))]).await;
    let admin = app.demo().await;
    let created = set(&admin, "KEY", None, "the first value").await.expect(201);
    let first = created.header("etag").to_owned();
    let shown = created.json();
    assert_eq!(
        (&shown["name"], &shown["set_by"], &shown["readable"]),
        (&json!("KEY"), &json!("admin"), &json!(true))
    );
    assert_eq!(
        shown["used_by"],
        json!({"tools": [], "services": [], "mcp_servers": [], "account_providers": [], "webhook": false})
    );
    assert_eq!(shown["last_used_at"], Value::Null);

    set(&admin, "KEY", None, "the second value")
        .await
        .problem(428, "precondition_required");
    set(&admin, "KEY", Some("\"r0\""), "the second value")
        .await
        .problem(412, "precondition_failed");
    let second = set(&admin, "KEY", Some(&first), "the second value")
        .await
        .expect(200);
    assert_ne!(second.header("etag"), first);
    assert!(second.json()["revision"].as_i64() > shown["revision"].as_i64());
    set(&admin, "KEY", Some("*"), "the third value").await.expect(200);
    set(&admin, "OTHER", Some(&first), "a new value")
        .await
        .problem(412, "precondition_failed");
    set(&admin, "OTHER", Some("*"), "a new value").await.expect(201);

    let page = admin.get(&format!("{SECRETS}?limit=1")).await.expect(200).json();
    assert_eq!(page["items"][0]["name"], "KEY");
    let cursor = page["next_cursor"].as_str().expect("a cursor");
    let page = admin
        .get(&format!("{SECRETS}?limit=1&cursor={cursor}"))
        .await
        .expect(200)
        .json();
    assert_eq!(
        (&page["items"][0]["name"], &page["next_cursor"]),
        (&json!("OTHER"), &Value::Null)
    );

    let path = format!("{SECRETS}/KEY");
    admin
        .delete(&path, None)
        .await
        .problem(428, "precondition_required");
    admin
        .delete(&path, Some(&first))
        .await
        .problem(412, "precondition_failed");
    let tag = admin.get(&path).await.expect(200).header("etag").to_owned();
    admin.delete(&path, Some(&tag)).await.expect(204);
    admin.get(&path).await.problem(404, "not_found");
    set(&admin, "KEY", Some(&tag), "set again")
        .await
        .problem(412, "precondition_failed");
    let again = set(&admin, "KEY", None, "set again").await.expect(201);
    assert_ne!(again.header("etag"), first, "no revision comes twice");
}

#[tokio::test]
async fn what_cannot_be_a_secret_is_refused_without_repeating_it() {
    let app = TestApp::with(&[("TOOLGATE_SECRETS_KEY", &key(1))]).await;
    let admin = app.demo().await;
    let long = "x".repeat(64 * 1024 + 1);
    for (name, value) in [
        ("KEY", "2short!"),
        ("KEY", &long),
        ("KEY", "with a \0 in it"),
        ("2KEY", "good enough"),
        ("a-b", "good enough"),
        (&"K".repeat(129), "good enough"),
    ] {
        let problem = set(&admin, name, None, value)
            .await
            .problem(422, "invalid_request");
        assert!(!problem.to_string().contains(value), "{problem}");
    }
    for body in [
        r#"{"value": 4711471147}"#,
        r#"{"value": ["hunter22hunter22"]}"#,
        r#"{"value": true}"#,
    ] {
        let answer = admin
            .body(
                Method::PUT,
                &format!("{SECRETS}/KEY"),
                "application/json",
                body.to_owned(),
            )
            .await;
        let problem = answer.problem(422, "invalid_request").to_string();
        assert!(
            !problem.contains("4711471147") && !problem.contains("hunter22"),
            "{problem}"
        );
    }
    set(&admin, "KEY", None, &"ü".repeat(32 * 1024)).await.expect(201);
}

#[tokio::test]
async fn definitions_use_secrets_by_name() {
    let base = echo().await;
    let app = TestApp::with(&[
        ("TOOLGATE_SECRETS_KEY", &key(1)),
        ("TOOLGATE_EGRESS_ALLOW", &base),
    ])
    .await;
    let admin = app.demo().await;
    let tools = "/projects/demo/tools";
    let uploaded = admin
        .upload(tools, &presenting("search", &base, "KEY"))
        .await
        .expect(201)
        .json();
    let warning = uploaded["warnings"].to_string();
    assert!(warning.contains("the secret KEY, which is not set"), "{warning}");
    let message = call(&admin, "search").await.expect_err("no secret");
    assert!(message.contains("no secret KEY"), "{message}");

    set(&admin, "KEY", None, "twelve bytes").await.expect(201);
    assert_eq!(call(&admin, "search").await, Ok(12));
    set(&admin, "KEY", Some("*"), "now fourteen b").await.expect(200);
    assert_eq!(call(&admin, "search").await, Ok(14), "effective at once");
    let again = admin
        .upload(tools, &presenting("second", &base, "KEY"))
        .await
        .expect(201)
        .json();
    assert_eq!(again["warnings"], json!([]));

    let shown = admin.get(&format!("{SECRETS}/KEY")).await.expect(200).json();
    assert_eq!(shown["used_by"]["tools"], json!(["search", "second"]));
    assert!(shown["last_used_at"].is_string());
    let problem = admin
        .delete(&format!("{SECRETS}/KEY"), Some("*"))
        .await
        .problem(409, "in_use");
    assert_eq!(problem["errors"][1]["message"], "the tool \"second\" uses it");
    admin
        .delete(&format!("{SECRETS}/KEY?force=true"), Some("*"))
        .await
        .expect(204);
    assert!(call(&admin, "search").await.is_err());

    let faults = [presenting("bad", &base, ""), presenting("bad", &base, "a-b")];
    for definition in faults {
        let problem = admin
            .upload(tools, &definition)
            .await
            .problem(422, "invalid_definition");
        assert!(
            problem["errors"]
                .to_string()
                .contains("is not a name of a secret"),
            "{problem}"
        );
    }
}

#[tokio::test]
async fn services_and_the_webhook_use_secrets_too() {
    let base = echo().await;
    let app = TestApp::with(&[
        ("TOOLGATE_SECRETS_KEY", &key(1)),
        ("TOOLGATE_EGRESS_ALLOW", &base),
    ])
    .await;
    let admin = app.demo().await;
    let upload = format!(
        "tool-service:\n  upstream: {{envs: {{token: \"secret:NEW\"}}}}\ntool:\n  search:\n    type: openapi\n    \
         description: Searches.\n    service: upstream\n    parameters: {{type: object, properties: {{token: {{type: string}}}}}}\n    \
         options:\n      envs: {{token: \"secret:OLD\"}}\n      http: {{base_url: \"{base}\", header: {{X-Api-Key: token}}}}\n"
    );
    admin.upload("/projects/demo/tools", &upload).await.expect(201);
    for name in ["NEW", "OLD", "HOOK"] {
        set(&admin, name, None, "some value").await.expect(201);
    }
    let settings = json!({"webhook": {"url": format!("{base}/hook"), "secret": "HOOK"}});
    admin
        .send_json(Method::PUT, "/projects/demo/settings", &ANY, &settings)
        .await
        .expect(200);

    let used = |name: &'static str| {
        let admin = admin.clone();
        async move { admin.get(&format!("{SECRETS}/{name}")).await.expect(200).json()["used_by"].clone() }
    };
    assert_eq!(
        used("NEW").await,
        json!({"tools": ["search"], "services": ["upstream"], "mcp_servers": [], "account_providers": [], "webhook": false})
    );
    assert_eq!(
        used("OLD").await,
        json!({"tools": [], "services": [], "mcp_servers": [], "account_providers": [], "webhook": false}),
        "the service wins"
    );
    assert_eq!(
        used("HOOK").await,
        json!({"tools": [], "services": [], "mcp_servers": [], "account_providers": [], "webhook": true})
    );
    assert_eq!(call(&admin, "search").await, Ok(10));
}

#[tokio::test]
async fn secrets_stay_in_their_project() {
    let base = echo().await;
    let app = TestApp::with(&[
        ("TOOLGATE_SECRETS_KEY", &key(1)),
        ("TOOLGATE_EGRESS_ALLOW", &base),
    ])
    .await;
    let admin = app.demo().await;
    set(&admin, "KEY", None, "twelve bytes").await.expect(201);
    admin.post("/projects", &json!({"id": "other"})).await.expect(201);
    admin
        .upload("/projects/other/tools", &presenting("search", &base, "KEY"))
        .await
        .expect(201);
    let answer = admin
        .post("/projects/other/calls", &json!({"tool": "search"}))
        .await
        .expect(200)
        .json();
    assert_eq!(answer["error"]["code"], "tool_unavailable");
    admin
        .get("/projects/other/secrets/KEY")
        .await
        .problem(404, "not_found");
}

#[tokio::test]
async fn keys_are_changed_by_having_both_for_a_while() {
    let base = echo().await;
    let egress = ("TOOLGATE_EGRESS_ALLOW", base.as_str());
    let (old, new) = (key(1), key(2));
    let both = format!("{new},{old}");
    let app = TestApp::with(&[("TOOLGATE_SECRETS_KEY", &old), egress]).await;
    let admin = app.demo().await;
    admin
        .upload("/projects/demo/tools", &presenting("search", &base, "KEY"))
        .await
        .expect(201);
    set(&admin, "KEY", None, "twelve bytes").await.expect(201);
    assert_eq!(call(&admin, "search").await, Ok(12));
    let token = admin.token.clone().expect("a token");

    let ring = |keys: &[&String]| {
        let texts: Vec<_> = keys.iter().map(|key| key.as_str().into()).collect();
        Keyring::new(&texts).expect("keys")
    };
    let elsewhere = rotate(&app.gateway.store, &ring(&[&new]))
        .await
        .expect("an answer");
    assert_eq!(
        (
            elsewhere.secrets,
            elsewhere.signing_keys,
            elsewhere.unreadable.len()
        ),
        (0, 0, 2)
    );

    let app = app.restart(&[("TOOLGATE_SECRETS_KEYS", &both), egress]).await;
    assert_eq!(
        call(&app.client(token.clone()), "search").await,
        Ok(12),
        "the old key still opens both"
    );
    let revision = app
        .client(token.clone())
        .get(&format!("{SECRETS}/KEY"))
        .await
        .header("etag")
        .to_owned();
    let done = rotate(&app.gateway.store, &ring(&[&new, &old]))
        .await
        .expect("rotated");
    assert_eq!(
        done,
        Rotation {
            accounts: 0,
            secrets: 1,
            signing_keys: 1,
            second_factors: 0,
            unreadable: vec![]
        }
    );
    let again = rotate(&app.gateway.store, &ring(&[&new, &old]))
        .await
        .expect("nothing left");
    assert_eq!(again, Rotation::default());
    app.gateway.snapshots.refresh().await.expect("loaded");
    assert_eq!(
        call(&app.client(token.clone()), "search").await,
        Ok(12),
        "a running server goes on"
    );

    let app = app.restart(&[("TOOLGATE_SECRETS_KEY", &new), egress]).await;
    let client = app.client(token);
    assert_eq!(
        call(&client, "search").await,
        Ok(12),
        "the old key is not needed any more"
    );
    let shown = client.get(&format!("{SECRETS}/KEY")).await.expect(200);
    assert_eq!(shown.header("etag"), revision, "the value is the same");
}

#[tokio::test]
async fn a_value_whose_key_is_gone_is_there_but_cannot_be_used() {
    let base = echo().await;
    let egress = ("TOOLGATE_EGRESS_ALLOW", base.as_str());
    // The signing key is plain, because the server first started without a key.
    let app = TestApp::new().await;
    let app = app.restart(&[("TOOLGATE_SECRETS_KEY", &key(1)), egress]).await;
    let admin = app.demo().await;
    admin
        .upload("/projects/demo/tools", &presenting("search", &base, "KEY"))
        .await
        .expect(201);
    set(&admin, "KEY", None, "twelve bytes").await.expect(201);

    let app = app.restart(&[("TOOLGATE_SECRETS_KEY", &key(2)), egress]).await;
    let admin = app.admin().await;
    assert_eq!(
        admin.get(&format!("{SECRETS}/KEY")).await.expect(200).json()["readable"],
        false
    );
    assert!(
        call(&admin, "search")
            .await
            .expect_err("not readable")
            .contains("cannot read it")
    );
    set(&admin, "KEY", Some("*"), "ten bytes!").await.expect(200);
    assert_eq!(call(&admin, "search").await, Ok(10));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_value_is_used_by_every_server() {
    let base = echo().await;
    let url = new_database().await;
    let (key, url) = (key(1), url);
    let settings = [
        ("TOOLGATE_EGRESS_ALLOW", base.as_str()),
        ("TOOLGATE_DATABASE_URL", &url),
        ("TOOLGATE_SECRETS_KEY", &key),
    ];
    let (first, second) = (TestApp::with(&settings).await, TestApp::with(&settings).await);
    second.run_background();
    let admin = first.demo().await;
    admin
        .upload("/projects/demo/tools", &presenting("search", &base, "KEY"))
        .await
        .expect(201);
    set(&admin, "KEY", None, "twelve bytes").await.expect(201);
    let there = second.client(admin.token.clone().expect("a token"));
    while there.get(&format!("{SECRETS}/KEY")).await.status != 200 {
        tokio::task::yield_now().await;
    }
    assert_eq!(call(&there, "search").await, Ok(12));
    set(&admin, "KEY", Some("*"), "ten bytes!").await.expect(200);
    while call(&there, "search").await != Ok(10) {
        tokio::task::yield_now().await;
    }
    toolgate::gateway::secrets::keep_uses(&second.gateway)
        .await
        .expect("kept");
    let shown = admin.get(&format!("{SECRETS}/KEY")).await.expect(200).json();
    assert!(
        shown["last_used_at"].is_string(),
        "the first server knows what the second one used"
    );
}
