//! Reading the record.

use std::net::SocketAddr;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{Method, StatusCode};
use serde_json::json;

use crate::support::{Client, TestApp, serve, tool};

#[tokio::test]
async fn records_are_filtered_and_paged_newest_first() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    admin
        .upload(
            "/projects/demo/tools",
            &tool("a", "https://s.jina.ai", "/x", "group: [g]\n"),
        )
        .await
        .expect(201);
    let agent = app.key(&admin, "demo", "agent", &["default"]).await;
    for body in [
        json!({"tool": "nope"}),
        json!({"tool": "a"}),
        json!({"tool": "a", "group": ["g"]}),
    ] {
        assert!(
            !agent
                .post("/projects/demo/calls", &body)
                .await
                .status
                .is_success()
        );
    }
    agent.post("/projects/demo/resolve", &json!({})).await.expect(200);
    let codes = async |query: &str| {
        let page = admin
            .get(&format!(
                "/projects/demo/audit?principal_kind=service_key&{query}"
            ))
            .await
            .expect(200)
            .json();
        page["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|record| record["code"].as_str().unwrap_or("-").to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        codes("").await,
        [
            "-",
            "insufficient_tool_groups",
            "tool_not_in_groups",
            "tool_not_found"
        ]
    );
    assert_eq!(codes("action=call").await.len(), 3);
    assert_eq!(codes("tool=a").await.len(), 2);
    assert_eq!(
        codes("outcome=denied&code=tool_not_found").await,
        ["tool_not_found"]
    );
    assert_eq!(codes("outcome=succeeded").await, ["-"]);
    assert_eq!(codes("principal_id=nobody").await, [""; 0]);
    assert_eq!(codes("until=2000-01-01T00:00:00Z").await, [""; 0]);
    assert_eq!(codes("since=2000-01-01T00:00:00Z").await.len(), 4);
    assert_eq!(
        codes("order=oldest_first&action=call").await,
        ["tool_not_found", "tool_not_in_groups", "insufficient_tool_groups"]
    );
    for (query, count) in [
        ("principal_name=agent%20key", 4),
        ("requested_group=g", 1),
        ("requested_group=default", 3),
        ("granted_group=default", 4),
        ("missing_group=g", 1),
        ("state_before=undefined", 4),
        ("state_after=undefined", 4),
        ("state_conflict=false", 4),
        ("state_conflict=true", 0),
        ("max_duration_ms=0", 4),
        ("min_duration_ms=1", 0),
        ("revision=2", 0),
        ("q=nope", 1),
        ("q=TOOL_NOT*", 2),
        ("q=agent&tool=a&missing_group=g", 1),
        ("q=agent%20nothing", 0),
        ("snapshot_version=0", 0),
        ("session_id=00000000-0000-7000-8000-000000000000", 0),
        ("address=192.0.2.1", 0),
    ] {
        assert_eq!(codes(query).await.len(), count, "{query}");
    }

    let first = admin
        .get("/projects/demo/audit?principal_kind=service_key&limit=3")
        .await
        .expect(200)
        .json();
    let cursor = first["next_cursor"].as_str().unwrap();
    let rest = admin
        .get(&format!(
            "/projects/demo/audit?principal_kind=service_key&limit=3&cursor={cursor}"
        ))
        .await
        .expect(200)
        .json();
    assert_eq!(rest["items"].as_array().unwrap().len(), 1);
    assert_eq!(rest["items"][0]["code"], "tool_not_found");
    let long = format!("tool={}", "x".repeat(129));
    for query in [
        "outcome=x",
        "id=x",
        "since=yesterday",
        "cursor=x",
        "nope=1",
        "limit=0",
        "limit=201",
        "order=sideways",
        "state_conflict=maybe",
        "revision=0",
        "min_duration_ms=-1",
        "q=",
        "q=%20-%20",
        "tool=a&tool=b",
        &long,
    ] {
        admin
            .get(&format!("/projects/demo/audit?{query}"))
            .await
            .problem(400, "malformed_request");
    }
}

#[tokio::test]
async fn secrets_in_arguments_are_not_kept() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let body = json!({"tool": "nope", "arguments": {"password": "canary-1", "q": "Bearer abcdefghijklmnopqrstuvwxyz0123456789", "n": 1}});
    admin
        .post("/projects/demo/calls", &body)
        .await
        .problem(404, "tool_not_found");
    let auditor = app.auditor(&admin).await;
    let text = auditor.get("/projects/demo/audit").await.expect(200).text();
    assert!(text.contains("\"n\":1"), "arguments are shown: {text}");
    assert!(
        !text.contains("canary-1") && !text.contains("abcdefghijklmnopqrstuvwxyz"),
        "{text}"
    );
}

/// A call with arguments and context, by an agent; answers its id.
async fn told(app: &TestApp, admin: &Client<'_>) -> String {
    let agent = app.key(admin, "demo", "agent", &["default"]).await;
    let body =
        json!({"tool": "nope", "arguments": {"subject": "Marmalade"}, "context": {"trace_id": "trace-7"}});
    let problem = agent
        .post("/projects/demo/calls", &body)
        .await
        .problem(404, "tool_not_found");
    problem["call_id"].as_str().expect("an id").to_owned()
}

