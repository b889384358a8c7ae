//! MCP servers that answer at once: `/fast`, `/hanging`, whose tool never answers, and `/many/{n}`, with 25 tools each.

use anyhow::Result;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use serde_json::{Value, json};

/// Tools of each of many servers.
const TOOLS: usize = 25;

/// Serves until the process is ended.
pub(crate) async fn serve(address: &str) -> Result<()> {
    let app = Router::new()
        .route(
            "/{server}",
            post(|Path(server): Path<String>, Json(message): Json<Value>| answer(server, message)),
        )
        .route(
            "/many/{server}",
            post(|Path(server): Path<String>, Json(message): Json<Value>| {
                answer(format!("many-{server}"), message)
            }),
        );
    let listener = tokio::net::TcpListener::bind(address).await?;
    println!("listening on http://{}", listener.local_addr()?);
    Ok(axum::serve(listener, app).await?)
}

async fn answer(server: String, message: Value) -> Response {
    let result = match message["method"].as_str().unwrap_or_default() {
        "initialize" => json!({
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": server, "version": "1"},
        }),
        "ping" => json!({}),
        "tools/list" => json!({"tools": tools(&server)}),
        "tools/call" if server == "hanging" => std::future::pending().await,
        "tools/call" => {
            let result = crate::result();
            json!({"content": [{"type": "text", "text": result.to_string()}], "structuredContent": result})
        }
        _ if message.get("id").is_none() => return StatusCode::ACCEPTED.into_response(),
        _ => {
            let error = json!({"code": -32601, "message": "there is no such method"});
            return Json(json!({"jsonrpc": "2.0", "id": message["id"], "error": error})).into_response();
        }
    };
    Json(json!({"jsonrpc": "2.0", "id": message["id"], "result": result})).into_response()
}

fn tools(server: &str) -> Vec<Value> {
    let names = match server.strip_prefix("many-") {
        None => vec![format!("ask-{server}")],
        Some(number) => (0..TOOLS).map(|tool| format!("ask-{number}-{tool}")).collect(),
    };
    names
        .into_iter()
        .map(|name| {
            json!({
                "name": name,
                "description": format!("Answers at once, as {name}."),
                "inputSchema": {
                    "type": "object",
                    "properties": {"q": {"type": "string"}, "limit": {"type": "integer"}, "source": {"type": "string"}},
                    "required": ["q"],
                },
            })
        })
        .collect()
}
