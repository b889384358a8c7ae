//! The authorization endpoint and what the user decides.

use serde_json::json;

use super::{
    BASE, REDIRECT, RESOURCE, app, changed, code, decide, encoded, exchange, member, parameter, parameters,
    register, tools,
};

#[tokio::test]
async fn a_right_request_leads_to_the_page_that_asks() {
    let app = app().await;
    let client = register(&app).await;
    let query = encoded(&parameters(&client));
    let answer = app
        .anonymous()
        .get(&format!("/oauth/authorize?{query}"))
        .await
        .expect(303);
    assert_eq!(answer.header("location"), format!("/ui/authorize?{query}"));
    assert!(
        answer
            .header("content-security-policy")
            .contains("frame-ancestors 'none'")
    );

    let ada = member(&app, "ada", "viewer", &["default", "knowledge/read"]).await;
    let request: String = url::form_urlencoded::byte_serialize(query.as_bytes()).collect();
    let offer = ada
        .get(&format!("/auth/consent?request={request}"))
        .await
        .expect(200)
        .json();
    assert_eq!(
        offer["offer"],
        json!({
            "client_id": client, "client_name": "Test client", "redirect_host": "127.0.0.1", "redirect_is_local": true,
            "project_id": "demo", "project_name": "Demonstration", "groups": ["default", "knowledge/read"],
        })
    );
}

#[tokio::test]
async fn nobody_is_answered_at_an_address_that_is_not_trusted() {
    let app = app().await;
    let client = register(&app).await;
    let right = encoded(&parameters(&client));
    let unknown = encoded(&parameters("tgc_0000000000000000000000"));
    for query in [
        String::new(),
        unknown,
        changed(parameters(&client), &[("client_id", "")]),
        changed(parameters(&client), &[("redirect_uri", "")]),
        changed(
            parameters(&client),
            &[("redirect_uri", "https://evil.example/cb")],
        ),
        changed(
            parameters(&client),
            &[("redirect_uri", &format!("{REDIRECT}?more"))],
        ),
        changed(parameters(&client), &[("redirect_uri", &format!("{REDIRECT}/"))]),
        format!("{right}&redirect_uri=https%3A%2F%2Fevil.example"),
        format!("{right}&client_id={client}"),
        format!("{right}&more={}", "x".repeat(9000)),
    ] {
        let answer = app
            .anonymous()
            .get(&format!("/oauth/authorize?{query}"))
            .await
            .expect(400);
        assert_eq!(answer.header("location"), "");
        assert!(answer.header("content-type").starts_with("text/html"));
        assert!(
            answer
                .header("content-security-policy")
                .contains("frame-ancestors 'none'")
        );
    }
}

#[tokio::test]
async fn other_faults_go_back_to_the_client() {
    let app = app().await;
    let client = register(&app).await;
    let admin = app.admin().await;
    for (name, value, error) in [
        ("response_type", "token", "unsupported_response_type"),
        ("response_type", "", "invalid_request"),
        ("code_challenge", "", "invalid_request"),
        ("code_challenge", "short", "invalid_request"),
        ("code_challenge_method", "plain", "invalid_request"),
        ("code_challenge_method", "", "invalid_request"),
        ("response_mode", "fragment", "invalid_request"),
        ("resource", "", "invalid_target"),
        (
            "resource",
            "https://evil.example/projects/demo/mcp",
            "invalid_target",
        ),
        ("resource", BASE, "invalid_target"),
        ("resource", &format!("{RESOURCE}/"), "invalid_target"),
        ("resource", &format!("{RESOURCE}#x"), "invalid_target"),
        (
            "resource",
            "http://tools.example.com/projects/demo/mcp",
            "invalid_target",
        ),
    ] {
        let query = changed(parameters(&client), &[(name, value)]);
        let answer = app
            .anonymous()
            .get(&format!("/oauth/authorize?{query}"))
            .await
            .expect(303);
        let body = json!({"request": query, "allow": true});
        let decided = admin.post("/auth/consent", &body).await.expect(200).json();
        for to in [
            answer.header("location"),
            decided["redirect_to"].as_str().expect("an address"),
        ] {
            assert!(to.starts_with(REDIRECT), "{to}");
            assert_eq!(parameter(to, "error").as_deref(), Some(error), "{name}={value}");
            assert_eq!(parameter(to, "state").as_deref(), Some("a state"));
            assert_eq!(parameter(to, "iss").as_deref(), Some(BASE));
            assert_eq!(parameter(to, "code"), None);
        }
    }
    // The query of the address says what is asked for there.
    let query = changed(
        parameters(&client),
        &[("resource", &format!("{RESOURCE}?group=work"))],
    );
    let to = app.anonymous().get(&format!("/oauth/authorize?{query}")).await;
    assert!(to.header("location").starts_with("/ui/authorize"));
}

