//! Codes, access tokens and refresh tokens.

use axum::http::{Method, header};
use futures_util::future::join_all;
use serde_json::json;

use super::{
    BASE, REDIRECT, RESOURCE, VERIFIER, app, code, connect, exchange, fault, list, member, post_form,
    refresh, refused, register, tools,
};

#[tokio::test]
async fn a_code_becomes_tokens_of_this_project_and_no_other() {
    let app = app().await;
    let admin = app.admin().await;
    admin.post("/projects", &json!({"id": "other"})).await.expect(201);
    let client = register(&app).await;
    let code = code(&admin, &client, json!({})).await;
    let answer = exchange(&app, &client, &code).await.expect(200);
    assert_eq!(answer.header("cache-control"), "no-store");
    let tokens = answer.json();
    assert_eq!(tokens["token_type"], "Bearer");
    assert_eq!(tokens["expires_in"], 900);
    assert_eq!(tokens["scope"], "mcp");
    let token = app.client(tokens["access_token"].as_str().expect("a token"));
    assert_eq!(tools(&token, "").await, ["search"]);
    // As a key: the API of the project, with the role of an agent.
    let called = token
        .post(
            "/projects/demo/calls",
            &json!({"tool": "search", "arguments": {"q": "x"}}),
        )
        .await;
    assert_eq!(called.expect(200).json()["status"], "succeeded");
    let me = token.get("/auth/me").await.expect(200).json();
    assert_eq!(me["system_admin"], false);
    assert_eq!(me["projects"][0]["permissions"], json!(["use"]));
    assert_eq!(me["projects"].as_array().map(Vec::len), Some(1));
    for (path, status, code) in [
        ("/projects/other", 404, "not_found"),
        ("/projects/demo/keys", 403, "forbidden"),
        ("/projects/demo/audit", 403, "forbidden"),
        ("/users", 403, "forbidden"),
    ] {
        token.get(path).await.problem(status, code);
    }
    for (path, body) in [
        ("/projects", json!({"id": "mine"})),
        ("/auth/password", json!({"current": "x", "new": "y"})),
        ("/auth/logout", json!({})),
    ] {
        let answer = token.post(path, &body).await;
        assert!(
            matches!(answer.status.as_u16(), 403 | 422),
            "{path}: {}",
            answer.status
        );
    }
    // The record names the user, and the client.
    let page = admin
        .get("/projects/demo/audit?action=call")
        .await
        .expect(200)
        .json();
    let record = &page["items"][0];
    assert_eq!(record["principal_kind"], "user");
    assert_eq!(record["principal_name"], "admin");
    assert_eq!(record["connection"]["client_name"], "Test client");
    let connections = admin.get("/projects/demo/connections").await.expect(200).json();
    let id = &connections["items"][0]["id"];
    assert_eq!(record["connection"]["id"], *id);
    // And what a connection did is found by its id.
    for (asked, found) in [
        (id.as_str().expect("an id"), true),
        ("00000000-0000-7000-8000-000000000000", false),
    ] {
        let path = format!("/projects/demo/audit?action=call&connection_id={asked}");
        let page = admin.get(&path).await.expect(200).json();
        assert_eq!(page["items"][0]["id"] == record["id"], found, "{asked}");
    }
    // A token of the user itself is no token of a client.
    let page = admin
        .get("/projects/demo/audit?action=access")
        .await
        .expect(200)
        .json();
    let created = &page["items"][0];
    assert_eq!(created["arguments"]["change"], "connection_created");
    assert_eq!(created.get("connection"), None);
}

#[tokio::test]
async fn a_code_is_bound_to_client_address_verifier_and_resource() {
    let app = app().await;
    let admin = app.admin().await;
    let (client, other) = (register(&app).await, register(&app).await);
    let code = code(&admin, &client, json!({})).await;
    let right = [
        ("grant_type", "authorization_code"),
        ("code", code.as_str()),
        ("client_id", client.as_str()),
        ("redirect_uri", REDIRECT),
        ("code_verifier", VERIFIER),
        ("resource", RESOURCE),
    ];
    let elsewhere = format!("{BASE}/projects/other/mcp");
    for (name, value, error) in [
        ("grant_type", "", "unsupported_grant_type"),
        ("grant_type", "client_credentials", "unsupported_grant_type"),
        ("code", "", "invalid_request"),
        ("code", "unknown", "invalid_grant"),
        ("client_id", "", "invalid_request"),
        ("client_id", other.as_str(), "invalid_grant"),
        ("redirect_uri", "", "invalid_request"),
        ("redirect_uri", "http://127.0.0.1:51764/callback", "invalid_grant"),
        ("code_verifier", "", "invalid_request"),
        (
            "code_verifier",
            "another-verifier-of-forty-three-characters-0000",
            "invalid_grant",
        ),
        ("code_verifier", "short", "invalid_grant"),
        ("resource", elsewhere.as_str(), "invalid_target"),
    ] {
        let form = right.map(|(known, given)| (known, if known == name { value } else { given }));
        fault(post_form(&app, "/oauth/token", &form).await, 400, error);
    }
    let mut twice = right.to_vec();
    twice.push(("client_id", client.as_str()));
    fault(
        post_form(&app, "/oauth/token", &twice).await,
        400,
        "invalid_request",
    );
    let as_json = app
        .anonymous()
        .post("/oauth/token", &json!({"grant_type": "authorization_code"}))
        .await;
    fault(as_json, 400, "invalid_request");
    // None of these has used it up. A client may leave out the resource that it named before.
    let form = &right[..5];
    post_form(&app, "/oauth/token", form).await.expect(200);
}

