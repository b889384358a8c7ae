//! The record as a file.

use http_body_util::BodyExt;
use serde_json::{Value, json};
use toolgate_api::audit::{AuditAction, AuditOutcome, AuditRecord};
use toolgate_api::auth::PrincipalKind;
use toolgate_store::rows::Opening;

use crate::support::{Client, TestApp};

const EXPORT: &str = "/projects/demo/audit/export?action=call";

/// Some refused calls with arguments.
async fn with_calls(app: &TestApp, admin: &Client<'_>, count: usize) {
    let agent = app.key(admin, "demo", "agent", &["default"]).await;
    for number in 0..count {
        let body = json!({"tool": format!("=tool{number}"), "arguments": {"n": number, "q": "a,\"b\"\nc"}});
        agent
            .post("/projects/demo/calls", &body)
            .await
            .problem(404, "tool_not_found");
    }
}

#[tokio::test]
async fn json_lines_are_the_records_of_the_list() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    with_calls(&app, &admin, 5).await;
    let auditor = app.auditor(&admin).await;
    let listed = auditor
        .get("/projects/demo/audit?action=call")
        .await
        .expect(200)
        .json();
    let answer = auditor.get(EXPORT).await.expect(200);
    assert_eq!(answer.header("content-type"), "application/jsonl");
    let name = answer.header("content-disposition").to_owned();
    assert!(
        name.starts_with("attachment; filename=\"audit-demo-20") && name.ends_with("Z.jsonl\""),
        "{name}"
    );
    let lines: Vec<Value> = answer
        .text()
        .lines()
        .map(|line| serde_json::from_str(line).expect("a record"))
        .collect();
    assert_eq!(Value::from(lines), listed["items"]);

    // The export itself is on the record, and only later exports contain it.
    let exported = auditor
        .get("/projects/demo/audit?action=export")
        .await
        .expect(200)
        .json();
    let record = &exported["items"][0];
    assert_eq!(record["outcome"], "succeeded");
    assert_eq!(record["usage"], json!({"records": 5}));
    assert_eq!(record["principal_kind"], "service_key");
    let second = auditor
        .get(&format!("{EXPORT}&tool=%3Dtool3&order=oldest_first&format=jsonl"))
        .await
        .expect(200)
        .text();
    assert_eq!(second.lines().count(), 1);
    let exported = auditor
        .get("/projects/demo/audit?action=export&limit=1")
        .await
        .expect(200)
        .json();
    assert_eq!(
        exported["items"][0]["arguments"],
        json!({"action": "call", "tool": "=tool3", "format": "jsonl", "order": "oldest_first"})
    );
    assert_eq!(exported["items"][0]["usage"], json!({"records": 1}));
    let third = auditor
        .get("/projects/demo/audit/export?action=export")
        .await
        .expect(200)
        .text();
    assert_eq!(third.lines().count(), 2);
}

#[tokio::test]
async fn csv_is_safe_and_says_the_same() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    with_calls(&app, &admin, 3).await;
    let auditor = app.auditor(&admin).await;
    let answer = auditor
        .get(&format!("{EXPORT}&format=csv&order=oldest_first"))
        .await
        .expect(200);
    assert!(answer.header("content-type").starts_with("text/csv"));
    assert!(answer.header("content-disposition").ends_with(".csv\""));
    let mut reader = csv::Reader::from_reader(&*answer.body);
    let header = reader.headers().expect("a header").clone();
    let column = |name: &str| header.iter().position(|column| column == name).expect("a column");
    let rows: Vec<csv::StringRecord> = reader.records().map(|row| row.expect("a row")).collect();
    assert_eq!(rows.len(), 3);
    for (number, row) in rows.iter().enumerate() {
        assert_eq!(row[column("tool")], format!("'=tool{number}"));
        let arguments: Value = serde_json::from_str(&row[column("arguments")]).expect("JSON");
        assert_eq!(arguments, json!({"n": number, "q": "a,\"b\"\nc"}));
        assert_eq!(&row[column("requested_groups")], "[\"default\"]");
        assert_eq!(&row[column("payloads_hidden")], "");
    }
    // An owner gets the same rows without what was passed along.
    let text = admin
        .get(&format!("{EXPORT}&format=csv"))
        .await
        .expect(200)
        .text();
    assert!(!text.contains("a,\"\"b\"\""), "{text}");
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    for row in reader.records() {
        let row = row.expect("a row");
        assert_eq!(
            (&row[column("arguments")], &row[column("payloads_hidden")]),
            ("", "true")
        );
    }
}

#[tokio::test]
async fn exports_are_asked_for_properly() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    for query in ["format=xml", "cursor=x", "limit=5", "nope=1", "q="] {
        admin
            .get(&format!("{EXPORT}&{query}"))
            .await
            .problem(400, "malformed_request");
    }
    admin
        .get(&format!("{EXPORT}&trace_id=x"))
        .await
        .problem(403, "forbidden");
    let records = admin
        .get("/projects/demo/audit?action=export")
        .await
        .expect(200)
        .json();
    assert_eq!(records["items"], json!([]), "nothing was exported");
}

/// Writes many records at once.
pub(crate) async fn write_many(app: &TestApp, count: usize) {
    let project = app
        .gateway
        .snapshots
        .now()
        .project("demo")
        .expect("the project")
        .row
        .uid;
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..count {
        let (records, record) = (app.gateway.records.clone(), plain(app, number));
        tasks.spawn(async move { records.open(Opening { project, record }).await.map(drop) });
    }
    for outcome in tasks.join_all().await {
        outcome.expect("recorded");
    }
}

