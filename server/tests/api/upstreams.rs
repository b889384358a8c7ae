//! The upstreams of a project's tools, and what definitions say about them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU16, AtomicUsize, Ordering};

use axum::Router;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::{any, get};
use serde_json::{Value, json};
use toolgate::gateway::probes;

use crate::support::{TestApp, serve, tool};

const CALLS: &str = "/projects/demo/calls";
const UPSTREAMS: &str = "/projects/demo/upstreams";

#[tokio::test]
async fn an_upstream_that_fails_is_left_alone_and_seen() {
    let fails = any(|| async { StatusCode::INTERNAL_SERVER_ERROR });
    let base = serve(Router::new().route("/fails", fails).fallback(|| async { "fine" })).await;
    let app = TestApp::with(&[("TOOLGATE_EGRESS_ALLOW", &base)]).await;
    let admin = app.demo().await;
    let empty = admin.get(UPSTREAMS).await.expect(200).json();
    assert_eq!(empty, json!({"tools": [], "hosts": []}));
    let broken = format!(
        "name: broken\ntype: openapi\ndescription: Fails.\noptions:\n  http: {{base_url: \"{base}\", path: /fails, breaker: \
         {{failures: 2, open_s: 60}}}}\n"
    );
    for definition in [broken, tool("fine", &base, "/", "")] {
        admin
            .upload("/projects/demo/tools", &definition)
            .await
            .expect(201);
    }
    let call = async |tool: &str| {
        let answer = admin.post(CALLS, &json!({"tool": tool})).await.expect(200).json();
        answer["error"]["code"].clone()
    };
    assert_eq!(call("fine").await, Value::Null);
    for code in ["upstream_unavailable", "upstream_unavailable", "tool_unavailable"] {
        assert_eq!(call("broken").await, code);
    }
    let seen = admin.get(UPSTREAMS).await.expect(200).json();
    let [broken, fine] = &seen["tools"].as_array().expect("tools")[..] else {
        panic!("two tools were called: {seen}")
    };
    assert_eq!(
        (&broken["tool"], &broken["state"]),
        (&json!("broken"), &json!("open"))
    );
    assert_eq!(
        (&broken["failures"], &broken["in_flight"]),
        (&json!(2), &json!(0))
    );
    assert!(
        broken["retry_in_s"]
            .as_u64()
            .is_some_and(|seconds| (1..=60).contains(&seconds))
    );
    assert!(broken["since"].is_string());
    assert_eq!(
        (&fine["tool"], &fine["state"]),
        (&json!("fine"), &json!("closed"))
    );
    assert!(fine.get("since").is_none() && fine.get("retry_in_s").is_none());
    assert_eq!(seen["hosts"][0]["host"], "127.0.0.1");
    assert_eq!(seen["hosts"][0]["failures_last_hour"], 2);

    let metrics = admin.get("/metrics").await.expect(200).text();
    assert!(metrics.contains("\ntoolgate_open_breakers 1\n"), "{metrics}");

    // What is not defined any more is not shown.
    admin
        .delete("/projects/demo/tools/broken", Some("*"))
        .await
        .expect(204);
    let seen = admin.get(UPSTREAMS).await.expect(200).json();
    assert_eq!(seen["tools"].as_array().map(Vec::len), Some(1));
}

/// An upstream that is as well as a test says, and counts how often it was asked.
async fn patient() -> (String, Arc<AtomicU16>, Arc<AtomicUsize>) {
    let (status, asked) = (Arc::new(AtomicU16::new(200)), Arc::new(AtomicUsize::new(0)));
    let (told, count) = (Arc::clone(&status), Arc::clone(&asked));
    let health = move |headers: HeaderMap| async move {
        count.fetch_add(1, Ordering::Relaxed);
        assert_eq!(headers["authorization"], "Bearer k-secret-1");
        StatusCode::from_u16(told.load(Ordering::Relaxed)).expect("a status")
    };
    let base = serve(
        Router::new()
            .route("/healthz", get(health))
            .fallback(|| async { "fine" }),
    )
    .await;
    (base, status, asked)
}

