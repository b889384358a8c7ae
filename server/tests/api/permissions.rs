//! Who holds what, and who may change it.

mod bounds;
pub(crate) mod external;
mod matrix;
mod unused;

use axum::http::{Method, header};
use chrono::{TimeDelta, Utc};
use serde_json::{Value, json};

use crate::support::{ANY, Answer, Client, NEW, TestApp, echo, tool};

const PERMISSIONS: &str = "/projects/demo/permissions";

/// Percent-encodes a principal for a path.
fn path_of(principal: &str) -> String {
    let encoded = percent_encoding::utf8_percent_encode(principal, percent_encoding::NON_ALPHANUMERIC);
    format!("{PERMISSIONS}/{encoded}")
}

async fn grant(client: &Client<'_>, principal: &str, terms: &Value) -> Answer {
    client
        .send_json(Method::PUT, &path_of(principal), &NEW, terms)
        .await
}

pub(crate) async fn replace(client: &Client<'_>, principal: &str, terms: &Value) -> Answer {
    client
        .send_json(Method::PUT, &path_of(principal), &ANY, terms)
        .await
}

pub(crate) fn terms(role: &str, groups: &[&str]) -> Value {
    let groups: Vec<Value> = groups.iter().map(|group| json!({"group": group})).collect();
    json!({"role": role, "groups": groups})
}

fn in_seconds(seconds: i64) -> String {
    #[expect(
        clippy::disallowed_methods,
        reason = "the application under test runs on the machine's clock"
    )]
    let now = Utc::now();
    (now + TimeDelta::seconds(seconds)).to_rfc3339_opts(chrono::SecondsFormat::Millis, true)
}

/// A new user, signed in: the principal and the client.
async fn person<'a>(app: &'a TestApp, admin: &Client<'_>, username: &str) -> (String, Client<'a>) {
    let body = json!({"username": username, "password": "a long enough password"});
    let created = admin.post("/users", &body).await.expect(201).json();
    let principal = created["principal"].as_str().expect("a principal").to_owned();
    (principal, app.sign_in(&body).await)
}

/// What the record says about changes of access, newest first: outcome, code, change, principal.
async fn trail(client: &Client<'_>) -> Vec<Value> {
    let page = client
        .get("/projects/demo/audit?action=access")
        .await
        .expect(200)
        .json();
    page["items"].as_array().expect("items").clone()
}

fn row<'a>(matrix: &'a Value, principal: &str) -> &'a Value {
    let rows = matrix["items"].as_array().expect("rows");
    rows.iter()
        .find(|row| row["principal"] == principal)
        .unwrap_or_else(|| panic!("{principal} is not in {matrix}"))
}

/// `group: how[ via][ until]` of each cell.
fn cells(row: &Value) -> Vec<String> {
    let cell = |cell: &Value| {
        let via = cell["via"]
            .as_str()
            .map(|via| format!(" via {via}"))
            .unwrap_or_default();
        format!(
            "{}: {}{via}",
            cell["group"].as_str().expect("a group"),
            cell["how"].as_str().expect("how")
        )
    };
    row["cells"].as_array().expect("cells").iter().map(cell).collect()
}

#[tokio::test]
async fn a_member_is_granted_changed_and_removed() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let (ada, ada_client) = person(&app, &admin, "ada").await;
    ada_client.get("/projects/demo").await.problem(404, "not_found");
    admin.get(&path_of(&ada)).await.problem(404, "not_found");

    let answer = grant(&admin, &ada, &terms("viewer", &["knowledge", "a/b"]))
        .await
        .expect(201);
    let first = answer.header("etag").to_owned();
    let granted = answer.json();
    assert_eq!(
        (&granted["name"], &granted["kind"]),
        (&json!("ada"), &json!("user"))
    );
    assert_eq!(
        granted["groups"],
        json!([{"group": "a/b"}, {"group": "knowledge"}])
    );
    assert_eq!(
        (&granted["granted_by"], &granted["in_force"]),
        (&json!("admin"), &json!(true))
    );
    let me = ada_client.get("/auth/me").await.expect(200).json();
    assert_eq!(
        me["projects"],
        json!([{
            "project_id": "demo", "role": "viewer", "groups": ["a/b", "knowledge"],
            "permissions": ["use", "read_definitions"],
        }])
    );
    let read = admin.get(&path_of(&ada)).await.expect(200);
    assert_eq!((read.header("etag"), read.json()), (first.as_str(), granted));

    // Made only once, replaced only as it was read.
    grant(&admin, &ada, &terms("viewer", &[]))
        .await
        .problem(412, "precondition_failed");
    let stale = [(header::IF_MATCH, "\"r0\"")];
    admin
        .send_json(Method::PUT, &path_of(&ada), &stale, &terms("viewer", &[]))
        .await
        .problem(412, "precondition_failed");
    admin
        .send_json(Method::PUT, &path_of(&ada), &[], &terms("viewer", &[]))
        .await
        .problem(428, "precondition_required");
    let as_read = [(header::IF_MATCH, first.as_str())];
    let second = admin
        .send_json(Method::PUT, &path_of(&ada), &as_read, &terms("editor", &["*"]))
        .await
        .expect(200);
    assert_ne!(second.header("etag"), first);
    assert_eq!(
        ada_client.get("/auth/me").await.json()["projects"][0]["groups"],
        json!(["*"])
    );

    admin
        .delete(&path_of(&ada), None)
        .await
        .problem(428, "precondition_required");
    admin
        .delete(&path_of(&ada), Some(&first))
        .await
        .problem(412, "precondition_failed");
    admin
        .delete(&path_of(&ada), Some(second.header("etag")))
        .await
        .expect(204);
    ada_client.get("/projects/demo").await.problem(404, "not_found");
    admin
        .delete(&path_of(&ada), Some("*"))
        .await
        .problem(404, "not_found");
    replace(&admin, &ada, &terms("viewer", &[]))
        .await
        .problem(412, "precondition_failed");

    let trail = trail(&admin).await;
    let said: Vec<_> = trail
        .iter()
        .map(|record| {
            let what = &record["arguments"];
            assert_eq!(
                (&what["principal"], &what["principal_name"]),
                (&json!(ada), &json!("ada"))
            );
            assert_eq!(
                (&record["outcome"], &record["principal_name"]),
                (&json!("succeeded"), &json!("admin"))
            );
            (what["before"]["role"].clone(), what["after"]["role"].clone())
        })
        .collect();
    assert_eq!(
        said,
        [
            (json!("editor"), json!(null)),
            (json!("viewer"), json!("editor")),
            (json!(null), json!("viewer"))
        ]
    );
}

