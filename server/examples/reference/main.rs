//! The least a gateway could do, as the yardstick of `cargo xtask bench`: check an HS256 token, compare groups, merge
//! arguments, ask the upstream over pooled connections, and hand the answer on. It limits nothing and knows one tool,
//! and it records nothing unless configured to. What Toolgate adds to this is what its users pay for. `POST /mcp` is the same
//! call over MCP.
//!
//! Settings: `REFERENCE_LISTEN`, `REFERENCE_UPSTREAM` (`http://host:port`), `REFERENCE_SECRET` (of the token),
//! `REFERENCE_LISTING` (a file whose bytes `GET /tools` answers with), and `REFERENCE_RECORD` (an SQLite file with two rows
//! for each call; without it there is no record).

mod mcp;
mod record;

use std::collections::HashSet;
use std::sync::Arc;

use anyhow::Context;
use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, Request, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use jsonwebtoken::{Algorithm, DecodingKey, Validation};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::mcp::Mcp;
use crate::record::Record;

/// The same allocator as the server's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// What every request needs.
struct Reference {
    key: DecodingKey,
    validation: Validation,
    tool_groups: HashSet<String>,
    upstream: String,
    client: Client<HttpConnector, Empty<Bytes>>,
    listing: Bytes,
    record: Option<Record>,
}

#[derive(Deserialize)]
struct Claims {
    groups: HashSet<String>,
}

#[derive(Deserialize)]
struct Call {
    arguments: Map<String, Value>,
    group: Vec<String>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let setting = |name: &str| std::env::var(name).with_context(|| format!("{name} must be set"));
    let mut validation = Validation::new(Algorithm::HS256);
    validation.set_audience(&["reference"]);
    let listing = std::env::var("REFERENCE_LISTING")
        .ok()
        .map(std::fs::read)
        .transpose()
        .context("the listing")?;
    let record = match std::env::var_os("REFERENCE_RECORD") {
        Some(path) => Some(Record::open(path.as_ref()).await.context("the record")?),
        None => None,
    };
    let reference = Reference {
        key: DecodingKey::from_secret(setting("REFERENCE_SECRET")?.as_bytes()),
        validation,
        tool_groups: HashSet::from(["knowledge".to_owned()]),
        upstream: setting("REFERENCE_UPSTREAM")?,
        client: Client::builder(TokioExecutor::new()).build_http(),
        listing: listing.unwrap_or_default().into(),
        record,
    };
    let reference = Arc::new(reference);
    let mcp = Arc::new(Mcp::new(&reference));
    let app = Router::new()
        .route("/calls", post(call))
        .route("/tools", get(list))
        .with_state(Arc::clone(&reference))
        .route("/mcp", post(mcp::post).with_state((reference, mcp)));
    let listener = tokio::net::TcpListener::bind(setting("REFERENCE_LISTEN")?).await?;
    println!("listening on http://{}", listener.local_addr()?);
    axum::serve(listener, app)
        .with_graceful_shutdown(async {
            if let Ok(mut signal) = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())
            {
                signal.recv().await;
            }
        })
        .await?;
    Ok(())
}

/// Who asks, by their token.
fn claims(reference: &Reference, headers: &HeaderMap) -> Option<Claims> {
    let token = headers
        .get(header::AUTHORIZATION)?
        .to_str()
        .ok()?
        .strip_prefix("Bearer ")?;
    jsonwebtoken::decode::<Claims>(token, &reference.key, &reference.validation)
        .ok()
        .map(|token| token.claims)
}

async fn call(State(reference): State<Arc<Reference>>, headers: HeaderMap, body: Bytes) -> Response {
    let Some(claims) = claims(&reference, &headers) else {
        return StatusCode::UNAUTHORIZED.into_response();
    };
    let Ok(call) = serde_json::from_slice::<Call>(&body) else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    let granted = call.group.iter().all(|group| claims.groups.contains(group));
    if !granted
        || !call
            .group
            .iter()
            .any(|group| reference.tool_groups.contains(group))
    {
        return StatusCode::FORBIDDEN.into_response();
    }
    match executed(&reference, completed(call.arguments)).await {
        Ok(body) => json(body),
        Err(error) => (StatusCode::BAD_GATEWAY, error.to_string()).into_response(),
    }
}

/// The arguments with a default and a fixed one.
fn completed(mut arguments: Map<String, Value>) -> Map<String, Value> {
    arguments.entry("limit").or_insert_with(|| Value::from(10));
    arguments.insert("source".to_owned(), Value::from("bench"));
    arguments
}

/// The upstream's answer, with a row before it and one after it where there is a record.
async fn executed(reference: &Reference, arguments: Map<String, Value>) -> anyhow::Result<Bytes> {
    let Some(record) = &reference.record else {
        return ask(reference, &arguments).await;
    };
    let detail = serde_json::to_string(&arguments)?;
    record.write("open", detail.clone()).await?;
    let answer = ask(reference, &arguments).await?;
    record.write("succeeded", detail).await?;
    Ok(answer)
}

fn query(arguments: &Map<String, Value>) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    for (name, value) in arguments {
        match value {
            Value::String(text) => query.append_pair(name, text),
            other => query.append_pair(name, &other.to_string()),
        };
    }
    query.finish()
}

async fn ask(reference: &Reference, arguments: &Map<String, Value>) -> anyhow::Result<Bytes> {
    let uri = format!("{}/search?{}", reference.upstream, query(arguments));
    let answer = reference
        .client
        .request(Request::get(uri).body(Empty::new())?)
        .await?;
    anyhow::ensure!(
        answer.status().is_success(),
        "the upstream answered {}",
        answer.status()
    );
    Ok(answer.into_body().collect().await?.to_bytes())
}

/// The prebuilt listing, to every caller with a token.
async fn list(State(reference): State<Arc<Reference>>, headers: HeaderMap) -> Response {
    if claims(&reference, &headers).is_none() {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    json(reference.listing.clone())
}

fn json(body: Bytes) -> Response {
    (
        [(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))],
        Body::from(body),
    )
        .into_response()
}