#[tokio::test]
async fn a_code_ends_after_a_minute_and_its_second_use_ends_everything() {
    let app = app().await;
    let admin = app.admin().await;
    let client = register(&app).await;
    let late = code(&admin, &client, json!({})).await;
    app.later(60);
    fault(exchange(&app, &client, &late).await, 400, "invalid_grant");

    let admin = app.admin().await;
    let used = code(&admin, &client, json!({})).await;
    let tokens = exchange(&app, &client, &used).await.expect(200).json();
    let token = app.client(tokens["access_token"].as_str().expect("a token"));
    list(&token, "").await.expect(200);
    fault(exchange(&app, &client, &used).await, 400, "invalid_grant");
    list(&token, "").await.problem(401, "unauthenticated");
    let refreshed = refresh(&app, &client, tokens["refresh_token"].as_str().expect("a token")).await;
    fault(refreshed, 400, "invalid_grant");
    let page = admin
        .get("/projects/demo/audit?action=access")
        .await
        .expect(200)
        .json();
    let ended = &page["items"][0];
    assert_eq!(ended["arguments"]["change"], "connection_revoked");
    assert_eq!(ended["arguments"]["reason"], "code_reused");
    assert_eq!(ended["connection"]["client_name"], "Test client");
}

#[tokio::test]
async fn of_parallel_exchanges_one_wins_and_the_connection_ends() {
    let app = app().await;
    let admin = app.admin().await;
    let client = register(&app).await;
    let code = code(&admin, &client, json!({})).await;
    let answers = join_all((0..4).map(|_| exchange(&app, &client, &code))).await;
    let won: Vec<&crate::support::Answer> = answers.iter().filter(|answer| answer.status == 200).collect();
    assert!(won.len() <= 1, "{}", won.len());
    for answer in won {
        let token = answer.json()["access_token"]
            .as_str()
            .expect("a token")
            .to_owned();
        list(&app.client(token), "").await.expect(401);
    }
}

#[tokio::test]
async fn an_expired_token_leads_to_the_metadata_and_a_refresh_brings_the_next() {
    let app = app().await;
    let connected = connect(&app, &app.admin().await, json!({})).await;
    app.later(900);
    let refused = list(&connected.client, "").await.expect(401);
    assert!(
        refused
            .header("www-authenticate")
            .contains("resource_metadata=\"https://tools.example.com/.well-known/oauth-protected-resource/projects/demo/mcp\"")
    );
    let tokens = refresh(&app, &connected.client_id, &connected.refresh)
        .await
        .expect(200)
        .json();
    let token = app.client(tokens["access_token"].as_str().expect("a token"));
    list(&token, "").await.expect(200);
    assert_ne!(tokens["refresh_token"], connected.refresh);
}

#[tokio::test]
async fn parallel_refreshes_all_succeed_and_a_late_one_ends_the_connection() {
    let app = app().await;
    let connected = connect(&app, &app.admin().await, json!({})).await;
    let (client, first) = (&connected.client_id, &connected.refresh);
    let answers = join_all((0..5).map(|_| refresh(&app, client, first))).await;
    let mut tokens = Vec::new();
    for answer in answers {
        tokens.push(
            answer.expect(200).json()["refresh_token"]
                .as_str()
                .expect("a token")
                .to_owned(),
        );
    }
    tokens.sort();
    tokens.dedup();
    assert_eq!(tokens.len(), 5);
    app.later(15);
    refresh(&app, client, first).await.expect(200);
    // Each of them goes on by itself.
    let next = refresh(&app, client, &tokens[0]).await.expect(200).json();
    app.later(20);
    fault(refresh(&app, client, first).await, 400, "invalid_grant");
    list(&connected.client, "").await.expect(401);
    for token in [
        &tokens[1],
        &next["refresh_token"].as_str().expect("a token").to_owned(),
    ] {
        fault(refresh(&app, client, token).await, 400, "invalid_grant");
    }
}

#[tokio::test]
async fn a_flood_of_refreshes_is_slowed_down() {
    let app = app().await;
    let connected = connect(&app, &app.admin().await, json!({})).await;
    let mut slowed = false;
    for _ in 0..80 {
        let answer = refresh(&app, &connected.client_id, &connected.refresh).await;
        slowed |= answer.status == 429;
    }
    assert!(slowed);
    // It stays connected.
    list(&connected.client, "").await.expect(200);
}

