//! Imports of descriptions whose schemas all lead to each other.

use serde_json::{Value, json};

use crate::imports_kept::{PETS, again, definition, description, make};
use crate::support::TestApp;

/// `PUT /things{n}` with a body of the schema `Thing{n}`, whose `next` is the next one's, without an end.
fn things(count: usize, fields: usize, words: &str) -> Value {
    let mut paths = json!({});
    let mut schemas = json!({});
    for at in 0..count {
        let mut properties = json!({});
        for field in 0..fields {
            properties[format!("field{field}")] =
                json!({"type": "string", "description": "A field of a thing"});
        }
        let next = format!("#/components/schemas/Thing{}", (at + 1) % count);
        properties["next"] = json!({ "$ref": next });
        schemas[format!("Thing{at}")] = json!({"type": "object", "properties": properties});
        let schema = json!({"$ref": format!("#/components/schemas/Thing{at}")});
        let body = json!({"content": {"application/json": {"schema": schema}}});
        let operation = json!({"operationId": format!("change{at}"), "requestBody": body});
        paths[format!("/things{at}")] = json!({ "put": operation });
    }
    schemas["Thing0"]["description"] = json!(words);
    let mut description = description("1", paths);
    description["components"] = json!({ "schemas": schemas });
    description
}

fn count(report: &Value, outcome: &str) -> usize {
    let operations = report["operations"].as_array().expect("operations").iter();
    operations
        .filter(|operation| operation["outcome"] == outcome)
        .count()
}

#[tokio::test]
async fn schemas_that_lead_to_each_other_are_imported_whole_and_again() {
    const COUNT: usize = 150;
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let first = things(COUNT, 12, "One");
    let report = make(&admin, PETS, &first).await.expect(201).json();
    assert_eq!(count(&report, "new"), COUNT);
    let note = report["operations"][0]["notes"][0].as_str().unwrap_or_default();
    assert!(note.starts_with("the schema is large"), "{note}");
    let tool = definition(&admin, "change7").await;
    assert_eq!(
        tool["parameters"]["properties"]["body"],
        json!({"$ref": "#/$defs/Thing7"})
    );
    assert!(tool["parameters"]["$defs"]["Thing8"]["properties"]["next"].is_object());

    let report = again(&admin, PETS, &first).await.expect(200).json();
    assert_eq!(count(&report, "unchanged"), COUNT);
    // Only the tools that know the schema have changed.
    let report = again(&admin, PETS, &things(COUNT, 12, "Two"))
        .await
        .expect(200)
        .json();
    let changed = count(&report, "changed");
    assert!((1..COUNT).contains(&changed), "{changed}");
    assert_eq!(changed + count(&report, "unchanged"), COUNT);
    let waiting = admin
        .get("/projects/demo/quarantine?limit=1")
        .await
        .expect(200)
        .json();
    assert_eq!(waiting["total"], changed);
}

/// What an import of a thousand operations costs: `cargo test -p toolgate --test api imports_large -- --ignored --nocapture`.
#[tokio::test]
#[ignore = "measures what a large import costs"]
async fn a_thousand_operations() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let (first, second) = (things(1_000, 12, "One"), things(1_000, 12, "Two"));
    let peak = || {
        let status = std::fs::read_to_string("/proc/self/status").expect("the process's status");
        let line = status
            .lines()
            .find(|line| line.starts_with("VmHWM"))
            .expect("the peak");
        line.split_whitespace().nth(1).expect("a number").to_owned()
    };
    println!("before: peak {} kB", peak());
    let start = std::time::Instant::now();
    let report = make(&admin, PETS, &first).await.expect(201).json();
    println!(
        "import: {:?}, {} new, peak {} kB",
        start.elapsed(),
        count(&report, "new"),
        peak()
    );
    for (what, description) in [("again", &first), ("changed", &second)] {
        let start = std::time::Instant::now();
        let report = again(&admin, PETS, description).await.expect(200).json();
        let (same, changed) = (count(&report, "unchanged"), count(&report, "changed"));
        println!(
            "{what}: {:?}, {same} unchanged, {changed} changed, peak {} kB",
            start.elapsed(),
            peak()
        );
    }
}
