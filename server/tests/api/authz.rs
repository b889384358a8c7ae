//! Who may do what: one row for every operation of the API document. An operation without a row fails the test.

use std::collections::{BTreeMap, BTreeSet};

use axum::body::Body;
use axum::http::{Method, header};
use serde_json::{Value, json};

use crate::support::{Client, TestApp, tool};

/// Everyone who may try, weakest first. `stranger` is an owner of another project.
const PRINCIPALS: [&str; 8] = [
    "anonymous",
    "stranger",
    "agent",
    "viewer",
    "auditor",
    "editor",
    "owner",
    "admin",
];

/// Operation id to the principals that are let through; the others are refused as `refusal` says.
fn table() -> BTreeMap<&'static str, &'static [&'static str]> {
    const ALL: &[&str] = &PRINCIPALS;
    const KNOWN: &[&str] = &[
        "stranger", "agent", "viewer", "auditor", "editor", "owner", "admin",
    ];
    const MEMBERS: &[&str] = &["agent", "viewer", "auditor", "editor", "owner", "admin"];
    const READERS: &[&str] = &["viewer", "auditor", "editor", "owner", "admin"];
    const EDITORS: &[&str] = &["editor", "owner", "admin"];
    const OWNERS: &[&str] = &["owner", "admin"];
    BTreeMap::from([
        ("login", ALL),
        ("logout", KNOWN),
        ("get_me", KNOWN),
        ("get_jwks", ALL),
        ("list_sign_in_ways", ALL),
        ("get_health", ALL),
        ("get_readiness", ALL),
        ("get_metrics", ALL),
        ("list_projects", KNOWN),
        ("create_project", &["admin"]),
        ("get_project", MEMBERS),
        ("delete_project", OWNERS),
        ("rename_project", OWNERS),
        ("get_settings", READERS),
        ("replace_settings", OWNERS),
        ("get_egress", READERS),
        ("replace_egress", &["admin"]),
        ("get_limits", READERS),
        ("replace_limits", OWNERS),
        ("get_limit_usage", &["auditor", "owner", "admin"]),
        ("list_secrets", OWNERS),
        ("get_secret", OWNERS),
        ("set_secret", OWNERS),
        ("delete_secret", OWNERS),
        ("list_keys", OWNERS),
        ("create_key", OWNERS),
        ("get_key", OWNERS),
        ("revoke_key", OWNERS),
        ("rotate_key", OWNERS),
        ("get_consent", &["admin"]),
        ("give_consent", &["admin"]),
        ("list_connections", MEMBERS),
        ("get_connection", MEMBERS),
        ("limit_connection", MEMBERS),
        ("revoke_connection", MEMBERS),
        ("export_project", &["auditor", "owner", "admin"]),
        ("import_project", OWNERS),
        ("list_account_providers", READERS),
        ("get_account_provider", READERS),
        ("put_account_provider", OWNERS),
        ("delete_account_provider", OWNERS),
        ("list_accounts", &["admin"]),
        ("connect_account", &["admin"]),
        ("complete_account", &["admin"]),
        ("set_personal_key", &["admin"]),
        ("disconnect_account", &["admin"]),
        ("list_connected_accounts", OWNERS),
        ("revoke_connected_account", OWNERS),
        ("list_permissions", &["auditor", "owner", "admin"]),
        ("list_permission_candidates", OWNERS),
        ("list_unused_grants", &["auditor", "owner", "admin"]),
        ("get_permission", &["auditor", "owner", "admin"]),
        ("put_permission", OWNERS),
        ("delete_permission", OWNERS),
        ("change_password", KNOWN),
        ("list_sign_ins", &["admin"]),
        ("end_sign_in", &["admin"]),
        ("end_other_sign_ins", &["admin"]),
        ("get_preferences", &["admin"]),
        ("replace_preferences", &["admin"]),
        ("list_notifications", &["admin"]),
        ("list_all_notifications", &["admin"]),
        ("read_notifications", &["admin"]),
        ("read_server_notifications", &["admin"]),
        ("search_help", ALL),
        ("count_sessions", READERS),
        ("begin_second_factor", ALL),
        ("confirm_second_factor", ALL),
        ("replace_recovery_codes", ALL),
        ("remove_second_factor", ALL),
        ("remove_user_second_factor", &["admin"]),
        ("create_user", &["admin"]),
        ("list_users", &["admin"]),
        ("get_user", &["admin"]),
        ("update_user", &["admin"]),
        ("delete_user", &["admin"]),
        ("reset_user_password", &["admin"]),
        ("list_tools", MEMBERS),
        ("get_tool", MEMBERS),
        ("get_tool_uses", READERS),
        ("upload_tools", EDITORS),
        ("list_bus_programs", READERS),
        ("get_bus_program", READERS),
        ("list_tool_services", READERS),
        ("get_tool_service", READERS),
        ("put_tool_service", EDITORS),
        ("delete_tool_service", EDITORS),
        ("decide_announced_descriptor", EDITORS),
        ("issue_bus_token", MEMBERS),
        ("get_card", &["auditor"]),
        ("create_card", &[]),
        ("list_dead_letters", READERS),
        ("retry_dead_letter", EDITORS),
        ("drop_dead_letter", EDITORS),
        ("list_guides", MEMBERS),
        ("get_guide", MEMBERS),
        ("upload_guides", EDITORS),
        ("put_guide", EDITORS),
        ("delete_guide", EDITORS),
        ("list_mcp_clients", &["auditor", "owner", "admin"]),
        ("preview_import", EDITORS),
        ("list_imports", READERS),
        ("get_import", READERS),
        ("list_import_operations", READERS),
        ("put_import", EDITORS),
        ("refresh_import", &["admin"]),
        ("delete_import", EDITORS),
        ("list_mcp_servers", READERS),
        ("add_mcp_servers", OWNERS),
        ("get_mcp_server", READERS),
        ("put_mcp_server", OWNERS),
        ("delete_mcp_server", OWNERS),
        ("approve_mcp_server", OWNERS),
        ("test_mcp_server", EDITORS),
        ("refresh_mcp_server", EDITORS),
        ("get_mcp_server_log", READERS),
        ("list_quarantine", READERS),
        ("get_quarantined_change", READERS),
        ("approve_change", EDITORS),
        ("reject_change", EDITORS),
        ("decide_changes", EDITORS),
        ("replace_tool", EDITORS),
        ("delete_tool", EDITORS),
        ("change_tools", EDITORS),
        ("check_definitions", EDITORS),
        ("list_access_requests", MEMBERS),
        ("ask_for_access", MEMBERS),
        ("decide_access_request", OWNERS),
        ("draft_definition", EDITORS),
        ("test_definition", EDITORS),
        ("list_tool_types", KNOWN),
        ("list_tool_revisions", READERS),
        ("get_tool_revision", READERS),
        ("diff_tool_revisions", READERS),
        ("restore_tool_revision", EDITORS),
        ("list_groups", MEMBERS),
        ("get_group", MEMBERS),
        ("put_group", OWNERS),
        ("rename_group", OWNERS),
        ("delete_group", OWNERS),
        ("list_states", MEMBERS),
        ("get_state_graph", MEMBERS),
        ("get_state", MEMBERS),
        ("put_state", OWNERS),
        ("rename_state", OWNERS),
        ("delete_state", OWNERS),
        ("resolve_tools", MEMBERS),
        ("recommend_tools", MEMBERS),
        ("explain_tools", MEMBERS),
        ("list_saved_views", &["auditor", "owner", "admin"]),
        ("save_view", &["auditor", "owner", "admin"]),
        ("delete_saved_view", &["auditor", "owner", "admin"]),
        ("get_usage_series", READERS),
        ("list_policy_tests", READERS),
        ("get_policy_test", READERS),
        ("run_policy_tests", READERS),
        ("upload_policy_tests", OWNERS),
        ("replace_policy_test", OWNERS),
        ("delete_policy_test", OWNERS),
        ("call_tool", MEMBERS),
        ("get_call", MEMBERS),
        ("cancel_call", MEMBERS),
        ("get_artifact", MEMBERS),
        ("get_tool_api", MEMBERS),
        ("invoke_tool", MEMBERS),
        ("create_session", MEMBERS),
        ("list_sessions", MEMBERS),
        ("get_session", MEMBERS),
        ("end_session", MEMBERS),
        ("list_session_tools", MEMBERS),
        ("list_session_transitions", MEMBERS),
        ("create_agent_request", MEMBERS),
        ("get_usage", READERS),
        ("list_upstreams", READERS),
        ("list_alerts", &["auditor", "owner", "admin"]),
        ("acknowledge_alert", &["auditor", "owner", "admin"]),
        ("list_server_alerts", &["admin"]),
        ("acknowledge_server_alert", &["admin"]),
        ("list_audit_records", &["auditor", "owner", "admin"]),
        ("list_server_audit_records", &["admin"]),
        ("get_audit_record", &["auditor", "owner", "admin"]),
        ("export_audit_records", &["auditor", "owner", "admin"]),
        ("get_audit_integrity", &["auditor", "owner", "admin"]),
        ("get_status", &["admin"]),
        ("stream_audit_records", &["auditor", "owner", "admin"]),
    ])
}

