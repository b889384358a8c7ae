//! Tools and what they are made of.

use serde_json::{Value, json};

use super::{NO, Trial, change, demo};
use crate::support::{ANY, NEW};

/// Drafts: credentials are stored, tests are calls.
pub(super) async fn drafts(trial: &mut Trial<'_>) {
    let base = trial.base.clone();
    let pasted = json!({"text": format!("curl {base}/ping -H 'X-Api-Key: confidential'")});
    let draft = demo("definitions/draft");
    let (drafted, record) = trial
        .does("draft_definition", "secret", &draft, &NO, &pasted)
        .await;
    assert_eq!(change(&record)["name"], drafted["credentials"][0]["secret"]);
    assert!(!record.to_string().contains("confidential"), "{record}");
    let test = json!({"yaml": drafted["yaml"], "arguments": {}});
    let (_, record) = trial
        .does("test_definition", "test", &demo("definitions/test"), &NO, &test)
        .await;
    assert_eq!(record["tool"], "get_ping");
}

/// The project as a file.
pub(super) async fn file(trial: &mut Trial<'_>) {
    let file = json!({"toolgate_project": 1, "states": {"imported": {"description": "From a file"}}});
    let (_, record) = trial
        .does("import_project", "import", &demo("import"), &NO, &file)
        .await;
    assert_eq!(change(&record)["parts"][0]["name"], "imported");
}

/// Guides.
pub(super) async fn guides(trial: &mut Trial<'_>) {
    let guide = json!({"summary": "How to search", "text": "a text that is not repeated"});
    let (_, record) = trial
        .does("put_guide", "definition", &demo("guides/searching"), &NEW, &guide)
        .await;
    assert_eq!(change(&record)["guides"][0]["after"]["summary"], "How to search");
    assert!(!record.to_string().contains("not repeated"), "{record}");
    let upload = json!({"guide": {"reading": guide}});
    trial
        .does("upload_guides", "definition", &demo("guides"), &NO, &upload)
        .await;
    trial
        .does(
            "delete_guide",
            "definition",
            &demo("guides/reading"),
            &ANY,
            &json!({}),
        )
        .await;
}

/// Tools.
pub(super) async fn tools(trial: &mut Trial<'_>) {
    let base = trial.base.clone();
    let made = json!({
        "name": "ping", "type": "openapi", "description": "Pings.", "group": ["g"],
        "available_in_states": ["undefined", "s"], "parameters": {"type": "object", "properties": {}},
        "options": {"http": {"base_url": base, "path": "/ping"}},
    });
    let (_, record) = trial
        .does("upload_tools", "definition", &demo("tools"), &NO, &made)
        .await;
    let one = |before: Value, after: Value| json!([{"kind": "tool", "name": "ping", "before": before, "after": after}]);
    assert_eq!(change(&record)["change"], "upload");
    assert_eq!(change(&record)["definitions"], one(Value::Null, json!(1)));
    let mut other = made.clone();
    other["description"] = json!("Pings again.");
    let (_, record) = trial
        .does(
            "replace_tool",
            "definition",
            &demo("tools/ping?note=because"),
            &ANY,
            &other,
        )
        .await;
    assert_eq!(change(&record)["definitions"], one(json!(1), json!(2)));
    assert_eq!(change(&record)["note"], "because");
    let disable = json!({"select": {"names": ["ping"]}, "change": {"enabled": false}});
    let (_, record) = trial
        .does("change_tools", "definition", &demo("tool-changes"), &NO, &disable)
        .await;
    assert_eq!(change(&record)["definitions"], one(json!(2), json!(3)));
    let (_, record) = trial
        .does("delete_tool", "definition", &demo("tools/ping"), &ANY, &json!({}))
        .await;
    assert_eq!(change(&record)["definitions"], one(json!(3), Value::Null));
    let (_, record) = trial
        .does(
            "restore_tool_revision",
            "definition",
            &demo("tools/ping/revisions/1/restore"),
            &NO,
            &json!({}),
        )
        .await;
    assert_eq!(change(&record)["definitions"], one(Value::Null, json!(5)));
    let count = trial.records("definition").await.len();
    let dry = trial.admin.post(&demo("tools?dry_run=true"), &other).await;
    dry.expect(200);
    trial.admin.post(&demo("tools"), &made).await.expect(200);
    assert_eq!(
        trial.records("definition").await.len(),
        count,
        "nothing has changed"
    );
}

/// Groups, states and policy tests.
pub(super) async fn policy(trial: &mut Trial<'_>) {
    for (kind, name) in [("group", "g"), ("state", "s")] {
        let path = demo(&format!("{kind}s/{name}"));
        let id = |verb: &str| format!("{verb}_{kind}");
        trial
            .does(&id("put"), "policy", &path, &NEW, &json!({"description": "x"}))
            .await;
        trial
            .does(
                &id("rename"),
                "policy",
                &format!("{path}/rename"),
                &ANY,
                &json!({"to": "other"}),
            )
            .await;
        let renamed = demo(&format!("{kind}s/other"));
        trial
            .does(&id("delete"), "policy", &renamed, &ANY, &json!({}))
            .await;
    }
    let mut test =
        json!({"name": "t", "granted": ["x"], "group": ["x"], "tool": "ping", "expect": {"effect": "deny"}});
    trial
        .does(
            "upload_policy_tests",
            "policy",
            &demo("policy-tests"),
            &NO,
            &json!([test]),
        )
        .await;
    test["group"] = json!([]);
    let (_, record) = trial
        .does(
            "replace_policy_test",
            "policy",
            &demo("policy-tests/t"),
            &ANY,
            &test,
        )
        .await;
    let sides = &change(&record)["tests"][0];
    assert_eq!(
        (&sides["before"]["group"], &sides["after"]["group"]),
        (&json!(["x"]), &json!([]))
    );
    trial
        .does(
            "delete_policy_test",
            "policy",
            &demo("policy-tests/t"),
            &ANY,
            &json!({}),
        )
        .await;
}
