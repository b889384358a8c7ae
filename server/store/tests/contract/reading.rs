//! Reading records: every filter, in both orders, page by page, however little a page may look at.

use std::collections::BTreeMap;

use serde_json::json;
use toolgate_api::ErrorCode;
use toolgate_api::audit::{AuditAction, AuditOutcome, AuditRecord};
use toolgate_api::auth::PrincipalKind;
use toolgate_core::ids::{CallId, ProjectUid, SessionId};
use toolgate_core::record::{Search, SearchScope};
use toolgate_store::rows::{Completion, Opening, RecordFilter, RecordOrder, RecordRange};
use uuid::Uuid;

use crate::backend::Backend;
use crate::examples::{at, call_of, completion, project, record};

contract! {
    every_filter_finds_what_it_says,
    a_page_looks_at_a_bounded_number,
    one_record_is_looked_up,
    only_what_is_before_a_bound,
}

const INSTANCE: Uuid = Uuid::from_u128(1);
const COUNT: i64 = 48;

/// An id made at a time, as those of calls are.
fn id_at(seconds: i64, number: i64) -> CallId {
    let millis = u128::try_from(at(seconds).timestamp_millis()).expect("after 1970");
    let number = u128::try_from(number).expect("positive");
    CallId(Uuid::from_u128(millis << 80 | 0x7 << 76 | 0b10 << 62 | number))
}

/// A record that differs from its neighbours in everything.
fn varied(number: i64) -> AuditRecord {
    // Hours lie between them, so that times bound ids too.
    let seconds = 100 + number * 3600;
    let pick = |count: i64| number % count;
    let mut record = record(id_at(seconds, number));
    record.at = at(seconds);
    record.principal_id = format!("agent-{}", pick(3));
    record.principal_name = format!("Agent Number{}", pick(4));
    record.tool = (pick(7) != 0).then(|| format!("web-search{}", pick(5)));
    record.revision = (pick(7) != 0).then_some(pick(5));
    record.requested_groups = vec![format!("knowledge/{}", pick(3)), "default".to_owned()];
    record.missing_groups = (pick(6) == 1).then(|| "billing".to_owned()).into_iter().collect();
    record.granted_groups = vec![format!("granted-{}", pick(2))];
    record.session_id = (pick(3) == 0).then(|| Uuid::from_u128(u128::from(pick(2) == 0)));
    record.state_before = format!("state{}", pick(4));
    record.arguments = Some(json!({"q": format!("needle{} Größe", pick(8)), "nested": [{"a": pick(9)}]}));
    record.context =
        (pick(2) == 0).then(|| json!({"trace_id": format!("trace-{}", pick(10)), "turn_epoch": pick(4)}));
    record.request_id = format!("request-{number}");
    record.address = (pick(5) > 0).then(|| format!("192.0.2.{}", pick(5)));
    record.snapshot_version = pick(6);
    if pick(4) == 1 {
        record.action = AuditAction::Resolve;
        record.principal_kind = PrincipalKind::External;
    }
    if pick(6) == 1 {
        record.outcome = AuditOutcome::Denied;
        record.code = Some(ErrorCode::InsufficientToolGroups);
        record.state_after = Some(record.state_before.clone());
        record.duration_ms = Some(0);
    }
    record
}

/// Writes records, oldest first, and ends some of the calls; answers them as they must be read.
async fn written(db: &Backend, uid: ProjectUid) -> Vec<AuditRecord> {
    let writer = db.store.records_writer(INSTANCE);
    let mut expected = Vec::new();
    for number in 0..COUNT {
        let mut record = varied(number);
        let opening = Opening {
            project: uid,
            record: Box::new(record.clone()),
        };
        let seq = writer.open(opening.clone()).await.expect("opened");
        let ending = (record.outcome == AuditOutcome::Open).then_some(number % 5);
        let ended = match ending {
            Some(0 | 1) => Some(completion(&opening, seq)),
            Some(2) => Some(Completion {
                outcome: AuditOutcome::Failed,
                code: Some(ErrorCode::Timeout),
                state_after: record.state_before.clone(),
                duration_ms: number * 10,
                usage: None,
                ..completion(&opening, seq)
            }),
            _ => None,
        };
        if let Some(ended) = ended {
            writer.complete(ended.clone()).await.expect("completed");
            record.outcome = ended.outcome;
            record.code = ended.code;
            record.state_after = Some(ended.state_after);
            record.duration_ms = Some(ended.duration_ms);
            record.usage = ended.usage;
        }
        expected.push(record);
    }
    expected
}