/// 401 without a credential, 404 to strangers to a project, 403 to members and outside of projects; never anything else.
fn refusal(principal: &str, path: &str) -> (u16, &'static str) {
    match principal {
        "anonymous" => (401, "unauthenticated"),
        "stranger" if path.contains("{project_id}") => (404, "not_found"),
        _ => (403, "forbidden"),
    }
}

#[tokio::test]
async fn every_operation_lets_in_exactly_who_it_should() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    admin.post("/projects", &json!({"id": "other"})).await.expect(201);
    admin
        .upload(
            "/projects/demo/tools",
            &tool("ping", "https://api.example.com", "/ping", "group: [g]\n"),
        )
        .await
        .expect(201);
    let mut clients: BTreeMap<&str, Client<'_>> = BTreeMap::new();
    clients.insert("anonymous", app.anonymous());
    clients.insert("stranger", app.key(&admin, "other", "owner", &["*"]).await);
    for role in ["agent", "viewer", "auditor", "editor", "owner"] {
        clients.insert(role, app.key(&admin, "demo", role, &["*"]).await);
    }
    clients.insert("admin", admin);

    let document = app.anonymous().get("/openapi.json").await.expect(200).json();
    let table = table();
    let mut seen = BTreeSet::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let id = operation["operationId"].as_str().unwrap();
            let allowed = table
                .get(id)
                .unwrap_or_else(|| panic!("{id} has no row in the authorization table"));
            seen.insert(id.to_owned());
            for principal in PRINCIPALS {
                let answer = attempt(&clients[principal], method, path, id).await;
                let status = answer.status.as_u16();
                let shown = answer.text();
                if allowed.contains(&principal) {
                    let code = serde_json::from_str::<Value>(&shown)
                        .map(|body| body["code"].clone())
                        .unwrap_or_default();
                    assert!(
                        status != 401 && code != "forbidden" && status < 500,
                        "{principal} should be let in by {id}, got {status} {shown}"
                    );
                } else {
                    let (expected, code) = refusal(principal, path);
                    assert_eq!(status, expected, "{principal} at {id}: {shown}");
                    assert_eq!(
                        serde_json::from_str::<Value>(&shown).unwrap()["code"],
                        code,
                        "{principal} at {id}"
                    );
                }
            }
        }
    }
    let rows: BTreeSet<String> = table.keys().map(|id| (*id).to_owned()).collect();
    assert_eq!(rows, seen, "the table has rows for operations that do not exist");
}

