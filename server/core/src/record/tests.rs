//! Rules of reading as tables.

use chrono::{DateTime, TimeDelta, Utc};
use proptest::prelude::*;
use rstest::rstest;
use serde_json::json;
use toolgate_api::ErrorCode;
use toolgate_api::audit::{
    ArgumentCoercion, AuditAction, AuditConnection, AuditFailure, AuditOutcome, AuditRecord, CoercionKind,
    Entrance,
};
use toolgate_api::auth::PrincipalKind;
use uuid::Uuid;

use super::*;
use crate::ids::{CallId, SessionId};

fn at(seconds: i64) -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + TimeDelta::seconds(seconds)
}

fn record() -> AuditRecord {
    AuditRecord {
        account: None,
        id: Uuid::from_u128(1),
        at: at(100),
        action: AuditAction::Call,
        outcome: AuditOutcome::Failed,
        code: Some(ErrorCode::UpstreamRateLimited),
        principal_kind: PrincipalKind::ServiceKey,
        principal_id: "key-1".to_owned(),
        principal_name: "Research Agent".to_owned(),
        tool: Some("web-search".to_owned()),
        revision: Some(3),
        requested_groups: vec!["knowledge/read".to_owned(), "default".to_owned()],
        granted_groups: vec!["secret-group".to_owned()],
        missing_groups: vec!["billing".to_owned()],
        session_id: Some(Uuid::from_u128(2)),
        state_before: "draft".to_owned(),
        state_from: None,
        state_after: Some("reviewed".to_owned()),
        state_conflict: true,
        arguments: Some(
            json!({"query": "Größe der ÄPFEL", "nested": [{"deep": "x1"}], "n": 42, "flag": true}),
        ),
        provenance: Some(json!({"query": "caller"})),
        coercions: vec![ArgumentCoercion {
            pointer: "/query".to_owned(),
            kind: CoercionKind::ReadFromText,
        }],
        context: Some(json!({"trace_id": "t-9", "turn_epoch": 7})),
        request_id: "req-1".to_owned(),
        address: Some("192.0.2.7".to_owned()),
        entrance: Some(Entrance::Rest),
        connection: Some(AuditConnection {
            id: Uuid::from_u128(3),
            client_name: "Claude Code".to_owned(),
        }),
        client_name: Some("claude-code".to_owned()),
        client_version: Some("2.1.0".to_owned()),
        snapshot_version: 5,
        duration_ms: Some(120),
        failure: Some(AuditFailure {
            upstream: Some("api.example.com".to_owned()),
            upstream_status: Some(503),
            message: Some("it answered".to_owned()),
        }),
        usage: None,
        warnings: vec![toolgate_api::Diagnostic::warning("the value is too long")],
        artifact_id: Some(uuid::Uuid::from_u128(9)),
        after_execution: None,
        questions: Vec::new(),
        deferred_until: None,
        payloads_hidden: false,
    }
}

fn filter(change: impl FnOnce(&mut RecordFilter)) -> RecordFilter {
    let mut filter = RecordFilter::default();
    change(&mut filter);
    filter
}

