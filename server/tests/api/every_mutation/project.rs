//! What is set for a project, and what is seen of it.

use serde_json::json;

use super::{NO, Trial, change, demo};
use crate::support::{ANY, PASSWORD};

/// Projects, and what is set for them.
pub(super) async fn settings(trial: &mut Trial<'_>) {
    let starts = trial.records("settings").await;
    let start = &starts[0];
    assert_eq!(change(start)["change"], "server_started");
    assert!(!start.to_string().contains(PASSWORD), "{start}");
    trial
        .does(
            "create_project",
            "project",
            "/projects",
            &NO,
            &json!({"id": "demo"}),
        )
        .await;
    let settings = json!({"alerts": {"escalation_attempts": 1}});
    let (_, record) = trial
        .does("replace_settings", "settings", &demo("settings"), &ANY, &settings)
        .await;
    assert_eq!(change(&record)["after"]["alerts"]["escalation_attempts"], 1);
    assert!(change(&record)["before"]["alerts"].is_object(), "{record}");
    trial
        .does(
            "replace_limits",
            "settings",
            &demo("limits"),
            &ANY,
            &json!({"limits": []}),
        )
        .await;
    let egress = json!({"hosts": ["https://api.example.com"]});
    trial
        .does("replace_egress", "access", &demo("egress"), &ANY, &egress)
        .await;
    let secret = json!({"value": "a confidential value"});
    let (_, record) = trial
        .does(
            "set_secret",
            "secret",
            &demo("secrets/SEARCH_API_KEY"),
            &NO,
            &secret,
        )
        .await;
    assert_eq!(change(&record)["name"], "SEARCH_API_KEY");
    assert!(!record.to_string().contains("confidential"), "{record}");
    trial
        .does(
            "delete_secret",
            "secret",
            &demo("secrets/SEARCH_API_KEY"),
            &ANY,
            &json!({}),
        )
        .await;
}

/// Requests for what was refused.
pub(super) async fn requests(trial: &mut Trial<'_>) {
    let wish =
        json!({"asked": {"kind": "host", "origin": "https://asked.example.com"}, "reason": "The report."});
    let (asked, record) = trial
        .does("ask_for_access", "access", &demo("access-requests"), &NO, &wish)
        .await;
    assert_eq!(change(&record)["asked"]["origin"], "https://asked.example.com");
    let decision = demo(&format!(
        "access-requests/{}/decision",
        asked["id"].as_str().expect("an id")
    ));
    let decline = json!({"verdict": "decline", "note": "Not now."});
    let (_, record) = trial
        .does("decide_access_request", "access", &decision, &NO, &decline)
        .await;
    assert_eq!(change(&record)["decision"], "declined");
}

/// Views of the record.
pub(super) async fn views(trial: &mut Trial<'_>) {
    let view = json!({"name": "Failures", "query": "outcome=failed", "shared": true});
    let (saved, record) = trial
        .does("save_view", "settings", &demo("saved-views"), &NO, &view)
        .await;
    assert_eq!(change(&record)["view"], "Failures");
    let saved = demo(&format!("saved-views/{}", saved["id"].as_str().expect("an id")));
    let (_, record) = trial
        .does("delete_saved_view", "settings", &saved, &NO, &json!({}))
        .await;
    assert_eq!(change(&record)["change"], "view_deleted");
}

/// The end of the project.
pub(super) async fn end(trial: &mut Trial<'_>) {
    let export = trial.admin.get(&demo("audit/export")).await.expect(200);
    assert!(!export.body.is_empty());
    assert_eq!(trial.records("export").await.len(), 1);
    let renamed = json!({"name": "Another name"});
    let (_, record) = trial
        .does("rename_project", "project", "/projects/demo", &ANY, &renamed)
        .await;
    assert_eq!(change(&record)["renamed_to"], "Another name");
    let (_, record) = trial
        .does("delete_project", "project", "/projects/demo", &ANY, &json!({}))
        .await;
    assert_eq!(change(&record)["project"], "demo");
}
