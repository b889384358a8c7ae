//! Commands of the UTP tool protocol.

use serde_json::{Value, json};

use toolgate::gateway::bus::sha256;

use super::{COMMAND, Caller, Open, WAKEUP, headers};
use crate::bus::until_connected;
use crate::nats::Nats;
use crate::replicas;
use crate::support::{TestApp, echo, serve};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_is_answered_by_a_card_a_report_and_a_wake_up() {
    let open = Open::new().await;
    let caller = Caller::new(&open).await;
    let (card, payload) = Caller::call("t1", "search", &json!({"q": "cats"}));
    let text = caller.store(&card).await;
    caller.send(Caller::control("t1"), &text, &payload).await;
    let (_, said, report, result) = caller.report(0).await;
    assert_eq!(
        report,
        json!({"after_execution": "suspend", "status": "success", "tool_result_card_id": "t1.result"})
    );
    for (name, value) in [
        ("CG-Project-Id", "demo"),
        ("CG-Channel-Id", "main"),
        ("CG-Agent-Id", "researcher"),
        ("CG-Turn-Id", "turn-1"),
        ("CG-Turn-Epoch", "3"),
        ("CG-Tool-Call-Id", "t1"),
        ("CG-Recursion-Depth", "1"),
        ("CG-Sender", "tool.toolgate"),
    ] {
        assert_eq!(
            said.get(name).map(async_nats::HeaderValue::as_str),
            Some(value),
            "{name}"
        );
    }
    let trace = said.get("traceparent").expect("a trace").as_str();
    assert!(
        trace.starts_with("00-4bf92f3577b34da6a3ce929d0e0e4736-"),
        "{trace}"
    );
    assert!(!trace.contains("00f067aa0ba902b7"), "a child: {trace}");
    assert_eq!(result["type"], "tool.result");
    assert_eq!(result["author_id"], "tool.toolgate");
    assert_eq!(result["content"]["status"], "success");
    assert_eq!(result["content"]["error"], Value::Null);
    assert_eq!(result["content"]["result"]["query"]["q"], "cats");
    assert_eq!(
        result["metadata"],
        json!({"agent_turn_id": "turn-1", "tool_call_id": "t1", "role": "tool", "function_name": "search",
               "step_id": "step-1", "trace_id": "trace-1", "parent_step_id": "step-0"})
    );
    let woken = caller.kept("cg_cmd_v1r4", WAKEUP, 0).await;
    assert!(woken.headers.get("CG-Tool-Call-Id").is_none(), "no topology");
    assert_eq!(
        woken
            .headers
            .get("CG-Agent-Id")
            .map(async_nats::HeaderValue::as_str),
        Some("researcher")
    );
    let record = open.last_record().await;
    assert_eq!(
        (&record["entrance"], &record["outcome"]),
        (&json!("bus"), &json!("succeeded"))
    );
    assert_eq!(record["context"]["agent_id"], "researcher");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_malformed_command_is_answered_with_its_error() {
    let open = Open::new().await;
    let caller = Caller::new(&open).await;
    let mut seen = 0;
    let without = |id: &str, change: &dyn Fn(&mut Value, &mut Value)| {
        let (mut card, mut payload) = Caller::call(id, "search", &json!({"q": "cats"}));
        change(&mut card, &mut payload);
        (card, payload)
    };
    type Change = Box<dyn Fn(&mut Value, &mut Value) + Send + Sync>;
    let cases: Vec<(Change, &str, &str)> = vec![
        (
            Box::new(|_, payload| payload["agent_id"] = json!("x")),
            "bad_request",
            "forbidden control fields: agent_id",
        ),
        (
            Box::new(|_, payload| payload["args"] = json!({})),
            "bad_request",
            "unknown fields: args",
        ),
        (
            Box::new(|_, payload| payload["tool_name"] = json!(" ")),
            "bad_request",
            "missing required fields: tool_name",
        ),
        (
            Box::new(|_, payload| payload["after_execution"] = json!("stop")),
            "bad_request",
            "invalid_after_execution",
        ),
        (
            Box::new(|_, payload| payload["tool_call_card_id"] = json!("none")),
            "not_found",
            "no card",
        ),
        (
            Box::new(|card, _| card["type"] = json!("text")),
            "bad_request",
            "the card's type",
        ),
        (
            Box::new(|card, _| card["tool_call_id"] = json!("other")),
            "bad_request",
            "the card's tool_call_id",
        ),
        (
            Box::new(|card, _| card["project_id"] = json!("other")),
            "bad_request",
            "the card's project_id",
        ),
        (
            Box::new(|card, _| card["content"] = json!("text")),
            "bad_request",
            "no tool.call",
        ),
        (
            Box::new(|card, _| card["content"]["extra"] = json!(1)),
            "bad_request",
            "unknown field",
        ),
        (
            Box::new(|card, _| card["content"]["tool_name"] = json!("other")),
            "bad_request",
            "content.tool_name",
        ),
    ];
    for (at, (change, code, says)) in cases.into_iter().enumerate() {
        let id = format!("bad-{at}");
        let (card, payload) = without(&id, &change);
        let text = caller.store(&card).await;
        caller.send(Caller::control(&id), &text, &payload).await;
        let (sequence, _, report, result) = caller.report(seen).await;
        seen = sequence;
        assert_eq!(report["status"], "failed", "{says}");
        let content = &result["content"];
        assert_eq!(content["error"]["code"], code, "{content}");
        assert_eq!(content["result"]["error_code"], code);
        assert_eq!(content["result"]["error"], content["error"]);
        let message = content["error"]["message"].as_str().expect("a text");
        assert!(message.contains(says), "{message}");
        let record = open.last_record().await;
        assert_eq!(
            (&record["outcome"], &record["principal_name"]),
            (&json!("denied"), &json!("agent key"))
        );
    }
    // Refusals of the call itself are failed results too.
    for (id, tool, arguments, code) in [
        ("no-tool", "absent", json!({}), "not_found"),
        ("bad-args", "search", json!({"q": 5}), "bad_request"),
    ] {
        let (card, payload) = Caller::call(id, tool, &arguments);
        let text = caller.store(&card).await;
        caller.send(Caller::control(id), &text, &payload).await;
        let (sequence, _, report, result) = caller.report(seen).await;
        seen = sequence;
        assert_eq!(report["status"], "failed");
        assert_eq!(result["content"]["error"]["code"], code, "{result}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_that_no_report_can_answer_is_a_dead_letter() {
    let open = Open::new().await;
    let caller = Caller::new(&open).await;
    let (card, payload) = Caller::call("d1", "search", &json!({}));
    let text = caller.store(&card).await;
    let cases: Vec<(async_nats::HeaderMap, bool, &str)> = vec![
        (
            headers(&[("CG-Turn-Id", "t"), ("CG-Agent-Id", "a")]),
            true,
            "missing required headers: CG-Tool-Call-Id",
        ),
        (headers(&[]), true, "CG-Agent-Id, CG-Turn-Id, CG-Tool-Call-Id"),
        (
            headers(&[
                ("CG-Turn-Id", "t"),
                ("CG-Agent-Id", "a"),
                ("CG-Tool-Call-Id", "d1"),
                ("CG-Turn-Epoch", "-1"),
            ]),
            true,
            "CG-Turn-Epoch",
        ),
        (
            headers(&[
                ("CG-Turn-Id", "t"),
                ("CG-Agent-Id", "a"),
                ("CG-Tool-Call-Id", "d1"),
                ("CG-Project-Id", "other"),
            ]),
            true,
            "CG-Project-Id",
        ),
        (
            headers(&[
                ("CG-Turn-Id", "t"),
                ("CG-Agent-Id", "a"),
                ("CG-Tool-Call-Id", "d1"),
                ("CG-Recursion-Depth", "20"),
            ]),
            true,
            "recursion_depth_exceeded",
        ),
        (
            headers(&[
                ("CG-Turn-Id", "t"),
                ("CG-Agent-Id", "a"),
                ("CG-Tool-Call-Id", "d1"),
                ("traceparent", "x"),
            ]),
            true,
            "traceparent",
        ),
        // Unproven: nothing is reported for it.
        (Caller::control("d1"), false, "no header Toolgate-Token"),
    ];
    for (at, (said, proven, reason)) in cases.into_iter().enumerate() {
        if proven {
            caller.send(said, &text, &payload).await;
        } else {
            caller.publish(said, payload.to_string()).await;
        }
        let letters = loop {
            let page = open
                .admin()
                .get("/projects/demo/dead-letters")
                .await
                .expect(200)
                .json();
            let items = page["items"].as_array().expect("a page").clone();
            if items.len() == at + 1 {
                break items;
            }
        };
        let letter = letters.last().expect("one");
        assert!(
            letter["reason"].as_str().expect("a reason").contains(reason),
            "{letter}"
        );
        assert_eq!(letter["subject"], COMMAND);
        let record = open.last_record().await;
        assert_eq!(
            (&record["outcome"], &record["entrance"]),
            (&json!("denied"), &json!("bus"))
        );
    }
    let stream = caller.context.get_stream("cg_evt_v1r4").await;
    assert!(stream.is_err(), "nothing was reported");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_that_comes_again_runs_once_and_a_changed_card_counts_for_nothing() {
    let open = Open::new().await;
    let caller = Caller::new(&open).await;
    let (card, payload) = Caller::call("o1", "search", &json!({"q": "once"}));
    let text = caller.store(&card).await;
    caller.send(Caller::control("o1"), &text, &payload).await;
    let (_, _, _, first) = caller.report(0).await;
    caller.send(Caller::control("o1"), &text, &payload).await;
    // Another command after it, so that the second is done with.
    let (other, named) = Caller::call("o2", "search", &json!({"q": "two"}));
    let stored = caller.store(&other).await;
    caller.send(Caller::control("o2"), &stored, &named).await;
    while caller.cards.get("o2.result").await.expect("an answer").is_none() {
        tokio::task::yield_now().await;
    }
    let calls = open.records(10).await;
    let of_first = calls
        .iter()
        .filter(|record| record["context"]["tool_call_id"] == "o1");
    assert_eq!(of_first.count(), 1);
    assert_eq!(caller.report(0).await.3["content"], first["content"]);

    // The arguments of a command are those that its token was issued for.
    let (card, payload) = Caller::call("o3", "search", &json!({"q": "mine"}));
    let text = card.to_string();
    let (changed, _) = Caller::call("o3", "search", &json!({"q": "another's"}));
    caller.store(&changed).await;
    caller.send(Caller::control("o3"), &text, &payload).await;
    let refused = loop {
        let mut keys = Vec::new();
        for sequence in 1..20 {
            let key = format!("o3.refused-{sequence}");
            keys.extend(caller.cards.get(key).await.expect("an answer"));
        }
        if let Some(card) = keys.pop() {
            break card;
        }
    };
    let refused: Value = serde_json::from_slice(&refused).expect("JSON");
    assert_eq!(refused["content"]["error"]["code"], "auth_failed", "{refused}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commands_wait_for_a_bus_that_was_restarted() {
    let mut open = Open::new().await;
    {
        let caller = Caller::new(&open).await;
        let (card, payload) = Caller::call("b1", "search", &json!({}));
        let text = caller.store(&card).await;
        caller.send(Caller::control("b1"), &text, &payload).await;
        caller.report(0).await;
    }
    open.nats.stop();
    until_connected(&open.app, false).await;
    open.nats.run();
    until_connected(&open.app, true).await;
    let caller = Caller::new(&open).await;
    let (card, payload) = Caller::call("b2", "search", &json!({}));
    let text = caller.store(&card).await;
    caller.send(Caller::control("b2"), &text, &payload).await;
    while caller.cards.get("b2.result").await.ok().flatten().is_none() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_servers_of_a_database_share_the_commands_and_run_each_once() {
    let nats = Nats::start();
    let (base, url) = (echo().await, nats.url());
    let settings = [
        ("TOOLGATE_NATS_URL", url.as_str()),
        ("TOOLGATE_EGRESS_ALLOW", &base),
    ];
    let (first, second) = replicas::two(&settings).await;
    for app in [&first, &second] {
        until_connected(app, true).await;
    }
    let open = Open::with(nats, first, &base).await;
    second.run_background();
    let caller = Caller::new(&open).await;
    for number in 0..20 {
        let id = format!("r{number}");
        let (card, payload) = Caller::call(&id, "search", &json!({"q": id}));
        let text = caller.store(&card).await;
        // Each is sent twice, as by a sender that heard nothing of the first.
        for _ in 0..2 {
            caller.send(Caller::control(&id), &text, &payload).await;
        }
    }
    for number in 0..20 {
        let key = format!("r{number}.result");
        while caller.cards.get(&key).await.expect("an answer").is_none() {
            tokio::task::yield_now().await;
        }
    }
    let stream = caller
        .context
        .get_stream("cg_cmd_v1r4")
        .await
        .expect("the stream");
    let mut names = stream.consumer_names();
    let name = futures_util::StreamExt::next(&mut names)
        .await
        .expect("a consumer")
        .expect("a name");
    loop {
        let info = stream.consumer_info(&name).await.expect("the consumer");
        if info.num_pending == 0 && info.num_ack_pending == 0 {
            break;
        }
    }
    let calls = open.records(100).await;
    assert_eq!(calls.len(), 20, "each ran once");
    assert!(calls.iter().all(|call| call["outcome"] == "succeeded"));
}

/// A project that is open on a bus of small messages, with tools of an upstream.
async fn with_small_messages(base: &str, most: usize) -> Open {
    let nats = Nats::with(&format!("max_payload: {most}"));
    let url = nats.url();
    let settings = [
        ("TOOLGATE_NATS_URL", url.as_str()),
        ("TOOLGATE_EGRESS_ALLOW", base),
    ];
    let app = TestApp::with(&settings).await;
    until_connected(&app, true).await;
    Open::with(nats, app, base).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_result_that_no_message_carries_is_an_artifact_that_the_caller_reads() {
    const MOST: usize = 65_536;
    let book = "x".repeat(2 * MOST);
    let text = book.clone();
    let base = serve(axum::Router::new().fallback(async move || text.clone())).await;
    let open = with_small_messages(&base, MOST).await;
    let caller = Caller::new(&open).await;
    let (card, payload) = Caller::call("large", "search", &json!({}));
    let text = caller.store(&card).await;
    caller.send(Caller::control("large"), &text, &payload).await;
    let (_, _, report, there) = caller.report(0).await;
    assert_eq!(report["status"], "success", "{there}");
    assert!(
        there["content"]["result"]["__cg_artifact"]["id"].is_string(),
        "{there}"
    );
    let body = json!({"name": "caller", "role": "agent", "groups": [], "bus": {"calls": true}});
    let made = open
        .admin()
        .post("/projects/demo/keys", &body)
        .await
        .expect(201)
        .json();
    let key = open.app.client(made["secret"].as_str().expect("a secret"));
    let whole = key
        .get("/projects/demo/cards/large.result")
        .await
        .expect(200)
        .json();
    let text = whole["content"]["result"]["text"].as_str();
    assert_eq!(text.map(str::len), Some(book.len()));
    assert_eq!(whole["metadata"], there["metadata"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_no_message_carries_is_stored_over_rest_and_its_command_is_executed() {
    const MOST: usize = 16_384;
    let base = echo().await;
    let open = with_small_messages(&base, MOST).await;
    let caller = Caller::new(&open).await;
    let body = json!({"name": "caller", "role": "agent", "groups": [], "bus": {"calls": true}});
    let made = open
        .admin()
        .post("/projects/demo/keys", &body)
        .await
        .expect(201)
        .json();
    let key = open.app.client(made["secret"].as_str().expect("a secret"));
    let question = "q".repeat(MOST + 1);
    let (card, payload) = Caller::call("long", "search", &json!({"q": question}));
    let stored = key.post("/projects/demo/cards", &card).await.expect(201).json();
    let there = caller
        .cards
        .get("card-long")
        .await
        .expect("an answer")
        .expect("a card");
    let there = String::from_utf8(there.to_vec()).expect("text");
    assert_eq!(stored["sha256"], sha256(there.as_bytes()));
    caller.send(Caller::control("long"), &there, &payload).await;
    let (_, _, report, _) = caller.report(0).await;
    assert_eq!(report["status"], "success");
    let result = key
        .get("/projects/demo/cards/long.result")
        .await
        .expect(200)
        .json();
    assert_eq!(result["content"]["result"]["query"]["q"], question);
}