#[tokio::test]
async fn only_auditors_see_what_was_passed_along() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let id = told(&app, &admin).await;
    let owner = app.key(&admin, "demo", "owner", &["*"]).await;
    let auditor = app.auditor(&admin).await;
    let path = format!("/projects/demo/audit/{id}");
    for reader in [&admin, &owner] {
        let record = reader.get(&path).await.expect(200).json();
        assert_eq!(record["payloads_hidden"], true, "{record}");
        for name in ["arguments", "context", "provenance"] {
            assert_eq!(record.get(name), None, "{record}");
        }
        let page = reader.get("/projects/demo/audit?q=nope").await.expect(200);
        assert_eq!(page.json()["items"][0], record);
        assert!(!page.text().contains("Marmalade") && !page.text().contains("trace-7"));
        // Neither a search nor a filter discloses what is hidden.
        let found = reader
            .get("/projects/demo/audit?q=marmalade")
            .await
            .expect(200)
            .json();
        assert_eq!(found["items"], json!([]));
        for query in ["trace_id=trace-7", "trace_id=other", "turn_epoch=1"] {
            reader
                .get(&format!("/projects/demo/audit?{query}"))
                .await
                .problem(403, "forbidden");
        }
    }
    let record = auditor.get(&path).await.expect(200).json();
    assert_eq!(record["arguments"], json!({"subject": "Marmalade"}));
    assert_eq!(record["context"], json!({"trace_id": "trace-7"}));
    assert_eq!(record.get("payloads_hidden"), None);
    for query in [
        "q=marmalade",
        "q=trace-7",
        "trace_id=trace-7",
        "q=subject&trace_id=trace-7",
    ] {
        let found = auditor
            .get(&format!("/projects/demo/audit?{query}"))
            .await
            .expect(200)
            .json();
        assert_eq!(found["items"], json!([record]), "{query}");
    }
    let found = auditor
        .get("/projects/demo/audit?trace_id=other")
        .await
        .expect(200)
        .json();
    assert_eq!(found["items"], json!([]));
}

#[tokio::test]
async fn a_system_administrator_sees_payloads_as_an_auditor_of_the_project_only() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let id = told(&app, &admin).await;
    let body =
        json!({"username": "second", "password": "correct horse battery staple", "system_admin": true});
    let user = admin.post("/users", &body).await.expect(201).json();
    let body = json!({"username": "second", "password": "correct horse battery staple"});
    let second = app.sign_in(&body).await;
    let path = format!("/projects/demo/audit/{id}");
    assert_eq!(
        second.get(&path).await.expect(200).json()["payloads_hidden"],
        true
    );

    let grant = format!(
        "/projects/demo/permissions/user:{}",
        user["id"].as_str().expect("an id")
    );
    let request = second
        .request(Method::PUT, &grant)
        .header("content-type", "application/json")
        .header("if-none-match", "*")
        .body(Body::from(json!({"role": "auditor", "groups": []}).to_string()))
        .expect("a request");
    second.send(request).await.expect(201);
    let record = second.get(&path).await.expect(200).json();
    assert_eq!(record["arguments"], json!({"subject": "Marmalade"}));
    // Everything else it may do as before.
    second.get("/projects/demo/keys").await.expect(200);
}

#[tokio::test]
async fn one_record_is_found_in_its_own_project_only() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    admin.post("/projects", &json!({"id": "other"})).await.expect(201);
    let id = told(&app, &admin).await;
    let record = admin
        .get(&format!("/projects/demo/audit/{id}"))
        .await
        .expect(200)
        .json();
    assert_eq!(record["id"], id.as_str());
    for path in [
        format!("/projects/other/audit/{id}"),
        "/projects/demo/audit/00000000-0000-7000-8000-000000000000".to_owned(),
        "/projects/demo/audit/nothing".to_owned(),
    ] {
        admin.get(&path).await.problem(404, "not_found");
    }
}

#[tokio::test]
async fn the_address_of_a_client_is_on_the_record() {
    let app = TestApp::with(&[("TOOLGATE_TRUSTED_PROXIES", "10.0.0.0/8, 192.0.2.1")]).await;
    let admin = app.demo().await;
    let peer = |address: &str| ConnectInfo(address.parse::<SocketAddr>().expect("an address"));
    for (from, said, recorded) in [
        ("198.51.100.7:4000", "203.0.113.9", "198.51.100.7"),
        ("10.1.2.3:4000", "203.0.113.9, 10.9.9.9", "203.0.113.9"),
        ("192.0.2.1:4000", "198.51.100.1, 203.0.113.8", "203.0.113.8"),
    ] {
        let mut request = admin
            .request(Method::POST, "/projects/demo/resolve")
            .header("content-type", "application/json")
            .header("x-forwarded-for", said)
            .body(Body::from("{}"))
            .expect("a request");
        request.extensions_mut().insert(peer(from));
        admin.send(request).await.expect(200);
        let page = admin
            .get(&format!("/projects/demo/audit?address={recorded}"))
            .await
            .expect(200)
            .json();
        assert_eq!(page["items"].as_array().map(Vec::len), Some(1), "{page}");
        assert_eq!(page["items"][0]["address"], recorded);
    }
}

#[tokio::test]
async fn the_record_of_a_failed_call_says_where_it_went_and_why_it_failed() {
    let base = serve(Router::new().fallback(|| async { StatusCode::BAD_GATEWAY })).await;
    let app = TestApp::with(&[("TOOLGATE_EGRESS_ALLOW", &base)]).await;
    let admin = app.demo().await;
    admin
        .upload("/projects/demo/tools", &tool("a", &base, "/x", ""))
        .await
        .expect(201);
    let answer = admin
        .post("/projects/demo/calls", &json!({"tool": "a"}))
        .await
        .expect(200)
        .json();
    let path = format!(
        "/projects/demo/audit/{}",
        answer["call_id"].as_str().expect("an id")
    );
    let failure = json!({"upstream": "127.0.0.1", "upstream_status": 502});
    let record = admin.get(&path).await.expect(200).json();
    assert_eq!(record["failure"], failure, "not its message: {record}");
    let auditor = app.auditor(&admin).await;
    let record = auditor.get(&path).await.expect(200).json();
    assert_eq!(record["failure"]["message"], answer["error"]["message"]);
}
