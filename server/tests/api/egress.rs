//! Where the tools of a project may connect to, beside where all may.

use axum::http::{Method, header};
use serde_json::{Value, json};

use crate::imports_kept::{PETS, description, make};
use crate::support::{ANY, Answer, Client, TestApp, echo, tool};

const EGRESS: &str = "/projects/demo/egress";

async fn put(client: &Client<'_>, tag: &str, hosts: &Value) -> Answer {
    client
        .send_json(
            Method::PUT,
            EGRESS,
            &[(header::IF_MATCH, tag)],
            &json!({ "hosts": hosts }),
        )
        .await
}

async fn call(client: &Client<'_>, project: &str) -> Value {
    let answer = client
        .post(&format!("/projects/{project}/calls"), &json!({"tool": "ping"}))
        .await
        .expect(200)
        .json();
    match answer["status"].as_str() {
        Some("succeeded") => json!("succeeded"),
        _ => answer["error"]["code"].clone(),
    }
}

#[tokio::test]
async fn a_listed_host_is_reached_at_once_by_that_project_only() {
    let upstream = echo().await.replace("127.0.0.1", "localhost");
    // The server permits the address, and no name.
    let app = TestApp::with(&[("TOOLGATE_EGRESS_ALLOW", "cidr:127.0.0.0/8")]).await;
    let admin = app.demo().await;
    admin.post("/projects", &json!({"id": "other"})).await.expect(201);
    for project in ["demo", "other"] {
        let uploaded = admin
            .upload(
                &format!("/projects/{project}/tools"),
                &tool("ping", &upstream, "/ping", ""),
            )
            .await
            .expect(201);
        assert!(uploaded.text().contains("egress"), "{}", uploaded.text());
        assert_eq!(call(&admin, project).await, "egress_denied");
    }
    let before = admin.get(EGRESS).await.expect(200);
    assert_eq!(
        (before.json(), before.header("etag")),
        (json!({"hosts": []}), "\"r0\"")
    );
    admin
        .send_json(Method::PUT, EGRESS, &[], &json!({"hosts": []}))
        .await
        .problem(428, "precondition_required");
    let owner = app.key(&admin, "demo", "owner", &["*"]).await;
    put(&owner, "*", &json!([upstream]))
        .await
        .problem(403, "forbidden");

    let changed = put(
        &admin,
        "\"r0\"",
        &json!([upstream, "https://a.example:443/", "https://a.example"]),
    )
    .await
    .expect(200);
    assert_eq!(
        (changed.json(), changed.header("etag")),
        (json!({"hosts": [upstream, "https://a.example"]}), "\"r1\"")
    );
    put(&admin, "\"r0\"", &json!([]))
        .await
        .problem(412, "precondition_failed");
    assert_eq!(
        (call(&admin, "demo").await, call(&admin, "other").await),
        (json!("succeeded"), json!("egress_denied"))
    );
    let explained = admin
        .post("/projects/demo/explain", &json!({"tool": "ping"}))
        .await
        .expect(200)
        .text();
    assert!(!explained.contains("egress_denied"), "{explained}");
    let mut pets = description("1", json!({"/pets": {"get": {}}}));
    pets["servers"][0]["url"] = json!(upstream);
    let report = make(&admin, PETS, &pets).await.expect(201).json();
    assert_eq!(report["import"]["hosts"][0]["allowed"], true);

    put(&admin, "\"r1\"", &json!([])).await.expect(200);
    assert_eq!(call(&admin, "demo").await, "egress_denied");
    assert_eq!(
        admin.get(PETS).await.expect(200).json()["hosts"][0]["allowed"],
        false
    );
}

#[tokio::test]
async fn a_change_is_on_the_record_of_the_project_and_of_the_server() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    put(&admin, "*", &json!(["https://a.example"])).await.expect(200);
    put(&admin, "*", &json!(["https://b.example"])).await.expect(200);
    let auditor = app.auditor(&admin).await;
    for (client, path) in [
        (&auditor, "/projects/demo/audit?action=access&limit=10"),
        (&admin, "/audit?limit=10"),
    ] {
        let page = client.get(path).await.expect(200).json();
        let changes: Vec<&Value> = page["items"]
            .as_array()
            .expect("records")
            .iter()
            .filter(|record| record["arguments"]["change"] == "egress_replaced")
            .collect();
        assert_eq!(changes.len(), 2, "{page}");
        assert_eq!(
            (&changes[0]["outcome"], &changes[0]["principal_name"]),
            (&json!("succeeded"), &json!("admin"))
        );
        assert_eq!(
            changes[0]["arguments"],
            json!({"change": "egress_replaced", "project": "demo", "before": ["https://a.example"], "after": ["https://b.example"]})
        );
    }
}

#[tokio::test]
async fn a_list_opens_no_way_inside() {
    let upstream = echo().await;
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let named = upstream.replace("127.0.0.1", "localhost");
    for entry in [
        upstream.as_str(),
        "http://10.0.0.1",
        "http://[::1]",
        "http://169.254.169.254",
        "cidr:127.0.0.0/8",
        "https://*.example",
        "https://a.example/x",
        "https://u:p@a.example",
        "a.example",
        "http://2130706433",
    ] {
        let problem = put(&admin, "*", &json!(["https://a.example", entry]))
            .await
            .problem(422, "invalid_request");
        assert_eq!(problem["errors"][0]["pointer"], "/hosts/1", "{problem}");
    }
    admin
        .send_json(Method::PUT, EGRESS, &ANY, &json!({"host": []}))
        .await
        .problem(422, "invalid_request");
    assert_eq!(admin.get(EGRESS).await.expect(200).json(), json!({"hosts": []}));
    // A name may be listed; what it resolves to is looked at when it is dialled.
    put(&admin, "*", &json!([named])).await.expect(200);
    admin
        .upload("/projects/demo/tools", &tool("ping", &named, "/ping", ""))
        .await
        .expect(201);
    assert_eq!(call(&admin, "demo").await, "egress_denied");
}

#[tokio::test]
async fn it_outlives_a_restart_and_goes_with_its_project() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    put(&admin, "*", &json!(["https://a.example"])).await.expect(200);
    let app = app.restart(&[]).await;
    let admin = app.admin().await;
    assert_eq!(
        admin.get(EGRESS).await.expect(200).json(),
        json!({"hosts": ["https://a.example"]})
    );
    admin.delete("/projects/demo", Some("*")).await.expect(204);
    admin.post("/projects", &json!({"id": "demo"})).await.expect(201);
    assert_eq!(admin.get(EGRESS).await.expect(200).json(), json!({"hosts": []}));
}