/// What `GET /auth/me` says a caller may do: the dashboard offers that and nothing else.
#[tokio::test]
async fn a_caller_is_answered_what_it_may_do() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    const READ: &[&str] = &["use", "read_definitions"];
    let rows: [(&str, Vec<&str>); 5] = [
        ("agent", vec!["use"]),
        ("viewer", READ.to_vec()),
        ("editor", [READ, &["edit_definitions"]].concat()),
        (
            "auditor",
            [READ, &["read_audit", "read_payloads", "read_access"]].concat(),
        ),
        (
            "owner",
            [
                READ,
                &[
                    "edit_definitions",
                    "read_audit",
                    "manage_keys",
                    "read_access",
                    "manage_access",
                    "manage_policy",
                    "manage_secrets",
                    "delete_project",
                ],
            ]
            .concat(),
        ),
    ];
    for (role, expected) in rows {
        let key = app.key(&admin, "demo", role, &["*"]).await;
        let me = key.get("/auth/me").await.expect(200).json();
        assert_eq!(me["projects"][0]["permissions"], json!(expected), "{role}");
    }
    // A system administrator reads what passes through only with a role that does.
    let me = admin.get("/auth/me").await.expect(200).json();
    let may = me["projects"][0]["permissions"].as_array().unwrap().clone();
    assert!(may.contains(&json!("manage_access")) && !may.contains(&json!("read_payloads")));
    let auditor = app.auditor(&admin).await;
    let me = auditor.get("/auth/me").await.expect(200).json();
    assert!(
        me["projects"][0]["permissions"]
            .as_array()
            .unwrap()
            .contains(&json!("read_payloads"))
    );
}