#[tokio::test]
async fn a_change_is_effective_at_the_next_request() {
    let base = echo().await;
    let app = TestApp::with(&[("TOOLGATE_EGRESS_ALLOW", &base)]).await;
    let admin = app.demo().await;
    admin
        .upload(
            "/projects/demo/tools",
            &tool("search", &base, "/search", "group: [knowledge/read]\n"),
        )
        .await
        .expect(201);
    let key = app.key(&admin, "demo", "agent", &[]).await;
    let principal = admin.get("/projects/demo/keys").await.json()["items"][0]["principal"].clone();
    let principal = principal.as_str().expect("a principal");
    let call = json!({"tool": "search", "group": ["knowledge/read"]});
    key.post("/projects/demo/calls", &call)
        .await
        .problem(403, "insufficient_tool_groups");
    let body = json!({"group": []});
    let session = key
        .post("/projects/demo/sessions", &body)
        .await
        .expect(201)
        .json();

    replace(&admin, principal, &terms("agent", &["knowledge"]))
        .await
        .expect(200);
    key.post("/projects/demo/calls", &call).await.expect(200);
    let shown = admin.get("/projects/demo/keys").await.json();
    assert_eq!(shown["items"][0]["groups"], json!(["knowledge"]));

    // It ends by itself, without anything being changed.
    let soon = json!({"role": "agent", "groups": [{"group": "knowledge", "expires_at": in_seconds(2)}]});
    replace(&admin, principal, &soon).await.expect(200);
    key.post("/projects/demo/calls", &call).await.expect(200);
    while key.post("/projects/demo/calls", &call).await.status != 403 {
        tokio::task::yield_now().await;
    }
    let matrix = admin.get(PERMISSIONS).await.expect(200).json();
    assert_eq!(
        cells(row(&matrix, principal)),
        ["knowledge: expired", "knowledge/read: expired via knowledge"]
    );
    key.get("/projects/demo/tools").await.expect(200);

    admin.delete(&path_of(principal), Some("*")).await.expect(204);
    key.get("/projects/demo/tools").await.problem(404, "not_found");
    let session = format!(
        "/projects/demo/sessions/{}",
        session["id"].as_str().expect("an id")
    );
    key.get(&session).await.problem(404, "not_found");
    let shown = admin.get("/projects/demo/keys").await.json();
    assert_eq!(
        (&shown["items"][0]["role"], &shown["items"][0]["groups"]),
        (&json!(null), &json!([]))
    );
    grant(&admin, principal, &terms("agent", &["*"]))
        .await
        .expect(201);
    key.post("/projects/demo/calls", &call).await.expect(200);
    key.get(&session).await.expect(200);
}

