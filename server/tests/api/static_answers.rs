//! Static tools, from the upload to the record, with the example that the guide shows.

use serde_json::{Value, json};

use crate::support::{Client, TestApp};

const TOOLS: &str = "/projects/demo/tools";
const EXAMPLE: &str = include_str!("../../../openapi/examples/static-answers.yaml");

async fn record(admin: &Client<'_>, answer: &Value) -> Value {
    let id = answer["call_id"].as_str().expect("its record");
    admin
        .get(&format!("/projects/demo/audit/{id}"))
        .await
        .expect(200)
        .json()
}

#[tokio::test]
async fn the_example_of_the_guide_works_from_end_to_end() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let uploaded = admin.upload(TOOLS, EXAMPLE).await.expect(201).json();
    assert_eq!(uploaded["warnings"], json!([]), "{uploaded}");
    let again = admin.upload(TOOLS, EXAMPLE).await.expect(200).json();
    assert_eq!(again["items"][0]["outcome"], "unchanged", "{again}");
    let agent = app.key(&admin, "demo", "agent", &["*"]).await;

    let listed = agent
        .get(&format!("{TOOLS}?type=static"))
        .await
        .expect(200)
        .json();
    assert_eq!(listed["total"], 3, "{listed}");
    assert_eq!(listed["items"][0]["unavailable"], Value::Null);
    let resolved = agent
        .post("/projects/demo/resolve", &json!({"group": ["*"]}))
        .await
        .expect(200)
        .json();
    assert_eq!(
        resolved["available"],
        json!(["charge-card", "create-ticket", "opening-hours"])
    );

    let hours = agent
        .post("/projects/demo/calls", &json!({"tool": "opening-hours"}))
        .await
        .expect(200)
        .json();
    assert_eq!(hours["status"], "succeeded", "{hours}");
    let text = hours["result"]["text"].as_str().expect("a text");
    assert!(text.starts_with("Monday to Friday"), "{text}");
    assert_eq!(hours["notes"], Value::Null, "the result fits its output_schema");

    let ticket = agent
        .post(
            "/projects/demo/calls",
            &json!({"tool": "create-ticket", "group": ["support"], "arguments": {"subject": "It is \"broken\" {agent_id}"}}),
        )
        .await
        .expect(200)
        .json();
    assert_eq!(
        ticket["result"],
        json!({
            "id": "T-1000",
            "subject": "It is \"broken\" {agent_id}",
            "priority": 3,
            "message": "The ticket \"It is \"broken\" {agent_id}\" was created with priority 3.",
        })
    );
    assert_eq!(
        ticket["state"]["after"], "ticket-created",
        "a success moves the state"
    );
    assert!(ticket["duration_ms"].as_u64().expect("a time") < 10_000);
    let kept = record(&admin, &ticket).await;
    assert_eq!(
        (&kept["outcome"], &kept["state_after"]),
        (&json!("succeeded"), &json!("ticket-created"))
    );

    let busy = agent
        .post(
            "/projects/demo/calls",
            &json!({"tool": "charge-card", "group": ["support"], "arguments": {"amount": "20 EUR"}}),
        )
        .await
        .expect(200)
        .json();
    assert_eq!(busy["status"], "failed");
    let error = &busy["error"];
    assert_eq!(
        (&error["code"], &error["retryable"], &error["retry_after_s"]),
        (&json!("upstream_rate_limited"), &json!(true), &json!(30))
    );
    assert_eq!(error["message"], "The payment provider cannot charge 20 EUR now.");
    assert_eq!(
        busy["state"]["after"], busy["state"]["before"],
        "a failure moves nothing"
    );
    let kept = record(&admin, &busy).await;
    assert_eq!(
        (&kept["outcome"], &kept["code"]),
        (&json!("failed"), &json!("upstream_rate_limited"))
    );
}

#[tokio::test]
async fn a_result_that_does_not_fit_its_schema_gets_warnings_and_a_missing_id_is_refused() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let yaml = "name: stub\ndescription: d\ntype: static\narguments: [{name: n, type: string, description: d}]\n\
                output_schema: {type: object, properties: {n: {type: integer}}}\n\
                options: {static: {result: {n: '{arguments.n}', by: '{agent_id}'}}}\n";
    admin.upload(TOOLS, yaml).await.expect(201);
    let agent = app.key(&admin, "demo", "agent", &["*"]).await;
    let call = |context: Value| json!({"tool": "stub", "arguments": {"n": "three"}, "context": context});
    let answer = agent
        .post("/projects/demo/calls", &call(json!({"agent_id": "ada"})))
        .await
        .expect(200)
        .json();
    assert_eq!(answer["result"], json!({"n": "three", "by": "ada"}));
    assert_eq!(answer["notes"]["warnings"][0]["pointer"], "/n", "{answer}");
    let refused = agent
        .post("/projects/demo/calls", &call(json!({})))
        .await
        .problem(422, "invalid_arguments");
    assert!(refused["detail"].to_string().contains("agent_id"), "{refused}");
    assert_eq!(record(&admin, &refused).await["outcome"], "denied");
}

#[tokio::test]
async fn unknown_placeholders_are_refused_at_the_upload_with_their_place() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let yaml = "name: stub\ndescription: d\noptions:\n  static:\n    result: \"for {arguments.nme}\"\n\
                arguments: [{name: name, type: string, description: d}]\n";
    let refused = admin.upload(TOOLS, yaml).await.problem(422, "invalid_definition");
    let fault = &refused["errors"][0];
    assert_eq!(
        (&fault["line"], &fault["column"]),
        (&json!(5), &json!(13)),
        "{refused}"
    );
    assert_eq!(fault["hint"], "did you mean {arguments.name}?");
}

#[tokio::test]
async fn every_type_is_listed_with_its_form_and_what_it_lacks() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let agent = app.key(&admin, "demo", "agent", &["*"]).await;
    let types = agent.get("/tool-types").await.expect(200).json();
    let items = types["items"].as_array().expect("types");
    let named = |name: &str| {
        let found = items.iter().find(|one| one["name"] == name);
        found.unwrap_or_else(|| panic!("{name} in {types}"))
    };
    assert_eq!(items.len(), toolgate_api::tool_types::ALL.len());
    for name in ["openapi", "static"] {
        assert_eq!(
            (&named(name)["executed"], named(name).get("missing")),
            (&json!(true), None)
        );
    }
    let worker = named("worker");
    assert_eq!(worker["executed"], false);
    let missing = worker["missing"].as_str().expect("a reason");
    // The same words as at an upload, and as for the tool afterwards.
    let uploaded = admin
        .upload(TOOLS, "name: w\ndescription: d\ntarget_subject: cmd.tool.w\n")
        .await
        .expect(201)
        .json();
    assert!(
        uploaded["warnings"][0]["message"].to_string().contains(missing),
        "{uploaded}"
    );
    let tool = admin.get(&format!("{TOOLS}/w")).await.expect(200).json();
    assert!(tool["unavailable"].to_string().contains(missing), "{tool}");
    let form = &named("static")["form"]["properties"]["options"]["properties"]["static"];
    assert!(form["properties"]["result"].is_object(), "{form}");
}
