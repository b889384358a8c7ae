//! Usage over time: by what it is asked for, within which window, and by whom.

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::Value;

use crate::support::{Client, TestApp, echo};
use crate::usage::{counts, six_requests, workflow};

const PATH: &str = "/projects/demo/usage/series";

async fn series(client: &Client<'_>, query: &str) -> Value {
    client.get(&format!("{PATH}{query}")).await.expect(200).json()
}

fn line<'v>(series: &'v Value, name: &str) -> &'v Value {
    let lines = series["lines"].as_array().expect("lines");
    lines
        .iter()
        .find(|line| line["name"] == name)
        .unwrap_or_else(|| panic!("{name} is not in {series}"))
}

#[tokio::test]
async fn every_kind_of_series_counts_the_same_requests() {
    let base = echo().await;
    let app = TestApp::with(&[("TOOLGATE_EGRESS_ALLOW", &base)]).await;
    let admin = workflow(&app, &base).await;
    let agent = app.key(&admin, "demo", "agent", &["knowledge"]).await;
    six_requests(&agent).await;

    let total = series(&admin, "").await;
    assert_eq!(total["slot_s"], 900);
    let all = line(&total, "");
    assert_eq!(counts(&all["totals"]), [3, 2, 1]);
    let points = all["points"].as_array().expect("points");
    let sum = points
        .iter()
        .map(counts)
        .fold([0; 3], |a, b| [a[0] + b[0], a[1] + b[1], a[2] + b[2]]);
    assert_eq!(sum, [3, 2, 1]);
    let took = ["p50_ms", "p95_ms", "p99_ms"].map(|name| all["durations"][name].as_i64().expect("a time"));
    assert!(took.is_sorted(), "{took:?}");

    let tools = series(&admin, "?by=tool").await;
    assert_eq!(counts(&line(&tools, "search")["totals"]), [2, 1, 0]);
    assert_eq!(counts(&line(&tools, "broken")["totals"]), [1, 0, 1]);
    assert_eq!(
        line(&tools, "report").get("durations"),
        None,
        "it was only refused"
    );
    let one = series(&admin, "?by=tool&name=broken").await;
    assert_eq!(one["lines"].as_array().expect("lines").len(), 1);
    let groups = series(&admin, "?by=group").await;
    assert_eq!(counts(&line(&groups, "knowledge")["totals"]), [3, 2, 1]);
    let entrances = series(&admin, "?by=entrance").await;
    assert_eq!(counts(&line(&entrances, "rest")["totals"]), [3, 2, 1]);
    let principals = series(&admin, "?by=principal&limit=1").await;
    assert_eq!(principals["lines"].as_array().expect("lines").len(), 1);

    let viewer = app.key(&admin, "demo", "viewer", &[]).await;
    series(&viewer, "?by=group").await;
    let refused = viewer.get(&format!("{PATH}?by=principal")).await;
    refused.problem(403, "forbidden");
}

#[tokio::test]
async fn windows_are_bounded_and_cut_into_slots() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let now = app.gateway.clock.now();
    let text = |at: DateTime<Utc>| at.to_rfc3339_opts(chrono::SecondsFormat::Secs, true);
    let window = |length: TimeDelta| format!("?since={}&until={}", text(now - length), text(now));
    for (length, slot_s) in [
        (TimeDelta::minutes(15), 60),
        (TimeDelta::days(7), 3600),
        (TimeDelta::days(30), 14_400),
    ] {
        let found = series(&admin, &window(length)).await;
        assert_eq!(found["slot_s"], slot_s, "{length}");
        assert_eq!(found["lines"], serde_json::json!([]));
    }
    for query in [
        window(TimeDelta::zero()),
        window(TimeDelta::minutes(-5)),
        window(TimeDelta::days(400)),
        "?limit=0".to_owned(),
        "?limit=21".to_owned(),
        "?by=colour".to_owned(),
    ] {
        let answer = admin.get(&format!("{PATH}{query}")).await;
        answer.problem(400, "malformed_request");
    }
}