#[tokio::test]
async fn the_answer_has_code_state_and_issuer_or_the_refusal() {
    let app = app().await;
    let client = register(&app).await;
    let admin = app.admin().await;
    let to = decide(&admin, &client, json!({})).await.expect(200).json()["redirect_to"].clone();
    let to = to.as_str().expect("an address");
    assert!(to.starts_with(&format!("{REDIRECT}?code=")), "{to}");
    assert_eq!(parameter(to, "state").as_deref(), Some("a state"));
    assert_eq!(parameter(to, "iss").as_deref(), Some(BASE));
    let refused = decide(&admin, &client, json!({"allow": false}))
        .await
        .expect(200)
        .json();
    let to = refused["redirect_to"].as_str().expect("an address");
    assert_eq!(parameter(to, "error").as_deref(), Some("access_denied"));
    // What was refused is no connection.
    let page = admin.get("/projects/demo/connections").await.expect(200).json();
    assert_eq!(page["items"], json!([]));
}

#[tokio::test]
async fn a_user_gives_what_it_holds_and_absent_differs_from_empty() {
    let app = app().await;
    let ada = member(&app, "ada", "agent", &["default", "knowledge"]).await;
    let every = "?group=default&group=knowledge";
    for (decision, query, listed) in [
        (json!({}), every, vec!["read", "search"]),
        (json!({"groups": ["default"]}), "", vec!["search"]),
        (
            json!({"groups": ["knowledge/read"]}),
            "?group=knowledge/read",
            vec![],
        ),
        (json!({"groups": []}), "?group=", vec![]),
    ] {
        let client = register(&app).await;
        let code = code(&ada, &client, decision.clone()).await;
        let tokens = exchange(&app, &client, &code).await.expect(200).json();
        let token = app.client(tokens["access_token"].as_str().expect("a token"));
        assert_eq!(tools(&token, query).await, listed, "{decision}");
    }
    let connections = ada.get("/projects/demo/connections").await.expect(200).json();
    let groups: Vec<_> = connections["items"]
        .as_array()
        .expect("items")
        .iter()
        .rev()
        .map(|item| item.get("groups").cloned())
        .collect();
    assert_eq!(groups[0], None);
    assert_eq!(groups[3], Some(json!([])));

    let client = register(&app).await;
    for groups in [json!(["work"]), json!(["*"]), json!(["default", "work"])] {
        let problem = decide(&ada, &client, json!({"groups": groups}))
            .await
            .problem(403, "forbidden");
        assert!(problem["missing_groups"].is_array());
    }
    for (decision, pointer) in [
        (json!({"groups": ["ok", ""]}), "/groups/1"),
        (json!({"expires_in_s": 0}), "/expires_in_s"),
    ] {
        let problem = decide(&ada, &client, decision)
            .await
            .problem(422, "invalid_request");
        assert_eq!(problem["errors"][0]["pointer"], pointer);
    }
}

#[tokio::test]
async fn only_a_signed_in_member_decides() {
    let app = app().await;
    let client = register(&app).await;
    let admin = app.admin().await;
    admin
        .post(
            "/users",
            &json!({"username": "eve", "password": crate::support::PASSWORD}),
        )
        .await
        .expect(201);
    let login = json!({"username": "eve", "password": crate::support::PASSWORD});
    let eve = app.sign_in(&login).await;
    decide(&eve, &client, json!({})).await.problem(404, "not_found");
    decide(&app.anonymous(), &client, json!({}))
        .await
        .problem(401, "unauthenticated");
    let key = app.key(&admin, "demo", "owner", &["*"]).await;
    decide(&key, &client, json!({})).await.problem(403, "forbidden");
    // A client that was let in lets in no other.
    let connected = super::connect(&app, &admin, json!({})).await;
    decide(&connected.client, &client, json!({}))
        .await
        .problem(403, "forbidden");
    let elsewhere = changed(
        parameters(&client),
        &[("resource", &format!("{BASE}/projects/none/mcp"))],
    );
    admin
        .post("/auth/consent", &json!({"request": elsewhere, "allow": true}))
        .await
        .problem(404, "not_found");
}
