use rstest::rstest;
use serde_json::json;

use super::*;
use crate::definition::ExecutorSet;
use crate::definition::queue::SubjectRules;
use crate::ids::ProjectId;

fn at() -> DateTime<Utc> {
    DateTime::from_timestamp(1_800_000_000, 0).expect("a time")
}

fn jokes() -> Value {
    json!({
        "tool-service": {
            "id": "joke-service",
            "request-queue": "non-persistent://tg/demo/joke",
            "response-queue": "non-persistent://tg/demo/joke-answers",
            "config-params": [{"name": "style"}]
        },
        "instance": "a",
        "version": "1.0.0",
        "tools": [{
            "name": "tell-joke",
            "description": "Tells a joke.",
            "style": "pun",
            "arguments": [{"name": "topic", "type": "string", "description": "The topic."}]
        }]
    })
}

fn previewed(message: &Value) -> Result<Preview, String> {
    let announcement = read(message.to_string().as_bytes(), at())?;
    let (project, rules) = (ProjectId::parse("demo").expect("an id"), SubjectRules::default());
    let context = UploadContext {
        project: &project,
        env_allowed: &|_| true,
        existing_services: &|_| None,
        executes: ExecutorSet::BUILT_IN,
        subjects: Some(&rules),
    };
    preview(&announcement, &context)
}

/// Why the only tool of an announcement is refused; empty when it is not.
fn refusal(tool: &Value) -> String {
    let mut message = jokes();
    message["tools"][0]
        .as_object_mut()
        .expect("a tool")
        .extend(tool.as_object().expect("keys").clone());
    let preview = previewed(&message).expect("a preview");
    preview.operations[0].tool.clone().err().unwrap_or_default()
}

#[test]
fn a_service_and_its_tools_become_operations() {
    let preview = previewed(&jokes()).expect("a preview");
    assert_eq!(
        (preview.title.as_str(), preview.version.as_str()),
        ("joke-service", "1.0.0")
    );
    assert_eq!(preview.format, DescriptionFormat::Announced);
    let service = preview.service.expect("a service");
    assert_eq!(
        service.request_queue.as_deref(),
        Some("non-persistent://tg/demo/joke")
    );
    let tool = preview.operations[0].tool.clone().expect("a tool").definition();
    assert_eq!(tool.service.as_deref(), Some("joke-service"));
    assert_eq!(tool.config["style"], "pun");
}

#[test]
fn a_worker_gets_its_own_commands_only() {
    let worker = |tool: Value| json!({"worker": {"target": "search"}, "instance": "a", "tools": [tool]});
    let named = |subject: &str| json!({"name": "find", "description": "Finds.", "target_subject": subject});
    let tool = |message: Value| previewed(&message).expect("a preview").operations[0].tool.clone();
    let own = tool(worker(json!({"name": "find", "description": "Finds."}))).expect("a tool");
    assert!(
        serde_json::to_string(&own.definition())
            .expect("JSON")
            .contains("cmd.tool.search")
    );
    assert!(tool(worker(named("cmd.tool.search.titles"))).is_ok());
    for foreign in [
        "cmd.tool.searcher",
        "cmd.tool.other",
        "cmd.sys.search",
        "cg.v1r4.other.public.cmd.tool.search.x",
    ] {
        let why = tool(worker(named(foreign))).expect_err(foreign);
        assert!(why.contains("begins with cmd.tool.search"), "{why}");
    }
}

#[rstest]
#[case::secrets(json!({"envs": {"key": "secret:KEY"}}), "no \"envs\"")]
#[case::another_service(json!({"service": "other"}), "no \"service\"")]
#[case::another_type(json!({"type": "openapi"}), "no \"type\"")]
#[case::fixed(json!({"fixed": {"a": 1}}), "no \"fixed\"")]
#[case::options(json!({"options": {"http": {"base_url": "https://example.com"}}}), "no \"http\"")]
#[case::a_subject(json!({"target_subject": "cmd.tool.x"}), "no \"target_subject\"")]
#[case::bounds(json!({"options": {"timeout_ms": 1000}}), "")]
#[case::groups(json!({"group": ["fun"], "available_in_states": ["idle"]}), "")]
fn a_tool_says_nothing_but_what_describes_it(#[case] tool: Value, #[case] why: &str) {
    let refusal = refusal(&tool);
    assert!(
        refusal.contains(why) && refusal.is_empty() == why.is_empty(),
        "{refusal}"
    );
}

#[rstest]
#[case::foreign_queue("request-queue", json!("non-persistent://tg/other/joke"), "may not use")]
#[case::the_bus_itself("request-queue", json!("$SYS.REQ"), "belong to the bus")]
#[case::one_queue("request-queue", json!("tg.demo.joke-answers"), "share one queue")]
#[case::secrets("envs", json!({"key": "secret:KEY"}), "no \"envs\"")]
#[case::none("request-queue", json!(null), "")]
fn a_descriptor_keeps_to_the_rules_of_uploads(#[case] key: &str, #[case] value: Value, #[case] why: &str) {
    let mut message = jokes();
    message["tool-service"][key] = value;
    let refusal = previewed(&message).expect_err("refused");
    assert!(refusal.contains(why), "{refusal}");
}

#[rstest]
#[case::text("[]")]
#[case::neither(r#"{"instance": "a"}"#)]
#[case::both(r#"{"instance": "a", "worker": {"target": "a"}, "tool-service": {"id": "a"}}"#)]
#[case::no_id(r#"{"instance": "a", "tool-service": {}}"#)]
#[case::no_instance(r#"{"tool-service": {"id": "a"}}"#)]
#[case::an_empty_instance(r#"{"tool-service": {"id": "a"}, "instance": ""}"#)]
#[case::from_the_future(
    r#"{"tool-service": {"id": "a"}, "instance": "a", "started": "2100-01-01T00:00:00Z"}"#
)]
fn what_is_no_announcement_is_refused(#[case] text: &str) {
    assert!(read(text.as_bytes(), at()).is_err());
}

#[test]
fn sizes_are_bounded() {
    let mut message = jokes();
    message["tools"] = vec![message["tools"][0].clone(); MAX_TOOLS + 1].into();
    let refused = read(message.to_string().as_bytes(), at()).expect_err("too many");
    assert!(refused.contains("at most 1000 tools"), "{refused}");
    assert!(read(&vec![b' '; MAX_BYTES + 1], at()).is_err());
    assert!(read_heartbeat(&vec![b' '; MAX_HEARTBEAT_BYTES + 1]).is_err());
}

#[test]
fn processes_of_one_version_have_one_digest() {
    let digest = |message: &Value| read(message.to_string().as_bytes(), at()).expect("read").digest;
    let (first, mut second) = (jokes(), jokes());
    second["instance"] = json!("b");
    second["started"] = json!("2026-01-01T00:00:00Z");
    assert_eq!(digest(&first), digest(&second));
    second["tools"][0]["description"] = json!("Tells another joke.");
    assert_ne!(digest(&first), digest(&second));
}

#[test]
fn a_heartbeat_names_its_process() {
    let beat =
        read_heartbeat(br#"{"service": "joke-service", "instance": "a", "version": "1", "stopping": true}"#);
    let beat = beat.expect("read");
    assert_eq!((beat.name.as_str(), beat.stopping), ("joke-service", true));
    assert!(read_heartbeat(br#"{"instance": "a"}"#).is_err());
}