/// Sends the operation so that nothing but authorization decides between refusal and something else, and so that it
/// changes nothing: preconditions are stale, bodies are empty.
async fn attempt(client: &Client<'_>, method: &str, path: &str, id: &str) -> crate::support::Answer {
    // Signing out would end the administrator's session for the rows that follow; a key cannot sign out.
    let path = path
        .replace("{project_id}", "demo")
        .replace("{tool_name}", "ping")
        .replace("{test_name}", "none")
        .replace("{import_id}", "none")
        .replace("{alert_id}", "00000000-0000-7000-8000-000000000000")
        .replace("{group}", "g")
        .replace("{state}", "undefined")
        .replace("{revision}", "1")
        .replace("{key_id}", "00000000-0000-7000-8000-000000000000")
        .replace("{connection_id}", "00000000-0000-7000-8000-000000000000")
        .replace("{record_id}", "00000000-0000-7000-8000-000000000000")
        .replace("{session_id}", "00000000-0000-7000-8000-000000000000")
        .replace("{user_id}", "00000000-0000-7000-8000-000000000000")
        .replace("{principal}", "user:00000000-0000-7000-8000-000000000000");
    let path = if id == "diff_tool_revisions" {
        format!("{path}?from=1&to=1")
    } else {
        path
    };
    let body = match id {
        "login" => json!({"username": "x"}),
        "set_personal_key" => json!({"key": "x"}),
        "read_notifications" | "read_server_notifications" => json!({"ids": ["x"]}),
        _ => json!({}),
    };
    if id == "logout"
        && client
            .token
            .as_ref()
            .is_some_and(|token| !token.starts_with("tgk_"))
    {
        return client.get("/auth/me").await;
    }
    if id == "stream_audit_records" {
        // It has no end to wait for.
        let (parts, _body) = client.open(&path, &[]).await.into_parts();
        if parts.status.is_success() {
            return crate::support::Answer {
                status: parts.status,
                headers: parts.headers,
                body: Vec::new(),
            };
        }
    }
    let request = client
        .request(
            Method::from_bytes(method.to_uppercase().as_bytes()).unwrap(),
            &path,
        )
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::IF_MATCH, "\"stale\"")
        .body(Body::from(body.to_string()))
        .unwrap();
    client.send(request).await
}
