//! Taking a change of many tools back.

use serde_json::json;

use super::{BASE, CHANGES, TOOLS, definitions, outcomes, three};
use crate::support::{TestApp, tool};

#[tokio::test]
async fn undoing_restores_exactly_what_was_there_deleted_tools_too() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    three(&admin).await;
    let before = definitions(&admin).await;

    let changed = admin
        .post(
            CHANGES,
            &json!({"select": {"names": ["c", "a", "a"]}, "change": {"set_state": null, "add_states": ["z"], "remove_states": ["*"]}}),
        )
        .await
        .expect(200)
        .json();
    assert_eq!(
        outcomes(&changed),
        [("a", "changed", Some(2)), ("c", "changed", Some(2))]
    );
    let deleted = admin
        .post(
            CHANGES,
            &json!({"select": {"filter": {}}, "change": {"delete": true}}),
        )
        .await
        .expect(200)
        .json();
    assert_eq!(
        outcomes(&deleted),
        [
            ("a", "deleted", None),
            ("b", "deleted", None),
            ("c", "deleted", None)
        ]
    );
    assert_eq!(definitions(&admin).await, json!({}));

    // A dry run of the way back, then the way back of each change in turn.
    let dry = admin
        .post(&format!("{CHANGES}?dry_run=true"), &deleted["undo"])
        .await
        .expect(200)
        .json();
    assert_eq!(definitions(&admin).await, json!({}));
    let restored = admin.post(CHANGES, &deleted["undo"]).await.expect(200).json();
    assert_eq!(dry["items"], restored["items"]);
    assert_eq!(
        outcomes(&restored),
        [
            ("a", "restored", Some(4)),
            ("b", "restored", Some(3)),
            ("c", "restored", Some(4))
        ]
    );
    // Its history is whole: made, changed, deleted, restored.
    let history = admin
        .get(&format!("{TOOLS}/a/revisions"))
        .await
        .expect(200)
        .json();
    let deletions: Vec<bool> = history["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|revision| revision["deleted"].as_bool().unwrap())
        .collect();
    assert_eq!(deletions, [false, true, false, false]);

    // What was undone may be done again, from the answer to the undoing.
    let redone = admin.post(CHANGES, &restored["undo"]).await.expect(200).json();
    assert_eq!(
        outcomes(&redone),
        [
            ("a", "deleted", None),
            ("b", "deleted", None),
            ("c", "deleted", None)
        ]
    );
    admin.post(CHANGES, &redone["undo"]).await.expect(200);

    // The undo of the first change expects the revisions that it made; they are older now.
    admin
        .post(CHANGES, &changed["undo"])
        .await
        .problem(412, "precondition_failed");
    let mut first = changed["undo"].clone();
    for tool in first["undo"]["tools"].as_array_mut().unwrap() {
        tool["expect_revision"] = admin
            .get(&format!("{TOOLS}/{}", tool["name"].as_str().unwrap()))
            .await
            .expect(200)
            .json()["revision"]
            .clone();
    }
    admin.post(CHANGES, &first).await.expect(200);
    assert_eq!(definitions(&admin).await, before);
}

#[tokio::test]
async fn undoing_is_refused_when_one_tool_was_changed_since() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    three(&admin).await;
    let disabled = admin
        .post(
            CHANGES,
            &json!({"select": {"names": ["a", "b"]}, "change": {"enabled": false}}),
        )
        .await
        .expect(200)
        .json();
    admin
        .upload(TOOLS, &tool("b", BASE, "/other", ""))
        .await
        .expect(200);
    let before = definitions(&admin).await;
    let stale = admin
        .post(CHANGES, &disabled["undo"])
        .await
        .problem(412, "precondition_failed");
    assert_eq!(stale["errors"].as_array().unwrap().len(), 1);
    assert!(
        stale["errors"][0]["message"].as_str().unwrap().contains("\"b\""),
        "{stale}"
    );
    assert_eq!(definitions(&admin).await, before, "all or nothing");

    // A deleted tool that was made again, and one that was made again and deleted again.
    let deleted = admin
        .post(
            CHANGES,
            &json!({"select": {"names": ["a", "c"]}, "change": {"delete": true}}),
        )
        .await
        .expect(200)
        .json();
    admin
        .upload(TOOLS, &tool("a", BASE, "/new", ""))
        .await
        .expect(201);
    admin
        .post(CHANGES, &deleted["undo"])
        .await
        .problem(412, "precondition_failed");
    admin.delete(&format!("{TOOLS}/a"), Some("*")).await.expect(204);
    admin
        .post(CHANGES, &deleted["undo"])
        .await
        .problem(412, "precondition_failed");
}
