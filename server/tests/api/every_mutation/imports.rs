//! Tools that come from elsewhere.

use axum::body::Body;
use axum::http::{Method, header};
use serde_json::{Value, json};

use super::{NO, Trial, demo};
use crate::mcp_servers::Upstream;
use crate::support::{ANY, NEW};

/// Imports of descriptions.
pub(super) async fn descriptions(trial: &mut Trial<'_>, api: impl Fn(&str) -> Value) {
    let base = trial.base.clone();
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
            &json!({}),
        )
        .await;
    trial
        .does(
            "reject_change",
            "import",
            &demo("quarantine/getB/reject"),
            &ANY,
            &json!({}),
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
    trial
        .does("delete_import", "import", &import, &ANY, &json!({}))
        .await;
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
            &json!({}),
        )
        .await;
}

/// MCP servers.
pub(super) async fn mcp_servers(trial: &mut Trial<'_>, upstream: &Upstream) {
    let server = json!({"url": upstream.url});
    let servers = json!({"mcpServers": {"weather": server}});
    let path = demo("mcp-servers/weather");
    trial
        .does("put_mcp_server", "settings", &path, &NO, &server)
        .await;
    trial
        .does("delete_mcp_server", "settings", &path, &ANY, &json!({}))
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
            &json!({}),
        )
        .await;

    let tools = include_str!("../../../../openapi/examples/mcp-management.yaml");
    trial.admin.upload(&demo("tools"), tools).await.expect(201);
    let new = json!({"tool": "mcp_register_server", "group": ["*"], "arguments": {"server_name": "mine", "command": "uvx"}});
    trial.admin.post(&demo("calls"), &new).await.expect(200);
    let path = demo("mcp-servers/mine/approve");
    trial
        .does("approve_mcp_server", "settings", &path, &ANY, &json!({}))
        .await;
}