/// Every field: one value that selects the record and one that does not.
#[test]
fn each_filter_selects_by_its_field() {
    type Set = fn(&mut RecordFilter);
    let rows: [(&str, Set, Set); 30] = [
        (
            "id",
            |f| f.id = Some(CallId(Uuid::from_u128(1))),
            |f| f.id = Some(CallId(Uuid::from_u128(9))),
        ),
        (
            "action",
            |f| f.action = Some(AuditAction::Call),
            |f| f.action = Some(AuditAction::Resolve),
        ),
        (
            "outcome",
            |f| f.outcome = Some(AuditOutcome::Failed),
            |f| f.outcome = Some(AuditOutcome::Open),
        ),
        (
            "code",
            |f| f.code = Some(ErrorCode::UpstreamRateLimited),
            |f| f.code = Some(ErrorCode::Timeout),
        ),
        (
            "kind",
            |f| f.principal_kind = Some(PrincipalKind::ServiceKey),
            |f| f.principal_kind = Some(PrincipalKind::User),
        ),
        (
            "principal",
            |f| f.principal_id = Some("key-1".into()),
            |f| f.principal_id = Some("KEY-1".into()),
        ),
        (
            "name",
            |f| f.principal_name = Some("Research Agent".into()),
            |f| f.principal_name = Some("Research".into()),
        ),
        (
            "tool",
            |f| f.tool = Some("web-search".into()),
            |f| f.tool = Some("web".into()),
        ),
        ("revision", |f| f.revision = Some(3), |f| f.revision = Some(2)),
        (
            "requested",
            |f| f.requested_group = Some("default".into()),
            |f| f.requested_group = Some("knowledge".into()),
        ),
        (
            "granted",
            |f| f.granted_group = Some("secret-group".into()),
            |f| f.granted_group = Some("default".into()),
        ),
        (
            "missing",
            |f| f.missing_group = Some("billing".into()),
            |f| f.missing_group = Some("default".into()),
        ),
        (
            "before",
            |f| f.state_before = Some("draft".into()),
            |f| f.state_before = Some("reviewed".into()),
        ),
        (
            "after",
            |f| f.state_after = Some("reviewed".into()),
            |f| f.state_after = Some("draft".into()),
        ),
        (
            "conflict",
            |f| f.state_conflict = Some(true),
            |f| f.state_conflict = Some(false),
        ),
        (
            "session",
            |f| f.session = Some(SessionId(Uuid::from_u128(2))),
            |f| f.session = Some(SessionId(Uuid::from_u128(1))),
        ),
        (
            "request",
            |f| f.request_id = Some("req-1".into()),
            |f| f.request_id = Some("req-2".into()),
        ),
        (
            "address",
            |f| f.address = Some("192.0.2.7".into()),
            |f| f.address = Some("192.0.2.8".into()),
        ),
        (
            "entrance",
            |f| f.entrance = Some(Entrance::Rest),
            |f| f.entrance = Some(Entrance::Mcp),
        ),
        (
            "connection",
            |f| f.connection = Some(Uuid::from_u128(3)),
            |f| f.connection = Some(Uuid::from_u128(4)),
        ),
        (
            "client",
            |f| f.client_name = Some("claude-code".into()),
            |f| f.client_name = Some("claude".into()),
        ),
        (
            "version of the client",
            |f| f.client_version = Some("2.1.0".into()),
            |f| f.client_version = Some("2.1".into()),
        ),
        (
            "version",
            |f| f.snapshot_version = Some(5),
            |f| f.snapshot_version = Some(6),
        ),
        (
            "trace",
            |f| f.context = vec![("trace_id", "t-9".into())],
            |f| f.context = vec![("channel_id", "t-9".into())],
        ),
        (
            "epoch",
            |f| f.context = vec![("turn_epoch", "7".into())],
            |f| f.context = vec![("turn_epoch", "8".into())],
        ),
        (
            "least",
            |f| f.min_duration_ms = Some(120),
            |f| f.min_duration_ms = Some(121),
        ),
        (
            "most",
            |f| f.max_duration_ms = Some(120),
            |f| f.max_duration_ms = Some(119),
        ),
        ("since", |f| f.since = Some(at(100)), |f| f.since = Some(at(101))),
        ("until", |f| f.until = Some(at(101)), |f| f.until = Some(at(100))),
        (
            "search",
            |f| f.search = Search::parse("agent", SearchScope::Metadata).ok(),
            |f| {
                f.search = Search::parse("nothing", SearchScope::Metadata).ok();
            },
        ),
    ];
    assert!(RecordFilter::default().matches(&record()));
    for (name, hit, miss) in rows {
        assert!(filter(hit).matches(&record()), "{name}");
        assert!(!filter(miss).matches(&record()), "{name}");
        // Together with another one that does not match, nothing does.
        let mut both = filter(hit);
        miss(&mut both);
        assert!(!both.matches(&record()), "{name}");
    }
}

#[test]
fn what_a_record_does_not_have_matches_no_filter() {
    let mut bare = record();
    (bare.tool, bare.revision, bare.session_id, bare.address) = (None, None, None, None);
    (bare.entrance, bare.client_name, bare.client_version) = (None, None, None);
    bare.connection = None;
    (bare.duration_ms, bare.state_after, bare.code, bare.context) = (None, None, None, None);
    type Set = fn(&mut RecordFilter);
    let rows: [Set; 13] = [
        |f| f.connection = Some(Uuid::nil()),
        |f| f.client_name = Some(String::new()),
        |f| f.client_version = Some(String::new()),
        |f| f.tool = Some(String::new()),
        |f| f.revision = Some(0),
        |f| f.session = Some(SessionId(Uuid::nil())),
        |f| f.address = Some(String::new()),
        |f| f.entrance = Some(Entrance::Rest),
        |f| f.min_duration_ms = Some(0),
        |f| f.max_duration_ms = Some(i64::MAX),
        |f| f.state_after = Some(String::new()),
        |f| f.code = Some(ErrorCode::Internal),
        |f| f.context = vec![("trace_id", String::new())],
    ];
    for set in rows {
        assert!(!filter(set).matches(&bare));
    }
}