#[tokio::test]
async fn a_refresh_token_is_bound_to_its_client_and_resource_and_expires() {
    let app = app().await;
    let connected = connect(&app, &app.admin().await, json!({})).await;
    let other = register(&app).await;
    fault(
        refresh(&app, &other, &connected.refresh).await,
        400,
        "invalid_grant",
    );
    fault(
        refresh(&app, &connected.client_id, "tgr_unknown").await,
        400,
        "invalid_grant",
    );
    let elsewhere = format!("{BASE}/projects/other/mcp");
    let form = [
        ("grant_type", "refresh_token"),
        ("refresh_token", connected.refresh.as_str()),
        ("client_id", connected.client_id.as_str()),
        ("resource", elsewhere.as_str()),
    ];
    fault(
        post_form(&app, "/oauth/token", &form).await,
        400,
        "invalid_target",
    );
    app.later(30 * 24 * 3600);
    fault(
        refresh(&app, &connected.client_id, &connected.refresh).await,
        400,
        "invalid_grant",
    );
}

#[tokio::test]
async fn what_the_user_holds_counts_at_every_request() {
    let app = app().await;
    let admin = app.admin().await;
    let ada = member(&app, "ada", "agent", &["default", "knowledge"]).await;
    let connected = connect(&app, &ada, json!({"groups": ["default", "knowledge"]})).await;
    let every = "?group=default&group=knowledge";
    assert_eq!(tools(&connected.client, every).await, ["read", "search"]);
    let me = ada.get("/auth/me").await.expect(200).json();
    let path = format!(
        "/projects/demo/permissions/user:{}",
        me["id"].as_str().expect("an id")
    );
    let any = [(header::IF_MATCH, "*")];
    let fewer = json!({"role": "agent", "groups": [{"group": "default"}, {"group": "work"}]});
    admin
        .send_json(Method::PUT, &path, &any, &fewer)
        .await
        .expect(200);
    assert_eq!(tools(&connected.client, "").await, ["search"]);
    for query in [every, "?group=work"] {
        refused(&connected.client, query).await;
    }
    admin.delete(&path, Some("*")).await.expect(204);
    list(&connected.client, "").await.problem(404, "not_found");
}

#[tokio::test]
async fn a_disabled_user_or_a_new_password_ends_it() {
    let app = app().await;
    let admin = app.admin().await;
    let ada = member(&app, "ada", "agent", &["default"]).await;
    let connected = connect(&app, &ada, json!({})).await;
    let new = json!({"current": crate::support::PASSWORD, "new": "another long password 77"});
    ada.post("/auth/password", &new).await.expect(200);
    list(&connected.client, "").await.expect(401);
    fault(
        refresh(&app, &connected.client_id, &connected.refresh).await,
        400,
        "invalid_grant",
    );

    let bob = member(&app, "bob", "agent", &["default"]).await;
    let connected = connect(&app, &bob, json!({})).await;
    let me = bob.get("/auth/me").await.expect(200).json();
    let path = format!("/users/{}", me["id"].as_str().expect("an id"));
    let any = [(header::IF_MATCH, "*")];
    let disabled = json!({"disabled": true});
    admin
        .send_json(Method::PATCH, &path, &any, &disabled)
        .await
        .expect(200);
    list(&connected.client, "").await.expect(401);
    fault(
        refresh(&app, &connected.client_id, &connected.refresh).await,
        400,
        "invalid_grant",
    );
}

#[tokio::test]
async fn a_client_gives_its_tokens_back() {
    let app = app().await;
    let admin = app.admin().await;
    for by_access_token in [false, true] {
        let connected = connect(&app, &admin, json!({})).await;
        let access = connected.client.token.clone().expect("a token");
        let token = if by_access_token {
            &access
        } else {
            &connected.refresh
        };
        // What is not known, and what is another client's, is no error and changes nothing.
        for (token, client) in [("tgr_unknown", ""), (token.as_str(), "tgc_another")] {
            post_form(&app, "/oauth/revoke", &[("token", token), ("client_id", client)])
                .await
                .expect(200);
        }
        list(&connected.client, "").await.expect(200);
        let form = [
            ("token", token.as_str()),
            ("client_id", connected.client_id.as_str()),
        ];
        post_form(&app, "/oauth/revoke", &form).await.expect(200);
        list(&connected.client, "").await.expect(401);
        fault(
            refresh(&app, &connected.client_id, &connected.refresh).await,
            400,
            "invalid_grant",
        );
    }
    fault(
        post_form(&app, "/oauth/revoke", &[]).await,
        400,
        "invalid_request",
    );
    let key = app.key(&admin, "demo", "agent", &["default"]).await;
    let secret = key.token.clone().expect("a key");
    post_form(&app, "/oauth/revoke", &[("token", &secret)])
        .await
        .expect(200);
    list(&key, "").await.expect(200);
}
