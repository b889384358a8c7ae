//! What browsers read and write is what serde reads and writes.
//!
//! The values are made from the API document, which describes every type of the contract: with all fields, with the
//! required ones only, with each word of an enum; and then each part of them is replaced by what does not belong there.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use toolgate_api::json::{Json, Misfit, from_value};

/// A value as it was read, written again by both.
#[derive(Debug, PartialEq)]
struct Written {
    by_serde: String,
    by_us: String,
}

/// What both made of a value.
struct Verdicts {
    serde: Result<Written, String>,
    ours: Result<Written, Misfit>,
}

fn verdicts<T: Json + Serialize + DeserializeOwned>(value: &Value) -> Verdicts {
    fn written<T: Json + Serialize>(read: &T) -> Written {
        Written {
            by_serde: serde_json::to_string(read).expect("it can be written"),
            by_us: read.write().to_string(),
        }
    }
    Verdicts {
        serde: serde_json::from_value::<T>(value.clone())
            .map(|read| written(&read))
            .map_err(|error| error.to_string()),
        ours: from_value::<T>(value).map(|read| written(&read)),
    }
}

/// A type of the contract by its name in the API document.
struct Kind {
    name: &'static str,
    verdicts: fn(&Value) -> Verdicts,
}

macro_rules! kinds {
    ($($module:ident: $($name:ident),*;)*) => {
        &[$($(Kind { name: stringify!($name), verdicts: verdicts::<toolgate_api::$module::$name> },)*)*]
    };
}

/// Every type of the contract.
const KINDS: &[Kind] = kinds! {
    agent: ToolFormat, AgentRequest, AgentStep, AgentSession, AgentToolSet;
    alerts: AlertRule, AlertDelivery, Alert, AlertPage;
    artifacts: Artifact;
    audit: AuditAction, AuditOutcome, StateSource, AuditRecord, AuditPage, AuditOrder,
        AuditFormat, IntegrityStatus, IntegrityFault, AuditIntegrity;
    auth: LoginRequest, LoginResponse, PrincipalKind, Role, ProjectPermission, Membership, Me;
    calls: ResolveRequest, ResolveResponse, CallContext, CallRequest, CallStatus, StateChange,
        CallError, Truncation, ResultNotes, CallResponse;
    code: ErrorCode;
    egress: ProjectEgress;
    explain: ExplainRequest, DecisionEffect, DecisionTest, TestOutcome, GroupMatch, ClosedGroup,
        TestOperands, TestReport, ToolExplanation, ExplainedPrincipal, ExplainResponse;
    groups: Group, GroupPage, ClosedBy, GroupHolder, GroupUsage, PutGroup, RenameName, NameEffects,
        ToolEffect, ToolPlace;
    imports: ImportPreview, DescriptionFormat, ImportedOperation, ImportOutcome, ImportSecurity,
        ImportHost, Import, ImportSource, ImportCounts, ImportPage, ImportReport, ImportOperation,
        ImportOperationPage;
    keys: CreateKey, Key, CreatedKey, RotateKey, KeyPage;
    limits: ProjectLimits, Limit, RequestRate, LimitSubject, LimitUsage, LimitFill;
    permissions: GrantedGroup, GrantTerms, Permission, PermissionSource, HowGranted, PermissionCell,
        PermissionRow, PermissionMatrix, PermissionCandidate, PermissionCandidates;
    policy_tests: PolicyTest, Expectation, StoredPolicyTest, PolicyTestPage, PolicyTestItem,
        PolicyTestUpload, FoundDecision, PolicyTestResult, PolicyTestRun, BrokenPolicyTest,
        UploadPolicyTests;
    problem: Problem, Severity, Diagnostic;
    projects: CreateProject, Project, ProjectPage;
    quarantine: OperationChange, PropertyChange, MergeConflict, QuarantinedChange, MergeSides,
        QuarantinePage, MergeSide, ApproveChange, MergeChoice, DecideChanges, QuarantineSelection,
        QuarantineDecision, DecidedChanges, DecidedChange, DecisionOutcome;
    recommendations: RecommendationRequest, RecommendedTool, RecommendedGroup,
        RecommendationResponse;
    secrets: SetSecret, Secret, SecretUses, SecretPage;
    sessions: CreateSession, Session, CreatedSession, SessionPage, SessionTools, SessionTransition,
        SessionTransitionPage, CallSession;
    settings: ProjectSettings, SessionUse, StoredSettings, WebhookSettings, AlertThresholds;
    states: State, StatePage, PutState, StateGraphFormat, StateGraph, GraphState, GraphTransition,
        DeadEnd;
    status: StatusLevel, StatusCheck, SystemStatus;
    tool_uses: ToolPrincipal, ToolUses;
    tools: AfterExecution, Tool, ToolPage, UploadOutcome, DefinitionKind, UploadItem, UploadResult,
        ToolRevision, ToolRevisionPage, RevisionDiff, DefinitionsChecked;
    upstreams: BreakerState, ToolUpstream, UpstreamProbe, UpstreamHost, Upstreams;
    usage: UsageCounts, UsageHour, UsageItem, UsageReport;
    users: CreateUser, User, CreatedUser, UserPage, UpdateUser, ResetPassword, PasswordWasReset,
        ChangePassword;
};

