//! How many calls per second the record allows: each opens a record, waits for that commit, completes it and waits again,
//! 32 at a time, in a SQLite file.
//!
//! `cargo bench -p toolgate-store`

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use chrono::DateTime;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use serde_json::json;
use toolgate_api::audit::{AuditAction, AuditOutcome, AuditRecord, Entrance, StateSource};
use toolgate_api::auth::PrincipalKind;
use toolgate_core::ids::{CallId, ProjectUid};
use toolgate_store::rows::{Completion, Opening};
use toolgate_store::{RecordWriter, Store};
use uuid::Uuid;

const CONNECTIONS: u64 = 32;
const PROJECT: ProjectUid = ProjectUid(Uuid::from_u128(7));

fn opening(id: CallId) -> Opening {
    let record = Box::new(AuditRecord {
        id: id.0,
        at: DateTime::UNIX_EPOCH,
        action: AuditAction::Call,
        outcome: AuditOutcome::Open,
        code: None,
        principal_kind: PrincipalKind::ServiceKey,
        principal_id: "0199f7c2-5a8e-7c31-b7f8-0c5b2f6a9e11".to_owned(),
        principal_name: "research-agent".to_owned(),
        tool: Some("web-search".to_owned()),
        revision: Some(3),
        requested_groups: vec!["knowledge".to_owned()],
        granted_groups: vec!["default".to_owned(), "knowledge".to_owned()],
        missing_groups: Vec::new(),
        session_id: None,
        state_before: "undefined".to_owned(),
        state_from: Some(StateSource::Default),
        state_after: None,
        state_conflict: false,
        arguments: Some(json!({"q": "how fast is a group commit", "num": 10})),
        provenance: Some(json!({"q": "caller", "num": "default"})),
        coercions: Vec::new(),
        context: None,
        request_id: "0199f7c2-5a8e-7c31-b7f8-0c5b2f6a9e12".to_owned(),
        address: Some("192.0.2.7".to_owned()),
        entrance: Some(Entrance::Rest),
        connection: None,
        client_name: None,
        account: None,
        client_version: None,
        snapshot_version: 12,
        duration_ms: None,
        payloads_hidden: false,
        failure: None,
        usage: None,
        warnings: Vec::new(),
        artifact_id: None,
        after_execution: None,
        questions: Vec::new(),
        deferred_until: None,
    });
    Opening {
        project: PROJECT,
        record,
    }
}

async fn pair(writer: &RecordWriter, id: CallId) {
    let record = writer.open(opening(id)).await.expect("opened");
    let completion = Completion {
        project: PROJECT,
        id,
        record,
        outcome: AuditOutcome::Succeeded,
        code: None,
        state_before: "undefined".to_owned(),
        state_after: "undefined".to_owned(),
        duration_ms: 3,
        usage: None,
        noted: None,
        session: None,
        settlement: None,
        late: None,
    };
    writer.complete(black_box(completion)).await.expect("completed");
}

fn pairs(criterion: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let folder = tempfile::tempdir().expect("a folder");
    let url = format!("sqlite:{}", folder.path().join("bench.db").display());
    let store = runtime.block_on(Store::open(&url)).expect("a store");
    let writer = {
        let _inside = runtime.enter();
        store.records_writer(Uuid::from_u128(1))
    };
    let next = Arc::new(AtomicU64::new(0));

    let mut group = criterion.benchmark_group("records");
    group
        .throughput(Throughput::Elements(1))
        .sample_size(10)
        .measurement_time(Duration::from_secs(10));
    group.bench_function("open and complete, 32 at a time", |bencher| {
        bencher.iter_custom(|pairs| {
            runtime.block_on(async {
                let started = Instant::now();
                let tasks = (0..CONNECTIONS.min(pairs)).map(|task| {
                    let (writer, next) = (writer.clone(), Arc::clone(&next));
                    let share = pairs / CONNECTIONS + u64::from(task < pairs % CONNECTIONS);
                    tokio::spawn(async move {
                        for _ in 0..share {
                            let id = next.fetch_add(1, Ordering::Relaxed);
                            pair(&writer, CallId(Uuid::from_u128(u128::from(id) << 32))).await;
                        }
                    })
                });
                for task in tasks.collect::<Vec<_>>() {
                    task.await.expect("no panic");
                }
                started.elapsed()
            })
        });
    });
    group.finish();
}

criterion_group!(benches, pairs);
criterion_main!(benches);
