//! A project as one file: exported, previewed and imported into the same or another project.

use axum::http::Method;
use serde_json::{Value, json};

use crate::support::{ANY, Answer, Client, NEW, PASSWORD, TestApp, tool};

const EXPORT: &str = "/projects/demo/export";
/// A value that no file may have.
const SECRET: &str = "a value that is in no file";
/// Encrypts it.
const KEY: &str = "qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqo=";

async fn send(client: &Client<'_>, method: Method, path: &str, body: &Value) -> Answer {
    let conditions = if method == Method::PUT { &ANY } else { &NEW };
    client.send_json(method, path, conditions, body).await
}

/// A project with something in every section.
async fn furnish(app: &TestApp, admin: &Client<'_>) {
    let demo = |path: &str| format!("/projects/demo/{path}");
    let puts = [
        ("egress", json!({"hosts": ["https://api.example.com"]})),
        (
            "settings",
            json!({"sessions": "required", "start_states": ["results"], "alerts": {"window_s": 60}}),
        ),
        (
            "limits",
            json!({"limits": [{"name": "all", "subject": {"kind": "each_key"}, "requests": {"count": 9, "per_s": 60}}]}),
        ),
        ("secrets/HOOK", json!({"value": SECRET})),
    ];
    for (path, body) in puts {
        let answer = send(admin, Method::PUT, &demo(path), &body).await;
        assert!(answer.status.is_success(), "{path}: {}", answer.text());
    }
    let made = [
        ("groups/knowledge", json!({"description": "Reads"})),
        ("states/results", json!({"description": "Found"})),
        (
            "guides/searching",
            json!({"summary": "How to search", "text": "# One"}),
        ),
        (
            "mcp-servers/weather",
            json!({"url": "https://api.example.com/mcp", "headers": {"X-Key": "${secret:WEATHER}"}}),
        ),
    ];
    for (path, body) in made {
        let answer = admin.send_json(Method::PUT, &demo(path), &NEW, &body).await;
        assert!(answer.status.is_success(), "{path}: {}", answer.text());
    }
    let yaml = tool("find", "https://api.example.com", "/find", "group: [knowledge]\n");
    admin.upload(&demo("tools"), &yaml).await.expect(201);
    let user = json!({"username": "ada", "password": PASSWORD});
    let user = admin.post("/users", &user).await.expect(201).json();
    let grant = json!({"role": "viewer", "groups": [{"group": "knowledge"}]});
    let path = demo(&format!(
        "permissions/user:{}",
        user["id"].as_str().expect("an id")
    ));
    admin
        .send_json(Method::PUT, &path, &NEW, &grant)
        .await
        .expect(201);
    let test = json!([{"name": "reads", "granted": ["knowledge"], "group": ["knowledge"], "tool": "find",
                       "expect": {"effect": "allow"}}]);
    let test = json!({ "policy_tests": test });
    admin.post(&demo("policy-tests"), &test).await.expect(201);
    let _key = app.key(admin, "demo", "agent", &["knowledge"]).await;
}

async fn import(client: &Client<'_>, project: &str, query: &str, file: &str) -> Answer {
    client
        .upload(&format!("/projects/{project}/import{query}"), file)
        .await
}

/// `section name` of the parts with an outcome.
fn parts(report: &Value, outcome: &str) -> Vec<String> {
    let parts = report["parts"].as_array().expect("parts").iter();
    parts
        .filter(|part| part["outcome"] == outcome)
        .map(|part| {
            let text = |key: &str| part[key].as_str().expect("a text").to_owned();
            format!("{} {}", text("section"), text("name")).trim().to_owned()
        })
        .collect()
}