/// Schemas that no type of the contract is behind.
const NOT_OURS: &[&str] = &[
    "Health",
    "PolicyTestsJson",
    "PolicyTestsYaml",
    "UploadForm",
    "UploadJson",
];

/// Types that the dashboard hands on as they came, or writes by hand.
const NOT_READ: &[&str] = &[
    "OneToolChange",
    "SeveralToolChanges",
    "ToolChange",
    "ToolChangeItem",
    "ToolChangeOutcome",
    "ToolChangeRequest",
    "ToolChangeResult",
    "ToolChanges",
    "ToolFileFormat",
    "ToolFilter",
    "ToolSelection",
    "ToolSort",
    "ToolUndo",
    "ToolUndoRequest",
    "ToolView",
    "UndoneTool",
];

/// Samples of a part, so that values stay small.
const FEW: usize = 3;

/// How deep values are changed: to the fields of the items of a list in an object.
const DEPTH: u32 = 4;

struct Document(Value);

impl Document {
    fn new() -> Self {
        let text = include_str!("../openapi.json");
        let mut document: Value = serde_json::from_str(text).expect("it is JSON");
        Self(document["components"]["schemas"].take())
    }

    /// Values of a schema. The first has everything.
    fn samples(&self, schema: &Value) -> Vec<Value> {
        if let Some(name) = schema["$ref"].as_str() {
            let name = name.trim_start_matches("#/components/schemas/");
            let schema = self.0.get(name);
            return self.samples(schema.unwrap_or_else(|| panic!("the document does not have {name}")));
        }
        if let Some(words) = schema["enum"].as_array() {
            return words.clone();
        }
        if let Some(parts) = schema["oneOf"].as_array() {
            let mut all: Vec<_> = parts.iter().flat_map(|part| self.samples(part)).collect();
            all.sort_by_key(Value::is_null);
            return all;
        }
        if let Some(parts) = schema["allOf"].as_array() {
            return together(&parts.iter().map(|part| self.few(part)).collect::<Vec<_>>());
        }
        match &schema["type"] {
            Value::Array(kinds) => kinds
                .iter()
                .filter(|kind| *kind != "null")
                .flat_map(|kind| {
                    let mut plain = schema.clone();
                    plain["type"] = kind.clone();
                    self.samples(&plain)
                })
                .chain([Value::Null])
                .collect(),
            Value::String(kind) => self.of_kind(kind, schema),
            _ => vec![json!({"anything": [1, null, -1.5]}), json!("anything")],
        }
    }

    fn few(&self, schema: &Value) -> Vec<Value> {
        let mut samples = self.samples(schema);
        samples.truncate(FEW);
        samples
    }

    fn of_kind(&self, kind: &str, schema: &Value) -> Vec<Value> {
        match kind {
            "null" => vec![Value::Null],
            "boolean" => vec![json!(true), json!(false)],
            "integer" => vec![json!(schema["minimum"].as_i64().unwrap_or(-7)), json!(400)],
            "number" => vec![json!(0.25), json!(3)],
            "string" => match schema["format"].as_str() {
                Some("uuid") => vec![json!("0199f7c2-5a8e-7c31-b7f8-0c5b2f6a9e11")],
                Some("date-time") => ["2026-11-21T10:00:00Z", "2026-11-21T10:00:00.123456+02:00"]
                    .map(Value::from)
                    .to_vec(),
                _ => vec![json!("a \"text\", é"), json!("")],
            },
            "array" => vec![Value::Array(self.few(&schema["items"])), json!([])],
            "object" => self.objects(schema),
            other => panic!("the document has a type that is not known here: {other}"),
        }
    }

    fn objects(&self, schema: &Value) -> Vec<Value> {
        let Some(fields) = schema["properties"].as_object() else {
            let values = &schema["additionalProperties"];
            return if values.is_object() {
                vec![
                    json!({"a": self.few(values)[0], "b/~": self.few(values)[0]}),
                    json!({}),
                ]
            } else {
                vec![json!({"anything": [1, null, -1.5]}), json!({})]
            };
        };
        let parts: Vec<Vec<Value>> = fields
            .iter()
            .map(|(name, schema)| {
                let values = self.few(schema).into_iter();
                values.map(|value| json!({name: value})).collect()
            })
            .collect();
        let mut all = together(&parts);
        let required = schema["required"].as_array().map_or(&[][..], Vec::as_slice);
        let is_required = |name: &str| required.iter().any(|other| other == name);
        let first = all[0].as_object().expect("it is an object").clone();
        all.push(first.into_iter().filter(|(name, _)| is_required(name)).collect());
        all
    }
}

