//! Servers as a resource: what is stored, refused, warned of and recorded.

use axum::http::{Method, header};
use serde_json::{Value, json};

use super::{SERVERS, Upstream, put};
use crate::support::TestApp;

#[tokio::test]
async fn a_server_is_created_replaced_and_deleted_by_its_revision() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let path = format!("{SERVERS}/weather");
    let first = json!({"url": "https://mcp.example.com/mcp", "description": "Weather"});
    let created = admin.send_json(Method::PUT, &path, &[], &first).await.expect(201);
    let tag = created.header("etag").to_owned();
    let server = created.json();
    assert_eq!(server["transport"], "streamable_http");
    assert_eq!(
        (&server["revision"], &server["updated_by"]),
        (&json!(1), &json!("admin"))
    );
    assert_eq!(server["connection"]["state"], "unavailable", "{server}");
    let warning = server["warnings"][0]["message"].as_str().expect("a warning");
    assert!(warning.contains("mcp.example.com"), "{warning}");

    let second = json!({"url": "https://mcp.example.com/other"});
    admin
        .send_json(Method::PUT, &path, &[], &second)
        .await
        .problem(428, "precondition_required");
    admin
        .send_json(Method::PUT, &path, &[(header::IF_MATCH, "\"v9\"")], &second)
        .await
        .problem(412, "precondition_failed");
    let replaced = admin
        .send_json(Method::PUT, &path, &[(header::IF_MATCH, &tag)], &second)
        .await
        .expect(200);
    assert_eq!(replaced.json()["revision"], 2);
    let listed = admin.get(SERVERS).await.expect(200).json();
    assert_eq!(
        listed["items"][0]["definition"]["url"],
        "https://mcp.example.com/other"
    );
    admin
        .delete(&path, None)
        .await
        .problem(428, "precondition_required");
    admin
        .delete(&path, Some(replaced.header("etag")))
        .await
        .expect(204);
    admin.get(&path).await.problem(404, "not_found");
    admin.delete(&path, Some("*")).await.problem(404, "not_found");
}

#[tokio::test]
async fn every_fault_is_named_and_no_credential_is_kept_or_repeated() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let path = format!("{SERVERS}/weather");
    let bad = json!({
        "url": "https://user:hunter22@mcp.example.com", "timeout_ms": 1,
        "headers": {"Authorization": "Bearer hunter22hunter22", "Host": "x", "X-Region": "${REGION"},
    });
    let refused = admin.send_json(Method::PUT, &path, &[], &bad).await;
    assert!(!refused.text().contains("hunter22"), "{}", refused.text());
    let problem = refused.problem(422, "invalid_request");
    let mut places: Vec<&str> = problem["errors"]
        .as_array()
        .expect("errors")
        .iter()
        .map(|error| error["pointer"].as_str().unwrap_or_default())
        .collect();
    places.sort_unstable();
    assert_eq!(
        places,
        [
            "/headers/Authorization",
            "/headers/Host",
            "/headers/X-Region",
            "/timeout_ms",
            "/url"
        ]
    );
    let unnamed = format!("{SERVERS}/Weather%20Server");
    let fine = json!({"url": "https://mcp.example.com"});
    admin
        .send_json(Method::PUT, &unnamed, &[], &fine)
        .await
        .problem(422, "invalid_request");
    let unknown = json!({"uri": "https://mcp.example.com"});
    let refused = admin.send_json(Method::PUT, &path, &[], &unknown).await;
    assert!(refused.text().contains("uri"), "{}", refused.text());
    assert_eq!(admin.get(SERVERS).await.json()["items"], json!([]));
}

