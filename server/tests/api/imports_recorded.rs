//! Imports on the record, and what must not be there.

use std::time::Duration;

use axum::body::Body;
use axum::http::{Method, header};
use serde_json::{Value, json};

use crate::canary::Captured;
use crate::imports_kept::{PETS, again, description, make, pet};
use crate::support::{ANY, Client, TestApp, dropped_after, serve};

const CHANGE: &str = "/projects/demo/quarantine/getPet";

fn pets(version: &str, summary: &str) -> Value {
    description(version, json!({"/pets/{id}": {"get": pet(summary, &[])}}))
}

/// What the record says about imports, the oldest first: outcome, code and arguments.
async fn records(client: &Client<'_>) -> Vec<(Value, Value, Value)> {
    let mut page = client
        .get("/projects/demo/audit?action=import&order=oldest_first")
        .await
        .expect(200)
        .json();
    let items = page["items"].as_array_mut().expect("items");
    items
        .iter_mut()
        .map(|record| {
            assert_eq!(record["principal_name"], "admin");
            (
                record["outcome"].take(),
                record["code"].take(),
                record["arguments"].take(),
            )
        })
        .collect()
}

#[tokio::test]
async fn imports_and_decisions_are_on_the_record() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    make(&admin, PETS, &pets("1", "Get a pet")).await.expect(201);
    admin
        .send_json(
            Method::PUT,
            &format!("{PETS}?dry_run=true"),
            &[],
            &pets("2", "Get one pet"),
        )
        .await
        .expect(200);
    again(&admin, PETS, &pets("2", "Get one pet")).await.expect(200);
    admin
        .send_json(Method::POST, &format!("{CHANGE}/reject"), &ANY, &json!({}))
        .await
        .expect(204);
    again(&admin, PETS, &pets("3", "Get the pet")).await.expect(200);
    let approve = json!({"conflicts": "theirs"});
    admin
        .send_json(Method::POST, &format!("{CHANGE}/approve"), &ANY, &approve)
        .await
        .expect(200);
    admin.delete(PETS, Some("*")).await.expect(204);

    let done = |arguments: Value| (json!("succeeded"), Value::Null, arguments);
    assert_eq!(
        records(&admin).await,
        [
            done(
                json!({"change": "import", "import": "pets", "version": "1", "new": {"count": 1, "tools": ["getPet"]}})
            ),
            done(
                json!({"change": "import", "import": "pets", "version": "2", "waiting": {"count": 1, "tools": ["getPet"]}})
            ),
            done(json!({"change": "reject_imported", "import": "pets", "tool": "getPet"})),
            done(
                json!({"change": "import", "import": "pets", "version": "3", "waiting": {"count": 1, "tools": ["getPet"]}})
            ),
            done(
                json!({"change": "approve_imported", "import": "pets", "tool": "getPet", "conflicts": "theirs"})
            ),
            done(json!({"change": "delete_import", "import": "pets", "version": "3", "operations": 1})),
        ]
    );
}

#[tokio::test]
async fn an_import_that_policy_tests_refuse_is_on_the_record_as_failed() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let tests = json!([{"name": "no-pets", "granted": ["*"], "tool": "getPet", "expect": {"effect": "deny", "code": "tool_not_found"}}]);
    admin
        .post("/projects/demo/policy-tests", &json!({"policy_tests": tests}))
        .await
        .expect(201);
    make(&admin, PETS, &pets("1", "Get a pet"))
        .await
        .problem(409, "policy_test_failed");
    let records = records(&admin).await;
    assert_eq!(records.len(), 1);
    assert_eq!(
        (&records[0].0, &records[0].1),
        (&json!("failed"), &json!("policy_test_failed"))
    );
}

#[tokio::test]
async fn credentials_that_do_not_exist_are_reported() {
    let app = TestApp::with(&[("TOOLGATE_TOOL_ENV", "OFFERED,UNSET"), ("OFFERED", "a value")]).await;
    let admin = app.demo().await;
    let mut pets = pets("1", "Get a pet");
    let key = |name: &str| json!({"type": "apiKey", "in": "header", "name": name});
    pets["components"]["securitySchemes"] = json!({"a": key("X-A"), "b": key("X-B")});
    pets["security"] = json!([{"a": [], "b": []}]);
    for (credentials, expected) in [
        (
            "a=OFFERED,b=secret:NOT_SET",
            vec![("/credentials/b", "no secret NOT_SET")],
        ),
        ("a=UNSET,b=OFFERED", vec![("/credentials/a", "UNSET is not set")]),
        (
            "a=OFFERED,b=HIDDEN",
            vec![("/credentials/b", "may not use the variable HIDDEN")],
        ),
        (
            "a=OFFERED,b=OFFERED,c=OFFERED",
            vec![("/credentials/c", "no operation")],
        ),
        ("a=OFFERED,b=OFFERED", vec![]),
    ] {
        for (method, path) in [
            (Method::POST, "/projects/demo/imports?".to_owned()),
            (Method::PUT, format!("{PETS}?dry_run=true&")),
        ] {
            let path = format!("{path}credentials={credentials}");
            let report = admin
                .send_json(method, &path, &[], &pets)
                .await
                .expect(200)
                .json();
            let warnings = report["warnings"].as_array().expect("warnings");
            assert_eq!(warnings.len(), expected.len(), "{credentials}: {warnings:?}");
            for (warning, (pointer, part)) in warnings.iter().zip(&expected) {
                assert_eq!(
                    (&warning["severity"], &warning["pointer"]),
                    (&json!("warning"), &json!(pointer))
                );
                assert!(
                    warning["message"].as_str().expect("text").contains(part),
                    "{warning}"
                );
                assert!(warning["hint"].is_string(), "{warning}");
            }
        }
    }
}