#[tokio::test]
async fn a_project_is_brought_to_another_one_by_its_file() {
    let app = TestApp::with(&[("TOOLGATE_SECRETS_KEY", KEY)]).await;
    let admin = app.demo().await;
    furnish(&app, &admin).await;
    let exported = admin.get(EXPORT).await.expect(200);
    assert_eq!(exported.header("content-type"), "application/yaml");
    assert_eq!(
        exported.header("content-disposition"),
        "attachment; filename=\"project-demo.yaml\""
    );
    let file = exported.text();
    assert!(!file.contains(SECRET) && file.contains("- WEATHER"), "{file}");
    assert!(!file.contains("service_key"), "{file}");

    admin.post("/projects", &json!({"id": "copy"})).await.expect(201);
    let preview = import(&admin, "copy", "?dry_run=true", &file)
        .await
        .expect(200)
        .json();
    assert_eq!(preview["dry_run"], true);
    assert_eq!(preview["missing_secrets"], json!(["HOOK", "WEATHER"]));
    let new = [
        "mcp_servers weather",
        "groups knowledge",
        "states results",
        "tools find",
        "guides searching",
        "grants ada",
        "policy_tests reads",
    ];
    assert_eq!(parts(&preview, "created"), new, "{preview}");
    assert_eq!(parts(&preview, "changed"), ["egress", "settings", "limits"]);
    assert_eq!(
        admin.get("/projects/copy/tools").await.json()["total"],
        0,
        "nothing was stored"
    );

    let done = import(&admin, "copy", "", &file).await.expect(200).json();
    assert_eq!(done["parts"], preview["parts"]);
    assert_eq!(
        admin.get("/projects/copy/settings").await.json()["sessions"],
        "required"
    );
    let copied = admin.get("/projects/copy/export").await.expect(200).text();
    // Nothing refers to this secret, and the copy has none.
    let expected = file.replace("  - HOOK\n", "");
    assert_eq!(copied.replace("name: copy", "name: Demonstration"), expected);

    let again = import(&admin, "copy", "", &file).await.expect(200).json();
    assert_eq!(parts(&again, "created"), [""; 0]);
    assert_eq!(parts(&again, "changed"), [""; 0]);
}

#[tokio::test]
async fn a_file_with_faults_changes_nothing_and_every_fault_has_its_place() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let file = "toolgate_project: 1\ngroups: {ok: {}, bad: {condition: 'now +'}}\ntools:\n- {name: t, type: nothing}\n\
                grants:\n- {role: viewer, groups: []}\nsettings: {start_states: []}\n";
    let refused = import(&admin, "demo", "", file)
        .await
        .problem(422, "invalid_request");
    let pointers: Vec<&str> = refused["errors"]
        .as_array()
        .expect("faults")
        .iter()
        .map(|fault| fault["pointer"].as_str().expect("a place"))
        .collect();
    for place in ["/settings/start_states", "/groups/bad/condition", "/grants/0"] {
        assert!(pointers.contains(&place), "{place}: {refused}");
    }
    assert!(
        pointers.iter().any(|place| place.starts_with("/tools/0")),
        "{refused}"
    );
    admin
        .get("/projects/demo/groups/ok")
        .await
        .problem(404, "not_found");
    import(&admin, "demo", "", "tools: []")
        .await
        .problem(422, "invalid_request");
}

#[tokio::test]
async fn an_owner_leaves_the_egress_list_and_the_own_grant_as_they_are() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let owner = json!({"username": "olga", "password": PASSWORD});
    let olga = admin.post("/users", &owner).await.expect(201).json();
    let grant = json!({"role": "owner", "groups": [{"group": "*"}]});
    let path = format!(
        "/projects/demo/permissions/user:{}",
        olga["id"].as_str().expect("an id")
    );
    admin
        .send_json(Method::PUT, &path, &NEW, &grant)
        .await
        .expect(201);
    let login = json!({"username": "olga", "password": PASSWORD});
    let olga = app.sign_in(&login).await;
    let file = "toolgate_project: 1\negress: {hosts: ['https://api.example.com']}\ngrants:\n\
                - {user: olga, role: viewer, groups: []}\n- {user: unknown, role: viewer, groups: []}\nstates: {done: {}}\n";
    let done = import(&olga, "demo", "", file).await.expect(200).json();
    assert_eq!(
        parts(&done, "skipped"),
        ["egress", "grants olga", "grants unknown"]
    );
    assert_eq!(parts(&done, "created"), ["states done"]);
    assert_eq!(
        admin.get("/projects/demo/egress").await.json()["hosts"],
        json!([])
    );
    assert_eq!(admin.get(&path).await.json()["role"], "owner");
}