#[tokio::test]
async fn the_documents_of_clients_are_read_as_json_and_yaml() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let document = json!({"mcpServers": {
        "Time Server": {"command": "uvx", "args": ["mcp-server-time"], "env": {"API_KEY": "${secret:TIME}"}},
        "remote": {"type": "http", "url": "https://mcp.example.com/mcp"},
    }});
    let dry = admin
        .post(&format!("{SERVERS}?dry_run=true"), &document)
        .await
        .expect(200)
        .json();
    assert_eq!(dry["items"][0]["name"], "time-server", "{dry}");
    assert_eq!(admin.get(SERVERS).await.json()["items"], json!([]));
    let added = admin.post(SERVERS, &document).await.expect(200).json();
    let warnings = added["items"][0]["warnings"].to_string();
    assert!(warnings.contains("TOOLGATE_MCP_STDIO_COMMANDS"), "{warnings}");
    admin.post(SERVERS, &document).await.problem(409, "conflict");
    admin
        .post(&format!("{SERVERS}?replace=true"), &document)
        .await
        .expect(200);
    let yaml = "Mcp:\n  Servers:\n    - Name: weather-server\n      Command: uvx\n      Arguments: [mcp-server-weather]\n";
    admin.upload(SERVERS, yaml).await.expect(200);
    let listed = admin.get(SERVERS).await.json();
    let names: Vec<&Value> = listed["items"]
        .as_array()
        .expect("items")
        .iter()
        .map(|item| &item["name"])
        .collect();
    assert_eq!(names, ["remote", "time-server", "weather-server"]);
    let secret = json!({"mcpServers": {"a": {"command": "npx", "env": {"TOKEN": "hunter22hunter22"}}}});
    let refused = admin.post(SERVERS, &secret).await;
    assert!(!refused.text().contains("hunter22"), "{}", refused.text());
    let problem = refused.problem(422, "invalid_request");
    assert_eq!(problem["errors"][0]["pointer"], "/mcpServers/a/env/TOKEN");
    let yaml = "mcpServers:\n  a:\n    command: npx\n    env:\n      TOKEN: hunter22hunter22\n";
    let problem = admin.upload(SERVERS, yaml).await.problem(422, "invalid_request");
    assert_eq!(problem["errors"][0]["line"], 5, "{problem}");
}

#[tokio::test]
async fn a_test_connects_and_names_the_tools_or_the_reason() {
    let upstream = Upstream::new(|_| None).await;
    let app = TestApp::with(&[("TOOLGATE_EGRESS_ALLOW", &upstream.url)]).await;
    let admin = app.demo().await;
    put(&admin, "weather", json!({"url": upstream.url})).await;
    let tested = admin
        .post(&format!("{SERVERS}/weather/test"), &json!({}))
        .await
        .expect(200)
        .json();
    assert_eq!(
        (&tested["ok"], &tested["tools"]),
        (&json!(true), &json!(["forecast"])),
        "{tested}"
    );
    let connection = &tested["connection"];
    assert_eq!(connection["state"], "connected");
    assert_eq!(connection["server"], "weather-server 1.2.0");
    assert_eq!(connection["protocol"], "2025-11-25");
    put(&admin, "elsewhere", json!({"url": "https://not.allowed.example"})).await;
    let tested = admin
        .post(&format!("{SERVERS}/elsewhere/test"), &json!({}))
        .await
        .expect(200)
        .json();
    assert_eq!(tested["ok"], false);
    assert_eq!(
        tested["connection"]["last_error"]["code"], "egress_denied",
        "{tested}"
    );
}

#[tokio::test]
async fn each_change_is_on_the_record() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    put(&admin, "weather", json!({"url": "https://mcp.example.com"})).await;
    admin
        .delete(&format!("{SERVERS}/weather"), Some("*"))
        .await
        .expect(204);
    let auditor = app.auditor(&admin).await;
    let records = auditor
        .get("/projects/demo/audit?action=settings")
        .await
        .expect(200)
        .json();
    let changes: Vec<&Value> = records["items"]
        .as_array()
        .expect("records")
        .iter()
        .filter(|record| record["arguments"]["change"] == "mcp_servers")
        .map(|record| &record["arguments"]["servers"][0])
        .collect();
    assert_eq!(changes.len(), 2, "{records}");
    assert_eq!(changes[1]["after"]["url"], "https://mcp.example.com");
    assert_eq!(
        (&changes[0]["before_revision"], &changes[0]["after"]),
        (&json!(1), &Value::Null)
    );
}
