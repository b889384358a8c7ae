//! Every operation of the API document that changes something leaves a record: the table fails for one that does not, and
//! for one that it does not know.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{HeaderName, Method, header};
use axum::routing::any;
use serde_json::{Value, json};
use toolgate::gateway::observe;
use totp_rs::{Builder, Secret};

use crate::imports_kept::{description, pet};
use crate::oauth;
use toolgate_api::presence::AnnouncerKind;
use toolgate_store::rows::{AnnouncedProgram, AnnouncementClaim, ProgramKey};

use crate::support::{ANY, Client, NEW, PASSWORD, TestApp, serve, tool};

/// Operations with a method that changes something, though they do not.
const HARMLESS: [(&str, &str); 9] = [
    (
        "login",
        "makes a token that is stored nowhere; refusals are in the log",
    ),
    (
        "issue_bus_token",
        "makes a token that is stored nowhere; the message that it is for is recorded",
    ),
    ("check_definitions", "checks a text"),
    (
        "connect_account",
        "says where a person goes; what comes of it is on the record",
    ),
    ("preview_import", "checks a text"),
    (
        "test_mcp_server",
        "connects and lists tools; nothing is stored or called",
    ),
    (
        "read_notifications",
        "what the user has read; others are not affected",
    ),
    (
        "replace_preferences",
        "how the dashboard looks for the user; others are not affected",
    ),
    ("run_policy_tests", "decides, like a test; nothing is called"),
];

const NO: [(HeaderName, &str); 0] = [];
const KEY: &str = "qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqo=";

/// Does one operation after the other, and looks for the record of each.
pub(crate) struct Trial<'a> {
    pub(crate) app: &'a TestApp,
    pub(crate) admin: Client<'a>,
    /// Method and path of every operation that is to leave a record.
    operations: BTreeMap<String, (String, String)>,
    done: BTreeSet<String>,
}

impl Trial<'_> {
    /// Does an operation, and gives its answer and its record.
    pub(crate) async fn does<const N: usize>(
        &mut self,
        id: &str,
        action: &str,
        path: &str,
        conditions: &[(HeaderName, &str); N],
        body: &Value,
    ) -> (Value, Value) {
        let (method, template) = self.operations[id].clone();
        assert_eq!(shape(&template, path), template, "{id}");
        let before = self.records(action).await;
        let method = Method::from_bytes(method.to_uppercase().as_bytes()).expect("a method");
        let answer = self.admin.send_json(method, path, conditions, body).await;
        assert!(
            answer.status.is_success(),
            "{id}: {} {}",
            answer.status,
            answer.text()
        );
        let after = self.records(action).await;
        let new = after.iter().find(|record| !before.contains(record));
        let new = new
            .unwrap_or_else(|| panic!("{id} leaves no record of {action}"))
            .clone();
        assert_eq!(new["outcome"], "succeeded", "{id}: {new}");
        self.done.insert(id.to_owned());
        let body = if answer.body.is_empty() {
            Value::Null
        } else {
            serde_json::from_slice(&answer.body).unwrap_or_default()
        };
        (body, new)
    }

    /// The records of an action, of the project and of the server, newest first.
    async fn records(&self, action: &str) -> Vec<Value> {
        let admin = self.app.admin().await;
        let mut found = Vec::new();
        for path in ["/projects/demo/audit", "/audit"] {
            let answer = admin.get(&format!("{path}?action={action}&limit=200")).await;
            if answer.status.is_success() {
                found.extend(answer.json()["items"].as_array().expect("items").clone());
            }
        }
        found
    }
}

/// A path with what a template leaves open as it is there.
fn shape(template: &str, path: &str) -> String {
    let path = path.split('?').next().unwrap_or_default();
    let parts = path.split('/').enumerate().map(|(at, given)| {
        let expected = template.split('/').nth(at).unwrap_or_default();
        if expected.starts_with('{') {
            expected
        } else {
            given
        }
    });
    parts.collect::<Vec<_>>().join("/")
}

pub(crate) fn change(record: &Value) -> &Value {
    &record["arguments"]
}

