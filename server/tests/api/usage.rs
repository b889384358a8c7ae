//! What was counted: the report, the metrics of the specification, and what stays after a restart.

use serde_json::{Value, json};
use toolgate::gateway::observe;
use toolgate_core::principal::PrincipalKind;

use crate::support::{Client, TestApp, echo, tool};

/// A project with two tools: `search` moves the state from `undefined` to `analysis`, where `report` is open.
pub(crate) async fn workflow<'a>(app: &'a TestApp, base: &str) -> Client<'a> {
    let admin = app.demo().await;
    let tools = [
        tool(
            "search",
            base,
            "/search",
            "group: [knowledge/read]\nstate: analysis\n",
        ),
        tool(
            "report",
            base,
            "/report",
            "group: [knowledge]\navailable_in_states: [analysis]\n",
        ),
        tool("broken", base, "/fails", "group: [knowledge]\n"),
    ];
    admin
        .upload("/projects/demo/tools", &tools.join("\n---\n"))
        .await
        .expect(201);
    admin
}

fn item<'v>(report: &'v Value, list: &str, name: &str) -> &'v Value {
    report[list]
        .as_array()
        .expect("a list")
        .iter()
        .find(|item| item["name"] == name)
        .unwrap_or_else(|| panic!("{name} is not in {report}"))
}

pub(crate) fn counts(value: &Value) -> [i64; 3] {
    ["calls", "denials", "failures"].map(|name| value[name].as_i64().expect("a number"))
}

pub(crate) async fn six_requests(agent: &Client<'_>) {
    let knowledge = |tool: &str| json!({"tool": tool, "group": ["knowledge"]});
    let calls = "/projects/demo/calls";
    agent.post(calls, &knowledge("search")).await.expect(200);
    agent.post(calls, &knowledge("search")).await.expect(200);
    agent.post(calls, &knowledge("broken")).await.expect(200);
    agent
        .post(calls, &knowledge("report"))
        .await
        .problem(403, "tool_not_in_state");
    agent
        .post(
            calls,
            &json!({"tool": "search", "group": ["knowledge", "secret stuff"]}),
        )
        .await
        .problem(403, "insufficient_tool_groups");
    agent
        .post("/projects/demo/resolve", &json!({"group": ["knowledge"]}))
        .await
        .expect(200);
}

#[tokio::test]
async fn usage_is_reported_by_hour_and_by_name() {
    let base = echo().await;
    let app = TestApp::with(&[("TOOLGATE_EGRESS_ALLOW", &base)]).await;
    let admin = workflow(&app, &base).await;
    let agent = app.key(&admin, "demo", "agent", &["knowledge"]).await;
    six_requests(&agent).await;

    let report = admin.get("/projects/demo/usage?hours=2").await.expect(200).json();
    assert_eq!(counts(&report["totals"]), [3, 2, 1]);
    let hours = report["hours"].as_array().expect("hours");
    assert_eq!(hours.len(), 2);
    // The hour may turn while the test runs.
    let sum = hours
        .iter()
        .map(counts)
        .fold([0; 3], |a, b| [a[0] + b[0], a[1] + b[1], a[2] + b[2]]);
    assert_eq!(sum, [3, 2, 1]);
    assert_eq!(counts(item(&report, "tools", "search")), [2, 1, 0]);
    assert_eq!(counts(item(&report, "tools", "report")), [0, 1, 0]);
    assert_eq!(counts(item(&report, "tools", "broken")), [1, 0, 1]);
    assert_eq!(counts(item(&report, "groups", "knowledge")), [3, 2, 1]);
    assert_eq!(
        report["groups"].as_array().expect("groups").len(),
        1,
        "no name that the project does not declare"
    );
    let me = agent.get("/auth/me").await.expect(200).json();
    let name = format!("service_key:{}", me["id"].as_str().expect("an id"));
    assert_eq!(counts(item(&report, "principals", &name)), [3, 2, 1]);

    // How long calls took; of what was only refused nothing is known.
    let search = item(&report, "tools", "search");
    let (mean, slowest) = (
        search["mean_ms"].as_i64().unwrap(),
        search["slowest_ms"].as_i64().unwrap(),
    );
    assert!((0..=slowest).contains(&mean), "{search}");
    assert_eq!(item(&report, "tools", "report").get("mean_ms"), None);
    assert!(item(&report, "groups", "knowledge")["slowest_ms"].is_i64());

    let one = admin
        .get("/projects/demo/usage?tool=search")
        .await
        .expect(200)
        .json();
    assert_eq!(counts(&one["totals"]), [2, 1, 0]);
    assert_eq!(one["hours"].as_array().expect("hours").len(), 24);

    let viewer = app.key(&admin, "demo", "viewer", &[]).await;
    let seen = viewer.get("/projects/demo/usage").await.expect(200).json();
    assert_eq!(counts(&seen["totals"]), [3, 2, 1]);
    assert_eq!(
        seen["principals"],
        Value::Null,
        "who asked is for those who may read the record"
    );
    for query in ["hours=0", "hours=169", "limit=0", "nope=1"] {
        admin
            .get(&format!("/projects/demo/usage?{query}"))
            .await
            .problem(400, "malformed_request");
    }
}