#[tokio::test]
async fn terms_and_principals_are_checked() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let (ada, _) = person(&app, &admin, "ada").await;
    for (body, pointer) in [
        (terms("viewer", &["a", ""]), "/groups/1/group"),
        (terms("viewer", &[" a"]), "/groups/0/group"),
        (terms("viewer", &["a", "b", "a"]), "/groups/2/group"),
        (
            json!({"role": "viewer", "groups": [], "expires_at": "2020-01-01T00:00:00Z"}),
            "/expires_at",
        ),
        (
            json!({"role": "viewer", "groups": [{"group": "a", "expires_at": "2020-01-01T00:00:00Z"}]}),
            "/groups/0/expires_at",
        ),
    ] {
        let problem = grant(&admin, &ada, &body).await.problem(422, "invalid_request");
        assert_eq!(problem["errors"][0]["pointer"], pointer, "{body}");
    }
    let many: Vec<Value> = (0..1001).map(|n| json!({"group": format!("g{n}")})).collect();
    let problem = grant(&admin, &ada, &json!({"role": "agent", "groups": many})).await;
    assert_eq!(
        problem.problem(422, "invalid_request")["errors"][0]["pointer"],
        "/groups"
    );
    for body in [
        json!({"role": "boss", "groups": []}),
        json!({"role": "viewer"}),
        json!({"role": "viewer", "groups": ["a"]}),
    ] {
        grant(&admin, &ada, &body).await.problem(422, "invalid_request");
    }

    admin.post("/projects", &json!({"id": "other"})).await.expect(201);
    app.key(&admin, "other", "agent", &[]).await;
    let foreign = admin.get("/projects/other/keys").await.json()["items"][0]["principal"].clone();
    for nobody in [
        foreign.as_str().expect("a principal"),
        "user:00000000-0000-7000-8000-000000000000",
        "user:ada",
        "nonsense",
    ] {
        grant(&admin, nobody, &terms("viewer", &[]))
            .await
            .problem(404, "not_found");
        admin.get(&path_of(nobody)).await.problem(404, "not_found");
    }
    let unknown = "external:https://nowhere.test/|agent";
    grant(&admin, unknown, &terms("viewer", &[]))
        .await
        .problem(422, "invalid_request");
    let both = [(header::IF_MATCH, "*"), (header::IF_NONE_MATCH, "*")];
    admin
        .send_json(Method::PUT, &path_of(&ada), &both, &terms("viewer", &[]))
        .await
        .problem(400, "malformed_request");
}

#[tokio::test]
async fn owners_find_users_to_grant_something() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let owner = app.key(&admin, "demo", "owner", &[]).await;
    for n in 0..25 {
        let body = json!({"username": format!("agent-{n:02}"), "password": "a long enough password"});
        admin.post("/users", &body).await.expect(201);
    }
    let body = json!({"username": "ada", "display_name": "Ada Lovelace"});
    let ada = admin.post("/users", &body).await.expect(201).json();
    let find = async |text: &str| {
        let path = format!("{PERMISSIONS}/candidates?q={text}");
        owner.get(&path).await.expect(200).json()["items"]
            .as_array()
            .expect("items")
            .clone()
    };
    assert_eq!(find("AGENT").await.len(), 20, "a bounded number");
    let found = find("love").await;
    assert_eq!(
        found,
        [
            json!({"principal": ada["principal"], "username": "ada", "display_name": "Ada Lovelace", "granted": false})
        ]
    );
    grant(
        &admin,
        ada["principal"].as_str().expect("a principal"),
        &terms("viewer", &[]),
    )
    .await
    .expect(201);
    assert_eq!(find("ada").await[0]["granted"], true);
    for bad in ["", "?q=a", "?q=", &format!("?q={}", "a".repeat(65))] {
        let path = format!("{PERMISSIONS}/candidates{bad}");
        owner.get(&path).await.problem(400, "malformed_request");
    }
}

#[tokio::test]
async fn a_grant_breaks_no_policy_test_unless_that_is_wanted() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    admin
        .upload(
            "/projects/demo/tools",
            &tool("read", "https://s.jina.ai", "/x", "group: [knowledge]\n"),
        )
        .await
        .expect(201);
    let (ada, _) = person(&app, &admin, "ada").await;
    grant(&admin, &ada, &terms("agent", &["knowledge"]))
        .await
        .expect(201);
    let expectation = format!(
        "- name: ada-reads\n  principal: \"{ada}\"\n  group: [knowledge]\n  tool: read\n  expect: allow\n"
    );
    admin
        .upload("/projects/demo/policy-tests", &expectation)
        .await
        .expect(201);

    let path = path_of(&ada);
    let nothing = terms("agent", &["other"]);
    let problem = replace(&admin, &ada, &nothing)
        .await
        .problem(409, "policy_test_failed");
    assert!(problem.to_string().contains("ada-reads"), "{problem}");
    admin
        .delete(&path, Some("*"))
        .await
        .problem(409, "policy_test_failed");
    let kept = admin.get(&path).await.expect(200).json();
    assert_eq!(kept["groups"], json!([{"group": "knowledge"}]));
    // A parent serves as well, and so does a grant that has not ended yet.
    let soon = json!({"role": "viewer", "groups": [{"group": "*", "expires_at": in_seconds(600)}]});
    replace(&admin, &ada, &soon).await.expect(200);

    let path = format!("{path}?ignore_policy_tests=true");
    admin.delete(&path, Some("*")).await.expect(204);
    let record = trail(&admin).await.remove(0);
    let note = record["arguments"]["note"].as_str().expect("a note");
    assert!(note.contains("ada-reads"), "{note}");
}
