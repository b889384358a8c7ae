//! How the server is doing, for operators and for projects.

use serde_json::{Value, json};

use crate::support::{TestApp, echo, tool};

fn check<'v>(status: &'v Value, id: &str) -> &'v Value {
    status["checks"]
        .as_array()
        .unwrap()
        .iter()
        .find(|check| check["id"] == id)
        .unwrap_or_else(|| panic!("{id} is not in {status}"))
}

fn has(status: &Value, id: &str) -> bool {
    status["checks"]
        .as_array()
        .unwrap()
        .iter()
        .any(|check| check["id"] == id)
}

#[tokio::test]
async fn operators_see_everything_with_how_to_correct_it() {
    let app = TestApp::with(&[("TOOLGATE_ADMIN_PASSWORD", "correct horse battery staple")]).await;
    let admin = app.demo().await;
    let status = admin.get("/status").await.expect(200).json();
    for id in [
        "database",
        "record_writer",
        "record_integrity",
        "instances",
        "signing_key",
        "configuration",
    ] {
        assert_eq!(check(&status, id)["status"], "ok", "{status}");
    }
    assert!(
        check(&status, "database")["summary"]
            .as_str()
            .unwrap()
            .starts_with("SQLite answers in ")
    );
    assert_eq!(check(&status, "message_bus")["summary"], "Not configured.");
    let key = check(&status, "secrets_key");
    assert_eq!(key["status"], "warning");
    assert!(key["fix"].as_str().unwrap().contains("TOOLGATE_SECRETS_KEY"));
    assert_eq!(status["status"], "warning", "the worst of the checks");
    assert!(
        status["checks"]
            .as_array()
            .unwrap()
            .iter()
            .all(|check| (check["status"] == "ok") == check.get("fix").is_none()),
        "{status}"
    );
}

#[tokio::test]
async fn a_project_sees_what_concerns_it_and_who_may() {
    let base = echo().await;
    let app = TestApp::with(&[("TOOLGATE_EGRESS_ALLOW", &base)]).await;
    let admin = app.demo().await;
    admin.post("/projects", &json!({"id": "other"})).await.expect(201);
    for project in ["demo", "other"] {
        admin
            .upload(&format!("/projects/{project}/tools"), &tool("a", &base, "/x", ""))
            .await
            .expect(201);
        admin
            .post(&format!("/projects/{project}/calls"), &json!({"tool": "a"}))
            .await
            .expect(200);
    }
    let of_demo = "/status?project_id=demo";
    for role in ["owner", "editor", "auditor"] {
        let client = app.key(&admin, "demo", role, &[]).await;
        let status = client.get(of_demo).await.expect(200).json();
        assert_eq!(
            check(&status, "upstream:demo:127.0.0.1")["status"],
            "ok",
            "{status}"
        );
        assert!(!has(&status, "upstream:other:127.0.0.1"), "{status}");
        assert!(
            !has(&status, "private_egress"),
            "the configuration is the operator's"
        );
        client.get("/status").await.problem(403, "forbidden");
        client
            .get("/status?project_id=other")
            .await
            .problem(404, "not_found");
        client
            .get("/status?project_id=none")
            .await
            .problem(404, "not_found");
    }
    for role in ["viewer", "agent"] {
        let client = app.key(&admin, "demo", role, &["*"]).await;
        client.get(of_demo).await.problem(403, "forbidden");
    }
    app.anonymous().get(of_demo).await.problem(401, "unauthenticated");
    let all = admin.get("/status").await.expect(200).json();
    assert!(
        has(&all, "upstream:other:127.0.0.1") && has(&all, "private_egress"),
        "{all}"
    );
    admin
        .get(&format!("/status?project_id={}", "x".repeat(64)))
        .await
        .problem(400, "malformed_request");
    admin
        .get("/status?project=demo")
        .await
        .problem(400, "malformed_request");
}

#[tokio::test]
async fn what_does_not_work_is_reported() {
    // Nothing listens on the discard port of this machine.
    let dead = "http://127.0.0.1:9";
    let app = TestApp::with(&[
        ("TOOLGATE_EGRESS_ALLOW", dead),
        (
            "TOOLGATE_SECRETS_KEY",
            "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
        ),
    ])
    .await;
    let admin = app.demo().await;
    let yaml = format!(
        "name: a\ntype: openapi\ndescription: A.\nparameters: {{type: object, properties: {{k: {{type: string}}}}}}\noptions:\n  envs: {{k: \"secret:MISSING\"}}\n  http: {{base_url: \"{dead}\", path: /x, header: {{x-k: k}}}}\n---\n{}",
        tool("b", dead, "/x", "")
    );
    admin.upload("/projects/demo/tools", &yaml).await.expect(201);
    admin
        .post("/projects/demo/calls", &json!({"tool": "b"}))
        .await
        .expect(200);
    let status = admin.get("/status?project_id=demo").await.expect(200).json();
    let upstream = check(&status, "upstream:demo:127.0.0.1");
    assert_eq!(upstream["status"], "failing", "{status}");
    assert!(
        upstream["summary"]
            .as_str()
            .unwrap()
            .contains("1 failed in the last hour")
    );
    let secrets = check(&status, "secrets:demo");
    assert_eq!(secrets["status"], "warning");
    assert!(
        secrets["summary"].as_str().unwrap().contains("MISSING"),
        "{secrets}"
    );

    // Without the database it still answers, with what it knows.
    app.gateway.store.close().await;
    let status = admin.get("/status?project_id=demo").await.expect(200).json();
    assert_eq!(check(&status, "database")["status"], "failing", "{status}");
    assert_eq!(status["status"], "failing");
}