#[tokio::test]
async fn counts_survive_a_restart_and_are_known_at_start() {
    let base = echo().await;
    let settings = [("TOOLGATE_EGRESS_ALLOW", base.as_str())];
    let app = TestApp::with(&settings).await;
    let admin = workflow(&app, &base).await;
    let agent = app.key(&admin, "demo", "agent", &["knowledge"]).await;
    six_requests(&agent).await;
    observe::flush(&app.gateway).await.expect("stored");
    let me = agent.get("/auth/me").await.expect(200).json();
    let app = app.restart(&settings).await;
    let uid = app
        .gateway
        .snapshots
        .now()
        .project("demo")
        .expect("the project")
        .row
        .uid;
    let usage = app.gateway.observer.usage();
    let search = usage.tool(uid, "search").expect("it was called").counts;
    assert_eq!((search.calls, search.denials, search.failures), (2, 1, 0));
    let group = usage.group(uid, "knowledge").expect("it was asked for").counts;
    assert_eq!((group.calls, group.denials), (3, 2));
    let key = usage
        .principal(uid, PrincipalKind::ServiceKey, me["id"].as_str().expect("an id"))
        .expect("it was seen");
    assert_eq!(key.counts.calls, 3);
    assert!(usage.tool(uid, "nope").is_none());
}

#[tokio::test]
async fn the_metrics_of_the_specification_mean_what_they_say() {
    let base = echo().await;
    let app = TestApp::with(&[("TOOLGATE_EGRESS_ALLOW", &base)]).await;
    let admin = workflow(&app, &base).await;
    let agent = app.key(&admin, "demo", "agent", &["knowledge"]).await;
    six_requests(&agent).await;
    let created = agent
        .post("/projects/demo/sessions", &json!({"group": ["knowledge"]}))
        .await
        .expect(201)
        .json();
    let in_session = json!({"tool": "search", "session_id": created["id"]});
    agent.post("/projects/demo/calls", &in_session).await.expect(200);

    let text = app.anonymous().get("/metrics").await.expect(200).text();
    for line in [
        // Seven requests asked for it, and one more created a session with it.
        "agent_tool_group_requests_total{project=\"demo\",group=\"knowledge\"} 8",
        "agent_tool_group_requests_total{project=\"demo\",group=\"other\"} 1",
        "agent_group_access_denied_total{project=\"demo\",group=\"other\"} 1",
        "agent_group_access_denied_total{project=\"demo\",group=\"knowledge\"} 0",
        "agent_tool_group_availability{project=\"demo\",group=\"knowledge\"} 3",
        "agent_tool_group_availability{project=\"demo\",group=\"knowledge/read\"} 1",
        "agent_state_availability{project=\"demo\",state=\"analysis\"} 3",
        // Asking for tools, and creating a session: `search` and `broken`.
        "agent_filtered_tools_bucket{project=\"demo\",le=\"1\"} 0",
        "agent_filtered_tools_bucket{project=\"demo\",le=\"2\"} 2",
        "agent_state_transitions_total{project=\"demo\",tool=\"search\"} 3",
        "agent_workflow_duration_seconds_count{project=\"demo\",state=\"undefined\"} 1",
        "agent_invalid_state_transition_total{project=\"demo\",tool=\"report\",reason=\"closed\"} 1",
        "agent_privilege_escalation_attempts_total{project=\"demo\"} 1",
    ] {
        assert!(
            text.lines().any(|found| found == line),
            "{line} is not in\n{text}"
        );
    }
    assert!(
        !text.contains("secret stuff"),
        "names that callers make up are no labels"
    );
}

#[tokio::test]
async fn metrics_can_ask_for_a_token() {
    let app = TestApp::with(&[("TOOLGATE_TELEMETRY_METRICS_TOKEN", "a token for the scraper")]).await;
    app.anonymous()
        .get("/metrics")
        .await
        .problem(401, "unauthenticated");
    app.client("another token")
        .get("/metrics")
        .await
        .problem(401, "unauthenticated");
    app.client("a token for the scraper")
        .get("/metrics")
        .await
        .expect(200);
}

#[tokio::test]
async fn a_server_that_others_reach_keeps_its_metrics_to_itself() {
    let reachable = [
        ("TOOLGATE_LISTEN", "0.0.0.0:8080"),
        ("TOOLGATE_ALLOWED_HOSTS", "*"),
    ];
    let app = TestApp::with(&reachable).await;
    let problem = app.anonymous().get("/metrics").await.problem(403, "forbidden");
    let detail = problem["detail"].as_str().expect("a text");
    assert!(detail.contains("telemetry.metrics_token"), "{detail}");
    app.admin().await.get("/metrics").await.problem(403, "forbidden");
    let mut public = reachable.to_vec();
    public.push(("TOOLGATE_TELEMETRY_METRICS_PUBLIC", "true"));
    let app = TestApp::with(&public).await;
    app.anonymous().get("/metrics").await.expect(200);
}