/// So many steps in one function need more of the stack than the thread of a test has.
#[test]
fn every_mutating_operation_leaves_a_record() {
    let steps = || {
        tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .expect("a runtime")
            .block_on(all_operations());
    };
    let thread = std::thread::Builder::new().stack_size(16 << 20).spawn(steps);
    if let Err(panic) = thread.expect("a thread").join() {
        std::panic::resume_unwind(panic);
    }
}

async fn all_operations() {
    let api = |version: &str| {
        let one = |name: &str| json!({"get": {"operationId": name, "summary": format!("{name} {version}")}});
        description(
            version,
            json!({"/a": one("getA"), "/b": one("getB"), "/c": one("getC"), "/pets/{id}": {"get": pet("Get", &[])}}),
        )
    };
    let fetched = api("1");
    let base = serve(
        Router::new()
            .route(
                "/openapi.json",
                any(move || {
                    let fetched = fetched.clone();
                    async move { axum::Json(fetched) }
                }),
            )
            .route("/hang", any(std::future::pending::<()>))
            .fallback(|| async { axum::Json(json!({"ok": true})) }),
    )
    .await;
    let upstream = crate::mcp_servers::Upstream::new(|_| None).await;
    let service = crate::accounts::Service::start().await;
    let allowed = format!("{base},{},{}", upstream.url, service.base);
    let nats = crate::nats::Nats::start();
    let app = TestApp::with(&[
        ("TOOLGATE_EGRESS_ALLOW", &allowed),
        ("TOOLGATE_SECRETS_KEY", KEY),
        ("TOOLGATE_NATS_URL", &nats.url()),
    ])
    .await;
    crate::bus::until_connected(&app, true).await;
    let document = app.anonymous().get("/openapi.json").await.expect(200).json();
    let mut operations = BTreeMap::new();
    for (path, item) in document["paths"].as_object().expect("paths") {
        for (method, operation) in item.as_object().expect("operations") {
            let id = operation["operationId"].as_str().expect("an id");
            if method != "get" && !HARMLESS.iter().any(|(harmless, _)| *harmless == id) {
                operations.insert(id.to_owned(), (method.clone(), path.clone()));
            }
        }
    }
    let expected: BTreeSet<String> = operations.keys().cloned().collect();
    let mut trial = Trial {
        app: &app,
        admin: app.admin().await,
        operations,
        done: BTreeSet::new(),
    };
    let demo = |rest: &str| format!("/projects/demo/{rest}");
    let none = json!({});

    // Projects, and what is set for them.
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
    let secret = json!({"value": "a value that nobody may see"});
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
    assert!(!record.to_string().contains("nobody may see"), "{record}");
    trial
        .does(
            "delete_secret",
            "secret",
            &demo("secrets/SEARCH_API_KEY"),
            &ANY,
            &none,
        )
        .await;

    // Requests for what was refused.
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

    // Views of the record.
    let view = json!({"name": "Failures", "query": "outcome=failed", "shared": true});
    let (saved, record) = trial
        .does("save_view", "settings", &demo("saved-views"), &NO, &view)
        .await;
    assert_eq!(change(&record)["view"], "Failures");
    let saved = demo(&format!("saved-views/{}", saved["id"].as_str().expect("an id")));
    let (_, record) = trial
        .does("delete_saved_view", "settings", &saved, &NO, &none)
        .await;
    assert_eq!(change(&record)["change"], "view_deleted");

    // Drafts: credentials are stored, tests are calls.
    let pasted = json!({"text": format!("curl {base}/ping -H 'X-Api-Key: nobody may see this'")});
    let draft = demo("definitions/draft");
    let (drafted, record) = trial
        .does("draft_definition", "secret", &draft, &NO, &pasted)
        .await;
    assert_eq!(change(&record)["name"], drafted["credentials"][0]["secret"]);
    assert!(!record.to_string().contains("nobody may see"), "{record}");
    let test = json!({"yaml": drafted["yaml"], "arguments": {}});
    let (_, record) = trial
        .does("test_definition", "test", &demo("definitions/test"), &NO, &test)
        .await;
    assert_eq!(record["tool"], "get_ping");

    // The project as a file.
    let file = json!({"toolgate_project": 1, "states": {"imported": {"description": "From a file"}}});
    let (_, record) = trial
        .does("import_project", "import", &demo("import"), &NO, &file)
        .await;
    assert_eq!(change(&record)["parts"][0]["name"], "imported");

    // Guides.
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
        .does("delete_guide", "definition", &demo("guides/reading"), &ANY, &none)
        .await;

    // Tool services.
    let spare = json!({"envs": {"key": "secret:KEY"}});
    trial
        .does(
            "put_tool_service",
            "definition",
            &demo("tool-services/spare"),
            &NO,
            &spare,
        )
        .await;
    trial
        .does(
            "delete_tool_service",
            "definition",
            &demo("tool-services/spare"),
            &ANY,
            &none,
        )
        .await;

    // What a service on the message bus announced, and what differs from the service.
    let gateway = &app.gateway;
    let uid = gateway
        .snapshots
        .now()
        .project("demo")
        .expect("the project")
        .row
        .uid;
    let jokes = json!({"id": "jokes", "request-queue": "tg.demo.a", "response-queue": "tg.demo.b"});
    trial
        .admin
        .upload(
            &demo("tools"),
            "tool-service: {jokes: {request-queue: tg.demo.x, response-queue: tg.demo.b}}",
        )
        .await
        .expect(201);
    let announced = AnnouncedProgram {
        key: ProgramKey {
            project: uid,
            kind: AnnouncerKind::ToolService,
            name: "jokes".to_owned(),
        },
        digest: "d".to_owned(),
        version: "1".to_owned(),
        instance: "a".to_owned(),
        started_at: gateway.clock.now(),
        announced_at: gateway.clock.now(),
        descriptor: Some(jokes),
        base: None,
        problems: Vec::new(),
        imported: false,
    };
    let claimed = gateway
        .store
        .claim_announcement(&announced, gateway.clock.now())
        .await;
    assert_eq!(claimed.expect("stored"), AnnouncementClaim::Mine);
    trial
        .does(
            "decide_announced_descriptor",
            "definition",
            &demo("tool-services/jokes/announced-descriptor"),
            &[],
            &json!({"decision": "approve", "digest": "d"}),
        )
        .await;

    // Dead letters of the message bus.
    let subject = "cg.v1r4.demo.main.cmd.tool.toolgate.run";
    for id in [1, 2] {
        bury(&app, subject).await;
        let letter = demo(&format!("dead-letters/{id}"));
        let (operation, path) = match id {
            1 => ("drop_dead_letter", letter),
            _ => ("retry_dead_letter", format!("{letter}/retry")),
        };
        let (_, record) = trial.does(operation, "settings", &path, &NO, &none).await;
        assert_eq!(change(&record)["subject"], subject);
    }

    Box::pin(a_card(&mut trial)).await;

    // Tools.
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
        .does("delete_tool", "definition", &demo("tools/ping"), &ANY, &none)
        .await;
    assert_eq!(change(&record)["definitions"], one(json!(3), Value::Null));
    let (_, record) = trial
        .does(
            "restore_tool_revision",
            "definition",
            &demo("tools/ping/revisions/1/restore"),
            &NO,
            &none,
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

    // Policy.
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
        trial.does(&id("delete"), "policy", &renamed, &ANY, &none).await;
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
            &none,
        )
        .await;

    // Imports.
    let import = demo("imports/pets");
    trial.does("put_import", "import", &import, &NEW, &api("1")).await;
    let newer = trial.admin.send_json(Method::PUT, &import, &ANY, &api("2")).await;
    newer.expect(200);
    trial
        .does(
            "approve_change",
            "import",
            &demo("quarantine/getA/approve"),
            &ANY,
            &none,
        )
        .await;
    trial
        .does(
            "reject_change",
            "import",
            &demo("quarantine/getB/reject"),
            &ANY,
            &none,
        )
        .await;
    let decision = json!({"select": {"import": "pets"}, "decision": "approve"});
    trial
        .does(
            "decide_changes",
            "import",
            &demo("quarantine-decisions"),
            &ANY,
            &decision,
        )
        .await;
    trial.does("delete_import", "import", &import, &ANY, &none).await;
    let kept = trial
        .admin
        .request(
            Method::PUT,
            &demo(&format!("imports/kept?adopt=true&url={base}/openapi.json")),
        )
        .header(header::IF_NONE_MATCH, "*")
        .body(Body::empty())
        .expect("a request");
    trial.admin.send(kept).await.expect(201);
    trial
        .does(
            "refresh_import",
            "import",
            &demo("imports/kept/refresh"),
            &ANY,
            &none,
        )
        .await;

    let server = json!({"url": upstream.url});
    let servers = json!({"mcpServers": {"weather": server}});
    let path = demo("mcp-servers/weather");
    trial
        .does("put_mcp_server", "settings", &path, &NO, &server)
        .await;
    trial
        .does("delete_mcp_server", "settings", &path, &ANY, &none)
        .await;
    trial
        .does("add_mcp_servers", "settings", &demo("mcp-servers"), &NO, &servers)
        .await;
    trial
        .does(
            "refresh_mcp_server",
            "import",
            &demo("mcp-servers/weather/refresh"),
            &NO,
            &none,
        )
        .await;

    let tools = include_str!("../../../openapi/examples/mcp-management.yaml");
    trial.admin.upload(&demo("tools"), tools).await.expect(201);
    let new = json!({"tool": "mcp_register_server", "group": ["*"], "arguments": {"server_name": "mine", "command": "uvx"}});
    trial.admin.post(&demo("calls"), &new).await.expect(200);
    let path = demo("mcp-servers/mine/approve");
    trial
        .does("approve_mcp_server", "settings", &path, &ANY, &none)
        .await;

    // Questions, calls and sessions.
    for (id, path, action) in [
        ("resolve_tools", "resolve", "resolve"),
        ("explain_tools", "explain", "explain"),
        ("create_agent_request", "agent-requests", "agent_request"),
        ("recommend_tools", "recommendations", "resolve"),
    ] {
        let body = match id {
            "explain_tools" => json!({"tool": "ping"}),
            "resolve_tools" => none.clone(),
            _ => json!({"question": "is it up?"}),
        };
        trial.does(id, action, &demo(path), &NO, &body).await;
    }
    let call = json!({"tool": "ping", "group": ["*"]});
    trial.does("call_tool", "call", &demo("calls"), &NO, &call).await;
    // One that runs until it is cancelled.
    let hang = tool("hang", &base, "/hang", "");
    trial.admin.upload(&demo("tools"), &hang).await.expect(201);
    let wait_not = [(HeaderName::from_static("prefer"), "respond-async")];
    let hanging = json!({"tool": "hang", "group": ["*"]});
    let admin = trial.admin.clone();
    let begun = admin
        .send_json(Method::POST, &demo("calls"), &wait_not, &hanging)
        .await;
    let id = begun.expect(202).json()["call_id"]
        .as_str()
        .expect("an id")
        .to_owned();
    trial
        .does("cancel_call", "cancel", &demo(&format!("calls/{id}")), &NO, &none)
        .await;
    trial
        .does(
            "invoke_tool",
            "call",
            &demo("tools/ping/invoke?group=*"),
            &NO,
            &none,
        )
        .await;
    let (session, _) = trial
        .does("create_session", "session", &demo("sessions"), &NO, &none)
        .await;
    let session = demo(&format!("sessions/{}", session["id"].as_str().expect("an id")));
    trial.does("end_session", "session", &session, &ANY, &none).await;

    // Access.
    let (key, _) = trial
        .does(
            "create_key",
            "access",
            &demo("keys"),
            &NO,
            &json!({"name": "k", "role": "agent", "groups": []}),
        )
        .await;
    let agent = app.client(key["secret"].as_str().expect("a secret"));
    let escalation = json!({"tool": "ping", "group": ["admin"]});
    agent.post(&demo("calls"), &escalation).await.expect(403);
    let key = demo(&format!("keys/{}", key["id"].as_str().expect("an id")));
    trial
        .does("rotate_key", "access", &format!("{key}/rotate"), &ANY, &none)
        .await;
    trial.does("revoke_key", "access", &key, &ANY, &none).await;
    let client = oauth::register(&app).await;
    let resource = format!("{}{}", app.gateway.config.base_url(), demo("mcp"));
    let request = oauth::changed(oauth::parameters(&client), &[("resource", &resource)]);
    let consent = json!({"request": request, "allow": true});
    let (given, record) = trial
        .does("give_consent", "access", "/auth/consent", &NO, &consent)
        .await;
    assert_eq!(change(&record)["client_name"], "Test client");
    let to = given["redirect_to"].as_str().expect("an address");
    let code = oauth::parameter(to, "code").expect("a code");
    oauth::exchange_at(&app, &client, &code, &resource)
        .await
        .expect(200);
    let connections = admin.get(&demo("connections")).await.expect(200).json();
    let id = connections["items"][0]["id"].as_str().expect("an id").to_owned();
    let connection = demo(&format!("connections/{id}"));
    let limit = json!({"groups": []});
    let (_, record) = trial
        .does("limit_connection", "access", &connection, &ANY, &limit)
        .await;
    assert_eq!(change(&record)["after"], limit);
    trial
        .does("revoke_connection", "access", &connection, &ANY, &none)
        .await;
    crate::accounts::leaves_records(&mut trial, &service).await;
    let body = json!({"username": "ada", "password": "a long enough password"});
    let (ada, _) = trial.does("create_user", "access", "/users", &NO, &body).await;
    let user = format!("/users/{}", ada["id"].as_str().expect("an id"));
    let named = json!({"display_name": "Ada"});
    let (_, record) = trial.does("update_user", "access", &user, &ANY, &named).await;
    assert_eq!(change(&record)["after"], json!({"display_name": "Ada"}));
    let grant = demo(&format!(
        "permissions/user:{}",
        ada["id"].as_str().expect("an id")
    ));
    let terms = json!({"role": "viewer", "groups": []});
    trial.does("put_permission", "access", &grant, &NEW, &terms).await;
    trial
        .does("delete_permission", "access", &grant, &ANY, &none)
        .await;
    trial
        .does(
            "reset_user_password",
            "access",
            &format!("{user}/password"),
            &NO,
            &none,
        )
        .await;
    second_factors(&mut trial, &user).await;
    trial.does("delete_user", "access", &user, &ANY, &none).await;

    // Alerts.
    let address = ConnectInfo(SocketAddr::from(([192, 0, 2, 7], 4000)));
    for n in 0..20 {
        let stranger = app.client(format!("tgk_{n:08}_nothing"));
        let request = stranger.request(Method::GET, "/auth/me").extension(address);
        app.send(request.body(Body::empty()).expect("a request"))
            .await
            .expect(401);
    }
    observe::flush(&app.gateway).await.expect("stored");
    for (id, list) in [
        ("acknowledge_alert", demo("alerts")),
        ("acknowledge_server_alert", "/alerts".to_owned()),
    ] {
        let alerts = trial.admin.get(&list).await.expect(200).json();
        let alert = alerts["items"][0]["id"].as_str().expect("an alert").to_owned();
        trial
            .does(id, "alert", &format!("{list}/{alert}/acknowledge"), &NO, &none)
            .await;
    }

    // The end.
    let export = trial.admin.get(&demo("audit/export")).await.expect(200);
    assert!(!export.body.is_empty());
    assert_eq!(trial.records("export").await.len(), 1);
    let renamed = json!({"name": "Another name"});
    let (_, record) = trial
        .does("rename_project", "project", "/projects/demo", &ANY, &renamed)
        .await;
    assert_eq!(change(&record)["renamed_to"], "Another name");
    let (_, record) = trial
        .does("delete_project", "project", "/projects/demo", &ANY, &none)
        .await;
    assert_eq!(change(&record)["project"], "demo");
    let passwords = json!({"current": PASSWORD, "new": "another long password"});
    let missing: Vec<&String> = expected.difference(&trial.done).collect();
    assert_eq!(
        missing,
        ["change_password", "end_other_sign_ins", "end_sign_in", "logout"],
        "operations without a trial"
    );
    last(&app, &passwords).await;
}

