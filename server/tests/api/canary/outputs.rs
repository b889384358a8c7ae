//! What comes out: answers, files and tables, searched for the secret.

use std::path::Path;

use axum::http::{Method, StatusCode, header};
use serde_json::Value;
use sqlx::{AssertSqlSafe, Connection, PgConnection};

use super::forms::{assert_clean, check_texts};
use crate::support::Client;

/// Sends a request and searches the whole answer, headers included.
pub(super) async fn check(
    client: &Client<'_>,
    method: Method,
    path: &str,
    body: Option<&Value>,
) -> (StatusCode, Vec<u8>) {
    let mut request = client.request(method.clone(), path).header(header::IF_MATCH, "*");
    if body.is_some() {
        request = request.header(header::CONTENT_TYPE, "application/json");
    }
    let body = body.map(Value::to_string).unwrap_or_default();
    let answer = client.send(request.body(body.into()).expect("a request")).await;
    let what = format!("{method} {path} ({})", answer.status);
    assert_clean(
        &format!("the head of {what}"),
        format!("{:?}", answer.headers).as_bytes(),
    );
    assert_clean(&what, &answer.body);
    (answer.status, answer.body)
}

/// Every path of the document that can be read, with the names of what this test made.
pub(super) async fn check_everything_readable(client: &Client<'_>, call_id: &str) -> usize {
    let (_, document) = check(client, Method::GET, "/openapi.json", None).await;
    let document: Value = serde_json::from_slice(&document).expect("JSON");
    let mut read = 0;
    for (path, item) in document["paths"].as_object().expect("paths") {
        let endless = item["get"]["responses"]["200"]["content"]["text/event-stream"].is_object();
        if item["get"].is_null() || endless {
            continue;
        }
        let mut path = path
            .replace("{project_id}", "demo")
            .replace("{tool_name}", "header-200")
            .replace("{secret_name}", "CANARY")
            .replace("{revision}", "1");
        if path.ends_with("/diff") {
            path.push_str("?from=1&to=1");
        }
        // What is named by an id: the id of a call is as good as any other for a page that does not exist.
        while let Some((start, rest)) = path.clone().split_once('{') {
            let rest = rest.split_once('}').map_or("", |(_, rest)| rest);
            path = format!("{start}{call_id}{rest}");
        }
        let (status, _) = check(client, Method::GET, &path, None).await;
        read += usize::from(status.is_success());
    }
    for page in [
        "/",
        "/ui/",
        "/ui/sign-in",
        "/docs/",
        "/ui/projects/demo/tools",
        "/projects/demo/audit/export?format=csv",
    ] {
        check(client, Method::GET, page, None).await;
    }
    read
}

pub(super) fn check_files(folder: &Path) {
    let mut files = 0;
    for entry in std::fs::read_dir(folder).expect("the folder") {
        let path = entry.expect("an entry").path();
        assert_clean(
            &path.display().to_string(),
            &std::fs::read(&path).expect("the file"),
        );
        files += 1;
    }
    assert!(files >= 2, "the database and its log");
}

/// Every text in every row of every table, keys and binary columns (as hex) included.
pub(super) async fn check_tables(url: &str) {
    let mut database = PgConnection::connect(url).await.expect("the database");
    let tables: Vec<String> = sqlx::query_scalar(
        "SELECT quote_ident(table_name) FROM information_schema.tables WHERE table_schema = current_schema()",
    )
    .fetch_all(&mut database)
    .await
    .expect("the tables");
    let (mut rows, mut sealed) = (0, 0);
    for table in tables {
        let query = AssertSqlSafe(format!("SELECT to_jsonb(t)::text FROM {table} t"));
        let found: Vec<String> = sqlx::query_scalar(query)
            .fetch_all(&mut database)
            .await
            .expect("the rows");
        for row in &found {
            let row: Value = serde_json::from_str(row).expect("JSON");
            check_texts(&format!("table {table}"), &row);
        }
        rows += found.len();
        sealed += if table == "secrets" { found.len() } else { 0 };
    }
    assert!(rows > 100, "{rows} rows: the calls and their records are there");
    assert_eq!(sealed, 2, "the secrets are there, sealed");
}
