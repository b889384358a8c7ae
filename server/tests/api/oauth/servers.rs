//! Connections beyond one process: after a restart, and with two servers on one database.

use serde_json::{Value, json};

use super::{BASE, app, code, connect, exchange, fault, fill, list, refresh, register};
use crate::replicas::{becomes, two};
use crate::support::echo;

#[tokio::test]
async fn a_connection_ends_when_its_time_is_over_and_survives_a_restart() {
    let app = app().await;
    let connected = connect(&app, &app.admin().await, json!({"expires_in_s": 600})).await;
    let token: Value = json!(connected.client.token);
    let (client, refresh_token) = (connected.client_id.clone(), connected.refresh.clone());
    let app = app
        .restart(&[("TOOLGATE_PUBLIC_URL", BASE), ("TOOLGATE_ALLOWED_HOSTS", "*")])
        .await;
    let token = app.client(token.as_str().expect("a token"));
    list(&token, "").await.expect(200);
    let next = refresh(&app, &client, &refresh_token).await.expect(200).json();
    assert!(next["expires_in"].as_i64().expect("seconds") <= 600);
    app.later(600);
    list(&token, "").await.expect(401);
    let refreshed = refresh(&app, &client, next["refresh_token"].as_str().expect("a token")).await;
    fault(refreshed, 400, "invalid_grant");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn any_server_takes_what_another_gave_out_and_revoking_reaches_all() {
    let base = echo().await;
    let (first, second) = two(&[
        ("TOOLGATE_PUBLIC_URL", BASE),
        ("TOOLGATE_ALLOWED_HOSTS", "*"),
        ("TOOLGATE_EGRESS_ALLOW", &base),
    ])
    .await;
    fill(&first, &base).await;
    second.run_background();
    let admin = second.admin().await;
    becomes(&admin, "/projects/demo/tools/search", 200).await;

    let client_id = register(&first).await;
    let code = code(&admin, &client_id, json!({})).await;
    let tokens = exchange(&first, &client_id, &code).await.expect(200).json();
    let text = |tokens: &Value, name: &str| tokens[name].as_str().expect("a token").to_owned();
    list(&second.client(text(&tokens, "access_token")), "")
        .await
        .expect(200);
    fault(exchange(&second, &client_id, &code).await, 400, "invalid_grant");
    // A code that is used twice ends what it brought, so the client asks again.
    let connected = connect(&first, &first.admin().await, json!({})).await;
    let next = refresh(&second, &connected.client_id, &connected.refresh)
        .await
        .expect(200)
        .json();
    for server in [&first, &second] {
        list(&server.client(text(&next, "access_token")), "")
            .await
            .expect(200);
    }

    let path = "/projects/demo/connections";
    let owner = first.admin().await;
    let item = owner.get(path).await.expect(200).json()["items"][0].clone();
    let path = format!("{path}/{}", item["id"].as_str().expect("an id"));
    owner.delete(&path, Some("*")).await.expect(204);
    let token = second.client(text(&next, "access_token"));
    while list(&token, "").await.status.as_u16() != 401 {
        tokio::task::yield_now().await;
    }
    let refreshed = refresh(&second, &connected.client_id, &text(&next, "refresh_token")).await;
    fault(refreshed, 400, "invalid_grant");
}