/// A record of little.
fn plain(app: &TestApp, number: usize) -> Box<AuditRecord> {
    let id = app.gateway.clock.new_id();
    Box::new(AuditRecord {
        id,
        at: app.gateway.clock.now(),
        action: AuditAction::Resolve,
        outcome: AuditOutcome::Succeeded,
        code: None,
        principal_kind: PrincipalKind::ServiceKey,
        principal_id: "key".to_owned(),
        principal_name: "key".to_owned(),
        tool: None,
        revision: None,
        requested_groups: vec!["default".to_owned()],
        granted_groups: vec!["default".to_owned()],
        missing_groups: Vec::new(),
        session_id: None,
        state_before: "undefined".to_owned(),
        state_from: None,
        state_after: Some("undefined".to_owned()),
        state_conflict: false,
        arguments: None,
        provenance: None,
        coercions: Vec::new(),
        context: None,
        request_id: number.to_string(),
        address: None,
        entrance: None,
        connection: None,
        client_name: None,
        account: None,
        client_version: None,
        snapshot_version: 1,
        payloads_hidden: false,
        duration_ms: Some(0),
        failure: None,
        usage: None,
        warnings: Vec::new(),
        artifact_id: None,
        after_execution: None,
        questions: Vec::new(),
        deferred_until: None,
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn long_exports_come_in_chunks_and_whole() {
    const COUNT: usize = 20_000;
    let app = TestApp::new().await;
    let admin = app.demo().await;
    write_many(&app, COUNT).await;
    let response = admin
        .open("/projects/demo/audit/export?action=resolve", &[])
        .await;
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers().get("content-length"), None);
    let mut body = response.into_body();
    let (mut chunks, mut largest, mut rows) = (0, 0, 0);
    while let Some(frame) = body.frame().await {
        let data = frame.expect("a chunk").into_data().expect("data");
        if chunks == 0 {
            // An export ends when its last chunk has room on its way: nearly everything is still to be read.
            let page = admin.get("/projects/demo/audit?action=export").await;
            assert_eq!(page.expect(200).json()["items"][0]["outcome"], "open");
        }
        chunks += 1;
        largest = largest.max(data.len());
        rows += data.iter().filter(|&&byte| byte == b'\n').count();
    }
    assert_eq!(rows, COUNT);
    assert_eq!(chunks, COUNT / 500);
    assert!(largest < 1 << 20, "{largest} bytes at once");
}

/// Both formats over HTTP, as long as the record is: the server holds a page at a time, however many there are.
///
/// `cargo test --release -p toolgate --test api -- --ignored --nocapture a_million`
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "writes and reads a million records, which takes minutes"]
async fn exports_of_a_million_records_take_no_memory() {
    const COUNT: usize = 1_000_000;
    /// What may be added after the first tenth; a file of all records has more than five times as much.
    const GROWTH_MB: usize = 32;
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let started = std::time::Instant::now();
    for _ in 0..COUNT / 20_000 {
        write_many(&app, 20_000).await;
    }
    println!("written: {:?}", started.elapsed());
    for format in ["jsonl", "csv"] {
        let started = std::time::Instant::now();
        let path = format!("/projects/demo/audit/export?action=resolve&format={format}");
        let mut body = admin.open(&path, &[]).await.into_body();
        let (mut bytes, mut lines, mut settled, mut most) = (0, 0, None, 0);
        while let Some(frame) = body.frame().await {
            let data = frame.expect("a chunk").into_data().expect("data");
            bytes += data.len();
            lines += data.iter().filter(|&&byte| byte == b'\n').count();
            if lines >= COUNT / 10 {
                let resident = resident_mb();
                most = most.max(resident);
                settled.get_or_insert(resident);
            }
        }
        let settled = settled.expect("it got that far");
        let head = usize::from(format == "csv");
        assert_eq!(lines, COUNT + head, "{format}");
        let megabytes = bytes >> 20;
        assert!(megabytes > 5 * GROWTH_MB, "{megabytes} MB would show");
        assert!(
            most <= settled + GROWTH_MB,
            "{format}: from {settled} MB to {most} MB"
        );
        println!(
            "{format}: {megabytes} MB in {:?}; {settled} MB resident after a tenth, at most {most} MB",
            started.elapsed()
        );
    }
}

/// Memory of this process, in megabytes.
fn resident_mb() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line
        .and_then(|line| line.split_whitespace().next())
        .expect("VmRSS");
    kilobytes.parse::<usize>().expect("a number") >> 10
}

#[tokio::test]
async fn an_export_without_a_reader_ends() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    with_calls(&app, &admin, 3).await;
    drop(admin.open(EXPORT, &[]).await);
    let path = "/projects/demo/audit?action=export";
    let record = loop {
        let page = admin.get(path).await.expect(200).json();
        if page["items"][0]["outcome"] != "open" {
            break page["items"][0].clone();
        }
        tokio::task::yield_now().await;
    };
    // It may have been written before it was known that there is no reader.
    assert!(
        record["outcome"] == "succeeded" || record["code"] == "cancelled",
        "{record}"
    );
    // The seat is free again: as many as may run at a time can run again and again.
    for _ in 0..5 {
        let answer = admin.get(EXPORT).await;
        assert!([200, 429].contains(&answer.status.as_u16()), "{}", answer.text());
    }
}