/// The second factor of a user, whose password is replaced first.
async fn second_factors(trial: &mut Trial<'_>, user: &str) {
    let password = "a password for the second factor";
    let reset = format!("{user}/password");
    let body = json!({"password": password});
    trial.admin.post(&reset, &body).await.expect(200);
    let mut given = json!({"username": "ada", "password": password});
    let (own, factor) = ("/auth/second-factor", format!("{user}/second-factor"));
    for again in [false, true] {
        let (setup, _) = trial
            .does("begin_second_factor", "access", own, &NO, &given)
            .await;
        let secret = Secret::try_from_base32(setup["secret"].as_str().expect("a secret")).expect("Base32");
        let totp = Builder::new()
            .with_secret(secret)
            .with_account_name("ada")
            .build();
        let now = trial.app.gateway.clock.now().timestamp().unsigned_abs();
        let mut proof = given.clone();
        proof["code"] = json!(totp.expect("a password maker").generate(now).to_string());
        let confirm = format!("{own}/confirm");
        let (confirmed, record) = trial
            .does("confirm_second_factor", "access", &confirm, &NO, &proof)
            .await;
        assert_eq!(change(&record)["change"], "second_factor_confirmed");
        proof["code"] = confirmed["recovery_codes"][0].clone();
        if again {
            let codes = format!("{own}/recovery-codes");
            let (codes, _) = trial
                .does("replace_recovery_codes", "access", &codes, &NO, &proof)
                .await;
            given["code"] = codes["recovery_codes"][0].clone();
            let remove = format!("{own}/remove");
            trial
                .does("remove_second_factor", "access", &remove, &NO, &given)
                .await;
        } else {
            trial
                .does("remove_user_second_factor", "access", &factor, &NO, &json!({}))
                .await;
        }
    }
}