#[rstest]
#[case::tool("web", true, true)]
#[case::case_does_not_matter("WEB", true, true)]
#[case::in_order("web-search", true, true)]
#[case::order_of_terms("search web", true, true)]
#[case::order_in_a_term("search-web", false, false)]
#[case::whole_words("sear", false, false)]
#[case::beginnings("sear*", true, true)]
#[case::beginning_of_the_last("web-sea*", true, true)]
#[case::name("agent research", true, true)]
#[case::quoted("\"research agent\"", true, true)]
#[case::quoted_order("\"agent research\"", false, false)]
#[case::not_across_texts("\"search research\"", false, false)]
#[case::group("knowledge/read", true, true)]
#[case::missing_group("billing", true, true)]
#[case::granted_groups_are_no_text("secret", false, false)]
#[case::states("draft reviewed", true, true)]
#[case::code("upstream_rate_limited", true, true)]
#[case::part_of_the_code("rate", true, true)]
#[case::argument("äpfel", false, true)]
#[case::argument_name("query", false, true)]
#[case::deep("x1", false, true)]
#[case::number("42", false, true)]
#[case::context("t-9", false, true)]
#[case::metadata_and_payload("agent größe", false, true)]
#[case::all_terms("agent nothing", false, false)]
#[case::unclosed_quote("\"research agent", true, true)]
#[case::like_is_no_pattern("w_b", false, false)]
#[case::nor_percent("w%b", false, false)]
fn searches(#[case] text: &str, #[case] metadata: bool, #[case] payloads: bool) {
    let finds = |scope| Search::parse(text, scope).unwrap().finds(&record());
    assert_eq!(
        (finds(SearchScope::Metadata), finds(SearchScope::Payloads)),
        (metadata, payloads)
    );
}

#[test]
fn searches_for_nothing_or_too_much_are_refused() {
    for text in ["", "  ", "*", "\"\"", "--- !"] {
        assert_eq!(
            Search::parse(text, SearchScope::Metadata),
            Err(SearchFault::Empty),
            "{text}"
        );
    }
    let many = "a ".repeat(MAX_TERMS);
    assert!(Search::parse(&many, SearchScope::Metadata).is_ok());
    assert_eq!(
        Search::parse(&(many + "b"), SearchScope::Metadata),
        Err(SearchFault::TooMany)
    );
}

#[test]
fn payloads_are_taken_out_whole_and_said_to_be() {
    let shown = without_payloads(record());
    let mut expected = record();
    (expected.arguments, expected.provenance, expected.context) = (None, None, None);
    expected.coercions = Vec::new();
    expected.warnings = Vec::new();
    expected.failure.as_mut().expect("a failure").message = None;
    expected.payloads_hidden = true;
    assert_eq!(shown, expected);
    let mut change = record();
    change.action = AuditAction::Access;
    assert_eq!(without_payloads(change.clone()), change, "who was given what");
}

#[test]
fn what_was_changed_is_no_payload() {
    for action in [
        AuditAction::Access,
        AuditAction::Policy,
        AuditAction::Definition,
        AuditAction::Export,
    ] {
        let mut record = record();
        record.action = action;
        assert_eq!(without_payloads(record.clone()), record);
        let search = Search::parse("äpfel", SearchScope::Metadata).unwrap();
        assert!(search.finds(&record));
    }
}

proptest! {
    /// Any text is found by any run of its own words, whatever separates them.
    #[test]
    fn a_text_is_found_by_its_own_words(
        text in proptest::collection::vec("[a-zA-ZäöüÄÖÜ0-9]{1,6}", 1..8),
        separators in proptest::collection::vec("[ ,.;_/-]{1,2}", 8),
        from in 0..8_usize,
        count in 1..4_usize,
    ) {
        let joined: String = text.iter().zip(&separators).map(|(word, separator)| format!("{word}{separator}")).collect();
        let mut record = record();
        record.arguments = Some(json!({"text": joined}));
        let from = from % text.len();
        let run = text[from..(from + count).min(text.len())].join(" ").to_uppercase();
        let search = Search::parse(&format!("\"{run}\""), SearchScope::Payloads).unwrap();
        prop_assert!(search.finds(&record));
        let empty = without_words(record);
        prop_assert!(!search.finds(&empty));
    }
}

/// The same without anything that is searched.
fn without_words(record: AuditRecord) -> AuditRecord {
    AuditRecord {
        code: None,
        tool: None,
        arguments: None,
        principal_name: String::new(),
        requested_groups: Vec::new(),
        missing_groups: Vec::new(),
        state_before: String::new(),
        state_after: None,
        context: None,
        ..record
    }
}