#[tokio::test]
async fn upstreams_are_asked_whether_they_are_well() {
    let (base, status, asked) = patient().await;
    let app = TestApp::with(&[
        ("TOOLGATE_EGRESS_ALLOW", &base),
        ("TOOLGATE_TOOL_ENV_KEY", "k-secret-1"),
    ])
    .await;
    let admin = app.demo().await;
    let probed = |name: &str, more: &str| {
        format!(
            "name: {name}\ntype: openapi\ndescription: Calls.\n{more}options:\n  http: {{base_url: \"{base}\", auth: {{env: \
             TOOLGATE_TOOL_ENV_KEY}}, probe: {{path: /healthz, interval_s: 30}}}}\n"
        )
    };
    for definition in [
        probed("watched", ""),
        probed("off", "enabled: false\n"),
        tool("plain", &base, "/", ""),
    ] {
        admin
            .upload("/projects/demo/tools", &definition)
            .await
            .expect(201);
    }
    // How often the upstream is asked when so many seconds have passed.
    let after = async |seconds| {
        let before = asked.load(Ordering::Relaxed);
        app.later(seconds);
        probes::run_due(&app.gateway).await;
        asked.load(Ordering::Relaxed) - before
    };
    after(0).await;
    assert_eq!(
        after(30).await,
        1,
        "within an interval, and only for the tool that is enabled"
    );
    assert_eq!(after(10).await, 0, "not before the next");
    let seen = admin.get(UPSTREAMS).await.expect(200).json();
    assert_eq!(seen["tools"].as_array().map(Vec::len), Some(1), "{seen}");
    let probe = &seen["tools"][0]["probe"];
    assert_eq!(
        (&probe["succeeded"], &probe["status"]),
        (&json!(true), &json!(200))
    );
    assert_eq!(seen["hosts"], json!([]), "a probe is no call");
    let audit = admin
        .get("/projects/demo/audit?action=call")
        .await
        .expect(200)
        .json();
    assert_eq!(audit["items"], json!([]), "and is not recorded");

    status.store(503, Ordering::Relaxed);
    assert_eq!(after(33).await, 1);
    assert_eq!(after(33).await, 1);
    let seen = admin.get(UPSTREAMS).await.expect(200).json();
    let probe = &seen["tools"][0]["probe"];
    assert_eq!(
        (&probe["succeeded"], &probe["status"], &probe["failures"]),
        (&json!(false), &json!(503), &json!(2))
    );
    assert_eq!(seen["tools"][0]["state"], "closed");
    let checked = async || {
        let status = admin.get("/status").await.expect(200).json();
        let checks = status["checks"].as_array().expect("checks").clone();
        checks
            .into_iter()
            .find(|check| check["id"] == "probe:demo:watched")
    };
    let check = checked().await.expect("a check");
    assert_eq!(check["status"], "failing");
    let summary = check["summary"].as_str().expect("a text");
    assert!(summary.contains("(HTTP 503), 2 times in a row"), "{summary}");
    let metrics = admin.get("/metrics").await.expect(200).text();
    for line in [
        "toolgate_failing_probes 1",
        "toolgate_probes_total{outcome=\"succeeded\"} 1",
        "toolgate_probes_total{outcome=\"failed\"} 2",
    ] {
        assert!(metrics.lines().any(|found| found == line), "{line} in {metrics}");
    }

    // Without a probe in its definition it is neither asked nor shown as failing.
    let changed = admin
        .upload("/projects/demo/tools", &tool("watched", &base, "/", ""))
        .await;
    assert!(changed.status.is_success());
    assert_eq!(after(60).await, 0);
    assert!(checked().await.is_none());
    let seen = admin.get(UPSTREAMS).await.expect(200).json();
    assert!(seen["tools"][0].get("probe").is_none(), "{seen}");
    let metrics = admin.get("/metrics").await.expect(200).text();
    assert!(metrics.contains("\ntoolgate_failing_probes 0\n"));
}

#[tokio::test]
async fn places_and_answers_of_single_tools_are_measured() {
    let base = serve(Router::new().fallback(|| async { "fine" })).await;
    let app = TestApp::with(&[("TOOLGATE_EGRESS_ALLOW", &base)]).await;
    let admin = app.demo().await;
    let with = |name: &str, more: &str| {
        format!(
            "name: {name}\ntype: openapi\ndescription: Calls.\noptions:\n  http: {{base_url: \"{base}\", {more}}}\n"
        )
    };
    for definition in [
        with("kept", "cache: {ttl_s: 60}"),
        with("bounded", "concurrency: 2"),
        with("gone", "concurrency: 2"),
        tool("plain", &base, "/", ""),
    ] {
        admin
            .upload("/projects/demo/tools", &definition)
            .await
            .expect(201);
    }
    for name in ["kept", "bounded", "gone", "plain", "kept", "kept"] {
        admin.post(CALLS, &json!({"tool": name})).await.expect(200);
    }
    admin
        .delete("/projects/demo/tools/gone", Some("*"))
        .await
        .expect(204);
    let metrics = admin.get("/metrics").await.expect(200).text();
    let of_tools: Vec<&str> = metrics
        .lines()
        .filter(|line| line.starts_with("agent_tool_calls_") || line.starts_with("agent_tool_cache_"))
        .collect();
    assert_eq!(
        of_tools,
        [
            "agent_tool_calls_running{project=\"demo\",tool=\"bounded\"} 0",
            "agent_tool_calls_waiting{project=\"demo\",tool=\"bounded\"} 0",
            "agent_tool_calls_refused_total{project=\"demo\",tool=\"bounded\"} 0",
            "agent_tool_cache_hits_total{project=\"demo\",tool=\"kept\"} 2",
            "agent_tool_cache_misses_total{project=\"demo\",tool=\"kept\"} 1",
        ]
    );
    assert!(
        metrics
            .lines()
            .any(|line| line.starts_with("toolgate_cache_bytes "))
    );
}