/// Objects made of one sample of each part; as many as the part with the most samples has.
fn together(parts: &[Vec<Value>]) -> Vec<Value> {
    let count = parts.iter().map(Vec::len).max().unwrap_or(0).max(1);
    (0..count)
        .map(|index| {
            let one = |part: &Vec<Value>| part[index % part.len()].as_object().cloned().unwrap_or_default();
            Value::Object(parts.iter().flat_map(one).collect::<Map<_, _>>())
        })
        .collect()
}

/// Pointers to the parts of a value, to a depth at which those of further types begin.
fn parts(value: &Value, depth: u32) -> Vec<String> {
    if depth == 0 {
        return Vec::new();
    }
    let escaped = |name: &str| name.replace('~', "~0").replace('/', "~1");
    let inner: Vec<(String, &Value)> = match value {
        Value::Object(fields) => fields.iter().map(|(name, part)| (escaped(name), part)).collect(),
        Value::Array(items) => {
            let numbered = items.iter().enumerate();
            numbered.map(|(index, part)| (index.to_string(), part)).collect()
        }
        _ => Vec::new(),
    };
    let below = inner.into_iter().flat_map(|(name, part)| {
        let tails = parts(part, depth - 1).into_iter();
        tails
            .map(move |tail| format!("/{name}{tail}"))
            .collect::<Vec<_>>()
    });
    [String::new()].into_iter().chain(below).collect()
}

#[test]
fn every_type_of_the_document_is_looked_at() {
    let document = Document::new();
    let names = document.0.as_object().expect("there are schemas").keys();
    let missing: Vec<_> = names
        .filter(|name| !NOT_OURS.iter().chain(NOT_READ).any(|known| known == name))
        .filter(|name| KINDS.iter().all(|kind| kind.name != *name))
        .collect();
    assert!(missing.is_empty(), "add them to KINDS: {missing:?}");
}

#[test]
fn what_fits_is_read_and_written_as_serde_does() {
    let document = Document::new();
    for kind in KINDS {
        let samples = document.samples(&json!({"$ref": kind.name}));
        for mut sample in samples {
            let Verdicts { serde, ours } = (kind.verdicts)(&sample);
            let serde = serde.unwrap_or_else(|error| panic!("{}: {error}: {sample}", kind.name));
            let ours = ours.unwrap_or_else(|error| panic!("{}: {error}: {sample}", kind.name));
            assert_eq!(ours, serde, "{}: {sample}", kind.name);
            assert_eq!(ours.by_us, ours.by_serde, "{}", kind.name);

            if let Some(fields) = sample.as_object_mut() {
                fields.insert("told by a newer server".to_owned(), json!([1]));
                assert_eq!((kind.verdicts)(&sample).ours, Ok(ours), "{}", kind.name);
            }
        }
    }
}

#[test]
fn what_does_not_fit_is_refused_where_serde_refuses_it_and_named() {
    let wrong = [
        json!(null),
        json!(true),
        json!(-1.5),
        json!(1e300),
        json!(-9),
        json!("no such"),
        json!([{}]),
        json!({"a": true}),
    ];
    let document = Document::new();
    let mut refusals = 0_u32;
    for kind in KINDS {
        let sample = &document.samples(&json!({"$ref": kind.name}))[0];
        for pointer in parts(sample, DEPTH) {
            for wrong in &wrong {
                // Fields that are not known are refused by some types when the server reads them, and never here.
                if wrong.is_object() && sample.pointer(&pointer).is_some_and(Value::is_object) {
                    continue;
                }
                let mut value = sample.clone();
                *value.pointer_mut(&pointer).expect("it is there") = wrong.clone();
                refusals += compare(kind, &value, &pointer);
            }
            if let Some((above, name)) = pointer.rsplit_once('/') {
                let mut value = sample.clone();
                if let Some(Value::Object(fields)) = value.pointer_mut(above) {
                    fields.remove(&name.replace("~1", "/").replace("~0", "~"));
                    refusals += compare(kind, &value, &pointer);
                }
            }
        }
    }
    assert!(refusals > 1000, "{refusals}");
}

/// Whether serde and we agree on a value, and, if it is refused, what was changed is named. Returns how many were refused.
fn compare(kind: &Kind, value: &Value, changed: &str) -> u32 {
    let Verdicts { serde, ours } = (kind.verdicts)(value);
    match (serde, ours) {
        (Ok(serde), Ok(ours)) => {
            assert_eq!(ours, serde, "{}: {value}", kind.name);
            0
        }
        (Err(_), Err(misfit)) => {
            let is_named = misfit.pointer.starts_with(changed);
            assert!(is_named, "{} without {changed}: {misfit}", kind.name);
            1
        }
        (serde, ours) => panic!("{} with {changed} changed: {serde:?}, {ours:?}", kind.name),
    }
}
