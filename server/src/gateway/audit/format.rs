//! Records as files: JSON lines, and CSV that a spreadsheet may open.

use toolgate_api::audit::{AuditFormat, AuditRecord};

use crate::gateway::spreadsheet;

/// The columns of a CSV file: every field of a record, in the order of its document.
pub const COLUMNS: [&str; 39] = [
    "id",
    "at",
    "action",
    "outcome",
    "code",
    "principal_kind",
    "principal_id",
    "principal_name",
    "tool",
    "revision",
    "requested_groups",
    "granted_groups",
    "missing_groups",
    "session_id",
    "state_before",
    "state_from",
    "state_after",
    "state_conflict",
    "arguments",
    "provenance",
    "coercions",
    "context",
    "request_id",
    "address",
    "entrance",
    "connection",
    "client_name",
    "client_version",
    "account",
    "snapshot_version",
    "payloads_hidden",
    "duration_ms",
    "failure",
    "usage",
    "warnings",
    "artifact_id",
    "after_execution",
    "questions",
    "deferred_until",
];

/// The media type of a format.
#[must_use]
pub const fn media_type(format: AuditFormat) -> &'static str {
    match format {
        AuditFormat::Jsonl => "application/jsonl",
        AuditFormat::Csv => "text/csv; charset=utf-8; header=present",
    }
}

/// The ending of a file's name.
#[must_use]
pub const fn ending(format: AuditFormat) -> &'static str {
    match format {
        AuditFormat::Jsonl => "jsonl",
        AuditFormat::Csv => "csv",
    }
}

/// What a file begins with.
///
/// # Errors
/// Never in practice: memory is written to.
pub fn head(format: AuditFormat) -> std::io::Result<Vec<u8>> {
    match format {
        AuditFormat::Jsonl => Ok(Vec::new()),
        AuditFormat::Csv => spreadsheet::head(&COLUMNS),
    }
}

/// Records as lines of a file.
///
/// # Errors
/// Never in practice: memory is written to.
pub fn lines(format: AuditFormat, records: &[AuditRecord]) -> std::io::Result<Vec<u8>> {
    match format {
        AuditFormat::Jsonl => {
            let mut text = Vec::with_capacity(records.len() * 512);
            for record in records {
                serde_json::to_writer(&mut text, record)?;
                text.push(b'\n');
            }
            Ok(text)
        }
        AuditFormat::Csv => spreadsheet::rows(&COLUMNS, records),
    }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use serde_json::json;
    use toolgate_api::ErrorCode;
    use toolgate_api::audit::{
        ArgumentCoercion, AuditAccount, AuditAction, AuditConnection, AuditFailure, AuditOutcome,
        AuditQuestion, CoercionKind, Entrance, QuestionMode, QuestionOutcome, StateSource,
    };
    use toolgate_api::auth::PrincipalKind;
    use uuid::Uuid;

    use super::*;

    /// A record that has every field.
    fn full() -> AuditRecord {
        AuditRecord {
            id: Uuid::from_u128(1),
            at: DateTime::UNIX_EPOCH,
            action: AuditAction::Call,
            outcome: AuditOutcome::Failed,
            code: Some(ErrorCode::Timeout),
            principal_kind: PrincipalKind::User,
            principal_id: "1".to_owned(),
            principal_name: "=cmd|'/C calc'!A0".to_owned(),
            tool: Some("a,b\"c\r\nd".to_owned()),
            revision: Some(2),
            requested_groups: vec!["a b".to_owned(), "c".to_owned()],
            granted_groups: Vec::new(),
            missing_groups: vec!["@x".to_owned()],
            session_id: Some(Uuid::nil()),
            state_before: "-1".to_owned(),
            state_from: Some(StateSource::Request),
            state_after: Some("größer".to_owned()),
            state_conflict: true,
            arguments: Some(json!({"q": "x\ny"})),
            provenance: Some(json!({"q": "caller"})),
            coercions: vec![ArgumentCoercion {
                pointer: "/q".to_owned(),
                kind: CoercionKind::ReadFromText,
            }],
            context: Some(json!({"trace_id": "t"})),
            request_id: "r".to_owned(),
            address: Some("192.0.2.1".to_owned()),
            entrance: Some(Entrance::Rest),
            connection: Some(AuditConnection {
                id: Uuid::nil(),
                client_name: "a client".to_owned(),
            }),
            client_name: Some("=client".to_owned()),
            client_version: Some("1.0".to_owned()),
            account: Some(AuditAccount {
                provider: "issues".to_owned(),
                label: Some("ada".to_owned()),
                id: Some(Uuid::nil()),
            }),
            snapshot_version: 3,
            payloads_hidden: true,
            duration_ms: Some(5),
            failure: Some(AuditFailure {
                upstream: Some("api.example.com".to_owned()),
                upstream_status: Some(503),
                message: Some("the upstream answered with HTTP status 503".to_owned()),
            }),
            usage: Some(json!({"tokens": 1})),
            warnings: vec![toolgate_api::Diagnostic::warning("the value is too long")],
            artifact_id: Some(Uuid::nil()),
            after_execution: Some(toolgate_api::tools::AfterExecution::Suspend),
            questions: vec![AuditQuestion {
                mode: QuestionMode::Form,
                outcome: QuestionOutcome::Accepted,
            }],
            deferred_until: Some(chrono::DateTime::UNIX_EPOCH),
        }
    }

    #[test]
    fn csv_has_every_field() {
        let fields = serde_json::to_value(full()).unwrap();
        let names: Vec<&String> = fields.as_object().unwrap().keys().collect();
        assert_eq!(names, COLUMNS);
    }

    #[test]
    fn csv_comes_back_as_it_was() {
        let mut text = head(AuditFormat::Csv).unwrap();
        text.extend(lines(AuditFormat::Csv, &[full()]).unwrap());
        assert!(text.ends_with(b"\r\n"));
        let mut reader = csv::Reader::from_reader(&*text);
        let header: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
        let row = reader.records().next().unwrap().unwrap();
        let field = |name: &str| &row[header.iter().position(|column| column == name).unwrap()];
        for (name, expected) in [
            ("principal_name", "'=cmd|'/C calc'!A0"),
            ("tool", "a,b\"c\r\nd"),
            ("state_before", "'-1"),
            ("state_after", "größer"),
            ("requested_groups", "[\"a b\",\"c\"]"),
            ("granted_groups", "[]"),
            ("arguments", "{\"q\":\"x\\ny\"}"),
            ("revision", "2"),
            ("at", "1970-01-01T00:00:00Z"),
            ("state_conflict", "true"),
        ] {
            assert_eq!(field(name), expected, "{name}");
        }
    }

    #[test]
    fn json_lines_come_back_as_they_were() {
        let text = lines(AuditFormat::Jsonl, &[full(), full()]).unwrap();
        assert_eq!(head(AuditFormat::Jsonl).unwrap(), b"");
        let back: Vec<AuditRecord> = text
            .split(|&byte| byte == b'\n')
            .filter(|line| !line.is_empty())
            .map(|line| serde_json::from_slice(line).unwrap())
            .collect();
        assert_eq!(back, [full(), full()]);
    }
}