/// A card of the message bus, by a worker.
async fn a_card(trial: &mut Trial<'_>) {
    let key = json!({"name": "worker", "role": "agent", "groups": [], "bus": {"workers": ["search"]}});
    let made = trial.admin.post("/projects/demo/keys", &key).await.expect(201);
    let worker = trial
        .app
        .client(made.json()["secret"].as_str().expect("a secret"));
    let card = json!({
        "card_id": "r1", "project_id": "demo", "type": "tool.result", "author_id": "tool.search", "tool_call_id": "c1",
        "content": {"status": "success", "after_execution": "suspend", "result": 1, "error": null}, "metadata": {},
    });
    let admin = std::mem::replace(&mut trial.admin, worker);
    let (_, record) = trial
        .does("create_card", "settings", "/projects/demo/cards", &NO, &card)
        .await;
    assert_eq!(change(&record)["card"], "r1");
    trial.admin = admin;
}

/// A dead letter whose card can be read.
async fn bury(app: &TestApp, subject: &str) {
    let bus = app.gateway.bus.as_ref().expect("a bus");
    let snapshot = app.gateway.snapshots.now();
    let row = &snapshot.project("demo").expect("the project").row;
    let cards = bus.cards(&row.id).await.expect("the cards");
    cards.put("card", "{}".into()).await.expect("stored");
    let dead = toolgate_executors::Dead {
        subject: subject.to_owned(),
        reason: "a reason".to_owned(),
        deliveries: 1,
        headers: async_nats::HeaderMap::new(),
        payload: json!({"tool_call_card_id": "card"}).to_string().into(),
    };
    bus.bury((row.uid, &row.id), dead).await.expect("kept");
}