fn filters() -> Vec<RecordFilter> {
    type Set = fn(&mut RecordFilter);
    let search = |text: &str| Search::parse(text, SearchScope::Payloads).ok();
    let mut filters: Vec<RecordFilter> = [
        (|_| {}) as Set,
        |f| f.id = Some(id_at(100 + 9 * 3600, 9)),
        |f| f.id = Some(id_at(0, 0)),
        |f| f.action = Some(AuditAction::Resolve),
        |f| f.outcome = Some(AuditOutcome::Failed),
        |f| f.outcome = Some(AuditOutcome::Open),
        |f| f.outcome = Some(AuditOutcome::Denied),
        |f| f.code = Some(ErrorCode::Timeout),
        |f| f.code = Some(ErrorCode::InsufficientToolGroups),
        |f| f.code = Some(ErrorCode::NotFound),
        |f| f.principal_kind = Some(PrincipalKind::External),
        |f| f.principal_id = Some("agent-2".to_owned()),
        |f| f.principal_name = Some("Agent Number1".to_owned()),
        |f| f.tool = Some("web-search3".to_owned()),
        |f| f.tool = Some("Web-Search3".to_owned()),
        |f| f.revision = Some(2),
        |f| f.requested_group = Some("knowledge/1".to_owned()),
        |f| f.granted_group = Some("granted-1".to_owned()),
        |f| f.missing_group = Some("billing".to_owned()),
        |f| f.session = Some(SessionId(Uuid::from_u128(1))),
        |f| f.state_before = Some("state3".to_owned()),
        |f| f.state_after = Some("done".to_owned()),
        |f| f.state_conflict = Some(true),
        |f| f.state_conflict = Some(false),
        |f| f.request_id = Some("request-17".to_owned()),
        |f| f.address = Some("192.0.2.3".to_owned()),
        |f| f.snapshot_version = Some(5),
        |f| f.context = vec![("trace_id", "trace-4".to_owned())],
        |f| f.context = vec![("turn_epoch", "2".to_owned()), ("trace_id", "trace-2".to_owned())],
        |f| f.min_duration_ms = Some(100),
        |f| f.max_duration_ms = Some(100),
        |f| f.since = Some(at(100 + 20 * 3600)),
        |f| f.until = Some(at(100 + 20 * 3600)),
        |f| {
            f.since = Some(at(101 + 5 * 3600));
            f.until = Some(at(100 + 12 * 3600));
        },
        |f| {
            f.since = Some(at(500));
            f.until = Some(at(500));
        },
        |f| {
            f.outcome = Some(AuditOutcome::Succeeded);
            f.tool = Some("web-search1".to_owned());
            f.requested_group = Some("default".to_owned());
        },
    ]
    .into_iter()
    .map(|set| {
        let mut filter = RecordFilter::default();
        set(&mut filter);
        filter
    })
    .collect();
    for text in [
        "needle5",
        "NEEDLE* größe",
        "web-search1 state2",
        "timeout",
        "\"agent number3\"",
        "nothing",
    ] {
        filters.push(RecordFilter {
            search: search(text),
            ..RecordFilter::default()
        });
    }
    filters
}

/// Reads page after page to the end.
async fn read(
    db: &Backend,
    uid: ProjectUid,
    filter: &RecordFilter,
    range: RecordRange,
) -> (Vec<AuditRecord>, usize) {
    let (mut told, mut pages, mut range) = (Vec::new(), 0, range);
    loop {
        let page = db.store.record_page(uid, filter, &range).await.expect("a page");
        assert!(page.records.len() <= range.limit as usize);
        told.extend(page.records);
        pages += 1;
        assert!(pages < 1_000, "it does not end: {filter:?}");
        match page.next {
            Some(next) => range.after = Some(next),
            None => return (told, pages),
        }
    }
}

async fn every_filter_finds_what_it_says(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let all = written(&db, uid).await;
    let mut found_by = BTreeMap::new();
    for (number, filter) in filters().iter().enumerate() {
        let mut expected: Vec<AuditRecord> = all
            .iter()
            .filter(|&record| filter.matches(record))
            .cloned()
            .collect();
        found_by.insert(number, expected.len());
        for order in [RecordOrder::OldestFirst, RecordOrder::NewestFirst] {
            for (limit, scan) in [(1, 3), (7, 1), (200, 1000)] {
                let range = RecordRange {
                    order,
                    after: None,
                    before: None,
                    limit,
                    scan,
                };
                let (told, _) = read(&db, uid, filter, range).await;
                assert_eq!(told, expected, "{filter:?} {range:?}");
            }
            expected.reverse();
        }
    }
    let selective = found_by.values().filter(|&&count| count > 0 && count < all.len());
    assert!(
        selective.count() > 30,
        "the filters must tell records apart: {found_by:?}"
    );
}

async fn a_page_looks_at_a_bounded_number(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let all = written(&db, uid).await;
    let filter = RecordFilter {
        request_id: Some("request-0".to_owned()),
        ..RecordFilter::default()
    };
    let range = RecordRange {
        order: RecordOrder::NewestFirst,
        after: None,
        before: None,
        limit: 5,
        scan: 10,
    };
    let first = db.store.record_page(uid, &filter, &range).await.expect("a page");
    assert!(first.records.is_empty());
    assert_eq!(first.next, Some(CallId(all[all.len() - 10].id)));
    let (told, pages) = read(&db, uid, &filter, range).await;
    assert_eq!(told, all[..1]);
    assert_eq!(pages, 5, "48 records, 10 a page");
}

async fn one_record_is_looked_up(db: Backend) {
    let (uid, other) = (
        project(&db.store, "demo").await,
        project(&db.store, "other").await,
    );
    let all = written(&db, uid).await;
    for record in &all {
        let id = CallId(record.id);
        assert_eq!(
            db.store.record(uid, id).await.expect("the record").as_ref(),
            Some(record)
        );
        assert_eq!(db.store.record(other, id).await.expect("no record"), None);
    }
    assert_eq!(db.store.record(uid, id_at(0, 0)).await.expect("no record"), None);
}

async fn only_what_is_before_a_bound(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let all = written(&db, uid).await;
    let bound = call_of(&Opening {
        project: uid,
        record: Box::new(all[20].clone()),
    });
    for order in [RecordOrder::OldestFirst, RecordOrder::NewestFirst] {
        let range = RecordRange {
            order,
            after: None,
            before: Some(bound),
            limit: 6,
            scan: 1000,
        };
        let (mut told, _) = read(&db, uid, &RecordFilter::default(), range).await;
        if order == RecordOrder::NewestFirst {
            told.reverse();
        }
        assert_eq!(told, all[..20]);
    }
}
