//! The history of tools.

use serde_json::json;

use crate::support::{TestApp, tool};

const TOOLS: &str = "/projects/demo/tools";
const BASE: &str = "https://s.jina.ai";

#[tokio::test]
async fn every_change_is_a_revision_and_can_be_taken_back() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    admin
        .upload(&format!("{TOOLS}?note=first"), &tool("a", BASE, "/one", ""))
        .await
        .expect(201);
    admin
        .upload(TOOLS, &tool("a", BASE, "/two", ""))
        .await
        .expect(200);
    admin
        .delete(&format!("{TOOLS}/a?note=gone"), Some("*"))
        .await
        .expect(204);

    let list = admin
        .get(&format!("{TOOLS}/a/revisions"))
        .await
        .expect(200)
        .json();
    let rows: Vec<_> = list["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            (
                row["revision"].as_i64().unwrap(),
                row["deleted"].as_bool().unwrap(),
                row["note"].as_str().unwrap_or("").to_owned(),
            )
        })
        .collect();
    assert_eq!(
        rows,
        [
            (3, true, "gone".into()),
            (2, false, String::new()),
            (1, false, "first".into())
        ]
    );
    assert_eq!(list["items"][0]["author"], "admin");

    let one = admin
        .get(&format!("{TOOLS}/a/revisions/1"))
        .await
        .expect(200)
        .json();
    assert_eq!(one["definition"]["options"]["http"]["path"], "/one");
    let diff = admin
        .get(&format!("{TOOLS}/a/diff?from=1&to=2"))
        .await
        .expect(200)
        .json();
    assert!(diff["diff"].as_str().unwrap().contains("/two"));
    assert_eq!(
        admin
            .get(&format!("{TOOLS}/a/diff?from=1&to=1"))
            .await
            .expect(200)
            .json()["diff"],
        ""
    );

    let restored = admin
        .post(&format!("{TOOLS}/a/revisions/1/restore"), &json!({}))
        .await
        .expect(200)
        .json();
    assert_eq!(restored["items"][0]["revision"], 4);
    let now = admin
        .get(&format!("{TOOLS}/a/revisions/4"))
        .await
        .expect(200)
        .json();
    assert_eq!(now["definition"], one["definition"]);
    admin
        .post(&format!("{TOOLS}/a/revisions/3/restore"), &json!({}))
        .await
        .problem(422, "invalid_request");
    admin
        .get(&format!("{TOOLS}/a/revisions/9"))
        .await
        .problem(404, "not_found");
    admin
        .get(&format!("{TOOLS}/b/revisions"))
        .await
        .problem(404, "tool_not_found");
}