/// Changing one's password and signing out end the sign-in that the other operations need.
async fn last(app: &TestApp, passwords: &Value) {
    let own = app.admin().await;
    let other = app.admin().await;
    let changes = async |client: &Client<'_>| -> Vec<String> {
        let page = client
            .get("/audit?action=access&limit=3")
            .await
            .expect(200)
            .json();
        let items = page["items"].as_array().expect("items").iter();
        items
            .map(|record| {
                record["arguments"]["change"]
                    .as_str()
                    .unwrap_or_default()
                    .to_owned()
            })
            .collect()
    };
    other.post("/auth/logout", &json!({})).await.expect(204);
    assert_eq!(changes(&own).await[0], "signed_out");
    let another = app.admin().await;
    let listed = own.get("/auth/sign-ins").await.expect(200).json();
    let newest = listed["items"][0]["id"].as_str().expect("an id");
    own.post(&format!("/auth/sign-ins/{newest}/end"), &json!({}))
        .await
        .expect(204);
    another.get("/auth/me").await.expect(401);
    assert_eq!(changes(&own).await[0], "sign_in_ended");
    own.post("/auth/sign-ins/end-others", &json!({}))
        .await
        .expect(200);
    assert_eq!(changes(&own).await[0], "other_sign_ins_ended");
    let again = own.post("/auth/password", passwords).await.expect(200).json();
    let again = app.client(again["access_token"].as_str().expect("a token"));
    assert_eq!(changes(&again).await[0], "password_changed");
}
