//! Changing many tools at once, and taking it back.

mod undo;

use serde_json::{Value, json};

use crate::support::{Client, TestApp, tool};

const TOOLS: &str = "/projects/demo/tools";
const CHANGES: &str = "/projects/demo/tool-changes";
const BASE: &str = "https://s.jina.ai";

async fn three(admin: &Client<'_>) {
    let yaml = [
        tool("a", BASE, "/a", "group: [g]\n"),
        tool("b", BASE, "/b", "group: [g, h]\navailable_in_states: [x]\n"),
        tool("c", BASE, "/c", "state: y\n"),
    ]
    .join("---\n");
    admin.upload(TOOLS, &yaml).await.expect(201);
}

/// What is stored: every definition, and every revision of every tool.
async fn definitions(admin: &Client<'_>) -> Value {
    let page = admin.get(TOOLS).await.expect(200).json();
    let tools = page["items"].as_array().unwrap();
    tools
        .iter()
        .map(|tool| {
            (
                tool["name"].as_str().unwrap().to_owned(),
                tool["definition"].clone(),
            )
        })
        .collect::<serde_json::Map<_, _>>()
        .into()
}

fn outcomes(result: &Value) -> Vec<(&str, &str, Option<i64>)> {
    result["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| {
            (
                item["name"].as_str().unwrap(),
                item["outcome"].as_str().unwrap(),
                item["revision"].as_i64(),
            )
        })
        .collect()
}

#[tokio::test]
async fn a_change_makes_a_revision_of_each_tool_with_its_note() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    three(&admin).await;
    let change = json!({
        "select": {"filter": {"group": "g"}},
        "change": {"enabled": false, "add_groups": ["h"]},
        "note": "maintenance", "expect_count": 2
    });
    let before = definitions(&admin).await;
    let dry = admin
        .post(&format!("{CHANGES}?dry_run=true"), &change)
        .await
        .expect(200)
        .json();
    assert_eq!(definitions(&admin).await, before, "a dry run changes nothing");
    assert_eq!(dry["dry_run"], true);
    assert_eq!(dry.get("undo"), None);

    let done = admin.post(CHANGES, &change).await.expect(200).json();
    assert_eq!(done["items"], dry["items"], "the verdict was the same");
    assert_eq!(
        outcomes(&done),
        [("a", "changed", Some(2)), ("b", "changed", Some(2))]
    );
    assert_eq!(done["count"], 2);
    let diff = done["items"][0]["diff"].as_str().unwrap();
    assert!(
        diff.contains("\n+enabled: false\n") && diff.contains("+  - h"),
        "{diff}"
    );
    let revision = admin
        .get(&format!("{TOOLS}/a/revisions/2"))
        .await
        .expect(200)
        .json();
    assert_eq!(
        (&revision["note"], &revision["definition"]["enabled"]),
        (&json!("maintenance"), &json!(false))
    );
    assert_eq!(
        admin.get(&format!("{TOOLS}/c")).await.expect(200).json()["revision"],
        1
    );

    // A second time there is nothing to do, and nothing to take back.
    let again = admin.post(CHANGES, &change).await.expect(200).json();
    assert_eq!(
        outcomes(&again),
        [("a", "unchanged", Some(2)), ("b", "unchanged", Some(2))]
    );
    assert_eq!(again.get("undo"), None);
}

#[tokio::test]
async fn different_changes_are_one_transaction_with_one_way_back() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    three(&admin).await;
    let before = definitions(&admin).await;
    let changes = json!({
        "changes": [
            {"select": {"names": ["c", "a"]}, "change": {"add_groups": ["new"]}},
            {"select": {"filter": {"group": "h"}}, "change": {"delete": true}, "expect_count": 1}
        ],
        "note": "tidied up"
    });
    let dry = admin
        .post(&format!("{CHANGES}?dry_run=true"), &changes)
        .await
        .expect(200)
        .json();
    assert_eq!(definitions(&admin).await, before, "a dry run changes nothing");
    let done = admin.post(CHANGES, &changes).await.expect(200).json();
    assert_eq!(done["items"], dry["items"], "the verdict was the same");
    assert_eq!(
        outcomes(&done),
        [
            ("a", "changed", Some(2)),
            ("b", "deleted", None),
            ("c", "changed", Some(2))
        ]
    );
    assert_eq!(done["count"], 3);
    let revision = admin
        .get(&format!("{TOOLS}/c/revisions/2"))
        .await
        .expect(200)
        .json();
    assert_eq!(revision["note"], "tidied up");
    assert_eq!(revision["definition"]["group"], json!(["default", "new"]));

    admin.post(CHANGES, &done["undo"]).await.expect(200);
    assert_eq!(definitions(&admin).await, before);
}