/// A user writes a key where an address or a name belongs. The import is refused, and the key is stored nowhere.
#[tokio::test]
async fn a_key_in_what_an_import_says_is_nowhere() {
    const KEY: &str = "sk-canary-4711";
    let captured = Captured::default();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(captured.clone())
        .with_ansi(false)
        .finish();
    let guard = tracing::subscriber::set_default(subscriber);
    // See `canary`: with a second subscriber every one is asked.
    let _second = tracing::Dispatch::new(tracing::subscriber::NoSubscriber::default());
    let api = description("1", json!({"/pets": {"get": {"operationId": "getPets"}}}));
    let served = api.clone();
    let answer = move || {
        let api = served.clone();
        async move { axum::Json(api) }
    };
    let base = serve(axum::Router::new().fallback(answer)).await;
    let app = TestApp::with(&[("TOOLGATE_EGRESS_ALLOW", &base)]).await;
    let admin = app.demo().await;
    let mut answers = Vec::new();
    for query in [
        format!("url={base}/openapi.json?api_key={KEY}"),
        format!("url={base}/openapi.json%3Faccess_token={KEY}%26v=1"),
        format!("url=http://user:{KEY}@{}/openapi.json", &base[7..]),
        format!("credentials=key={KEY}"),
        format!("credentials=key=secret:{KEY}"),
        format!("credentials=key=Bearer%20{KEY}"),
    ] {
        let sent = if query.starts_with("url") {
            Body::empty()
        } else {
            Body::from(api.to_string())
        };
        let mut request = admin
            .request(Method::PUT, &format!("{PETS}?{query}"))
            .header(header::IF_NONE_MATCH, "*");
        if !query.starts_with("url") {
            request = request.header(header::CONTENT_TYPE, "application/json");
        }
        let answer = admin.send(request.body(sent).expect("a request")).await;
        let text = String::from_utf8_lossy(&answer.body).into_owned();
        answer.problem(400, "malformed_request");
        answers.push((query, text));
    }
    // One that is fetched is on the record; its address is the import's, not the record's or the log's.
    let url = format!("{PETS}?url={base}/openapi.json?v={KEY}");
    let request = admin
        .request(Method::PUT, &url)
        .header(header::IF_NONE_MATCH, "*");
    admin
        .send(request.body(Body::empty()).expect("a request"))
        .await
        .expect(201);
    let refresh = format!("{PETS}/refresh");
    admin
        .send_json(Method::POST, &refresh, &ANY, &json!({}))
        .await
        .expect(200);
    drop(guard);

    for (query, text) in &answers {
        assert!(!text.contains(KEY), "{query} is answered {text}");
    }
    for action in ["", "?action=import"] {
        let record = admin
            .get(&format!("/projects/demo/audit{action}"))
            .await
            .expect(200);
        let record = String::from_utf8_lossy(&record.body).into_owned();
        assert!(record.contains("\"import\""), "{record}");
        assert!(!record.contains(KEY), "{record}");
    }
    let log = String::from_utf8_lossy(&captured.0.lock().expect("no panic")).into_owned();
    assert!(log.len() > 1_000, "something was logged");
    if let Some(at) = log.find(KEY) {
        panic!(
            "the log has the key: ...{}...",
            &log[at.saturating_sub(300)..(at + 60).min(log.len())]
        );
    }
}

/// Wherever the caller disconnects, what has begun is completed.
#[tokio::test]
async fn a_caller_that_goes_away_leaves_a_complete_record() {
    let app = TestApp::new().await;
    let admin = app.admin().await;
    let pets = description("1", json!({"/pets": {"get": {}}}));
    let mut polls = 0;
    loop {
        // Each in a project of its own, so that none is in the way of another.
        polls += 1;
        let project = json!({"id": format!("p{polls}"), "name": "Pets"});
        admin.post("/projects", &project).await.expect(201);
        let path = format!("/projects/p{polls}/imports/pets");
        if dropped_after(polls, make(&admin, &path, &pets)).await {
            break;
        }
    }
    let settled = async {
        let mut done = 0;
        for project in 1..=polls {
            let path = format!("/projects/p{project}/audit?action=import");
            loop {
                let page = admin.get(&path).await.expect(200).json();
                let outcome = &page["items"][0]["outcome"];
                if outcome == "open" {
                    tokio::task::yield_now().await;
                    continue;
                }
                if outcome.is_string() {
                    assert_eq!(outcome, "succeeded");
                    done += 1;
                    let path = format!("/projects/p{project}/imports/pets");
                    admin.get(&path).await.expect(200);
                }
                break;
            }
        }
        done
    };
    let done = tokio::time::timeout(Duration::from_secs(20), settled)
        .await
        .expect("no record stays open");
    // The last one was waited for. Of the others, those that had begun were done all the same.
    assert!(done > 1, "{done} of {polls}");
}