#[tokio::test]
async fn one_fault_among_several_changes_stops_them_all() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    three(&admin).await;
    let off = json!({"enabled": false});
    let fine = json!({"select": {"names": ["a"]}, "change": off});
    for (second, status, code, pointer) in [
        (
            json!({"select": {"names": ["b"]}, "change": {"add_groups": [" x"]}}),
            422,
            "invalid_request",
            "/changes/1/change/add_groups/0",
        ),
        (
            json!({"select": {"names": ["b", "none"]}, "change": off}),
            404,
            "tool_not_found",
            "/changes/1/select/names/1",
        ),
        (
            json!({"select": {"filter": {"group": "g"}}, "change": off, "expect_count": 1}),
            409,
            "selection_changed",
            "/changes/1/expect_count",
        ),
        (
            json!({"select": {"filter": {"group": "g"}}, "change": {"delete": true}}),
            422,
            "invalid_request",
            "/changes/1/select",
        ),
    ] {
        let problem = admin
            .post(CHANGES, &json!({"changes": [fine, second]}))
            .await
            .problem(status, code);
        assert_eq!(problem["errors"][0]["pointer"], pointer, "{second}");
    }
    for body in [
        json!({"changes": []}),
        json!({"changes": [fine], "select": {"names": ["b"]}}),
        json!({"changes": [["a"]]}),
        json!({"changes": vec![fine; 1001]}),
    ] {
        admin.post(CHANGES, &body).await.problem(422, "invalid_request");
    }
    let page = admin.get(TOOLS).await.expect(200).json();
    let mut tools = page["items"].as_array().unwrap().iter();
    assert!(tools.all(|tool| tool["revision"] == 1), "nothing was changed");
}

#[tokio::test]
async fn a_policy_test_guards_a_change_and_its_undoing() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    three(&admin).await;
    let expectation = "name: a-is-there\ntool: a\ngranted: [g]\ngroup: [g]\nexpect: {effect: allow}\n";
    let uploaded = admin.upload("/projects/demo/policy-tests", expectation).await;
    assert!(uploaded.status.is_success(), "{}", uploaded.text());
    let change = json!({"select": {"names": ["a", "b"]}, "change": {"enabled": false}});
    let refused = admin
        .post(CHANGES, &change)
        .await
        .problem(409, "policy_test_failed");
    assert_eq!(refused["broken_policy_tests"][0]["name"], "a-is-there");
    assert_eq!(
        admin.get(&format!("{TOOLS}/b")).await.expect(200).json()["enabled"],
        true,
        "all or nothing"
    );
    let dry = admin
        .post(&format!("{CHANGES}?dry_run=true"), &change)
        .await
        .expect(200)
        .json();
    assert_eq!(dry["policy_tests"]["failed"][0]["name"], "a-is-there");
    let done = admin
        .post(&format!("{CHANGES}?ignore_policy_tests=true"), &change)
        .await
        .expect(200)
        .json();
    let note = &admin
        .get(&format!("{TOOLS}/b/revisions/2"))
        .await
        .expect(200)
        .json()["note"];
    assert!(note.as_str().unwrap().contains("a-is-there"), "{note}");
    // The undo meets the expectation again, so nothing blocks it.
    admin.post(CHANGES, &done["undo"]).await.expect(200);
}

#[tokio::test]
async fn what_cannot_be_done_says_what_and_where() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    three(&admin).await;
    let off = json!({"enabled": false});
    for (body, status, code, pointer) in [
        (json!({}), 422, "invalid_request", None),
        (json!({"select": {"names": ["a"]}}), 422, "invalid_request", None),
        (
            json!({"select": {"names": ["a"]}, "change": {"enabeld": false}}),
            422,
            "invalid_request",
            None,
        ),
        (
            json!({"select": {"names": ["a"], "filter": {}}, "change": off}),
            422,
            "invalid_request",
            None,
        ),
        (
            json!({"select": {"filter": []}, "change": off}),
            422,
            "invalid_request",
            None,
        ),
        (
            json!({"select": {"names": ["a"]}, "change": [false]}),
            422,
            "invalid_request",
            None,
        ),
        (
            json!({"undo": {"tools": [["a", 1, 1]]}}),
            422,
            "invalid_request",
            None,
        ),
        (
            json!({"select": {"names": []}, "change": off}),
            422,
            "invalid_request",
            Some("/select/names"),
        ),
        (
            json!({"select": {"names": ["a"]}, "change": {}}),
            422,
            "invalid_request",
            Some("/change"),
        ),
        (
            json!({"select": {"names": ["a"]}, "change": {"delete": true, "enabled": true}}),
            422,
            "invalid_request",
            Some("/change/delete"),
        ),
        (
            json!({"select": {"names": ["a"]}, "change": {"add_groups": [" x"]}}),
            422,
            "invalid_request",
            Some("/change/add_groups/0"),
        ),
        (
            json!({"select": {"names": ["a", "none"]}, "change": off}),
            404,
            "tool_not_found",
            Some("/select/names/1"),
        ),
        (
            json!({"select": {"filter": {}}, "change": off, "expect_count": 2}),
            409,
            "selection_changed",
            None,
        ),
        (
            json!({"undo": {"tools": []}}),
            422,
            "invalid_request",
            Some("/undo/tools"),
        ),
        (
            json!({"undo": {"tools": [{"name": "a", "revision": 1}]}}),
            422,
            "invalid_request",
            None,
        ),
        (
            json!({"undo": {"tools": [{"name": "a", "revision": 1, "expect_revision": 1}, {"name": "a", "revision": 1, "expect_revision": 1}]}}),
            422,
            "invalid_request",
            Some("/undo/tools/1/name"),
        ),
        (
            json!({"undo": {"tools": [{"name": "a", "revision": 0, "expect_revision": 1}]}}),
            422,
            "invalid_request",
            Some("/undo/tools/0/revision"),
        ),
        (
            json!({"undo": {"tools": [{"name": "a", "revision": 9, "expect_revision": 1}]}}),
            404,
            "not_found",
            None,
        ),
        (
            json!({"undo": {"tools": [{"name": "never", "revision": 1, "expect_revision": null}]}}),
            412,
            "precondition_failed",
            None,
        ),
    ] {
        let problem = admin.post(CHANGES, &body).await.problem(status, code);
        if let Some(pointer) = pointer {
            assert_eq!(problem["errors"][0]["pointer"], pointer, "{body}");
        }
    }
    let note = "x".repeat(501);
    admin
        .post(
            CHANGES,
            &json!({"select": {"names": ["a"]}, "change": off, "note": note}),
        )
        .await
        .problem(400, "malformed_request");
    let page = admin.get(TOOLS).await.expect(200).json();
    assert!(
        page["items"]
            .as_array()
            .unwrap()
            .iter()
            .all(|tool| tool["revision"] == 1),
        "nothing was changed"
    );
}

#[tokio::test]
async fn parallel_changes_are_each_whole() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    three(&admin).await;
    let changes = (0..6).map(|n| {
        let admin = admin.clone();
        async move {
            let change = json!({"select": {"filter": {}}, "change": {"add_groups": [format!("new{n}")]}});
            admin.post(CHANGES, &change).await.expect(200).json()
        }
    });
    let results = futures_util::future::join_all(changes).await;
    // Each made one revision of each tool, and none of them lost what another one did.
    let mut revisions: Vec<i64> = results
        .iter()
        .map(|result| result["items"][0]["revision"].as_i64().unwrap())
        .collect();
    revisions.sort_unstable();
    assert_eq!(revisions, [2, 3, 4, 5, 6, 7]);
    let groups = admin.get(&format!("{TOOLS}/a")).await.expect(200).json()["group"].clone();
    assert_eq!(groups.as_array().unwrap().len(), 7, "{groups}");
}
