//! Who may do what.

use serde_json::{Value, json};
use totp_rs::{Builder, Secret};

use super::{NO, Trial, change, demo};
use crate::accounts::Service;
use crate::oauth;
use crate::support::{ANY, Client, NEW, TestApp};

/// Keys.
pub(super) async fn keys(trial: &mut Trial<'_>) {
    let (key, _) = trial
        .does(
            "create_key",
            "access",
            &demo("keys"),
            &NO,
            &json!({"name": "k", "role": "agent", "groups": []}),
        )
        .await;
    let agent = trial.app.client(key["secret"].as_str().expect("a secret"));
    let escalation = json!({"tool": "ping", "group": ["admin"]});
    agent.post(&demo("calls"), &escalation).await.expect(403);
    let key = demo(&format!("keys/{}", key["id"].as_str().expect("an id")));
    trial
        .does("rotate_key", "access", &format!("{key}/rotate"), &ANY, &json!({}))
        .await;
    trial.does("revoke_key", "access", &key, &ANY, &json!({})).await;
}

/// Connections of MCP clients.
pub(super) async fn connections(trial: &mut Trial<'_>) {
    let client = oauth::register(trial.app).await;
    let resource = format!("{}{}", trial.app.gateway.config.base_url(), demo("mcp"));
    let request = oauth::changed(oauth::parameters(&client), &[("resource", &resource)]);
    let consent = json!({"request": request, "allow": true});
    let (given, record) = trial
        .does("give_consent", "access", "/auth/consent", &NO, &consent)
        .await;
    assert_eq!(change(&record)["client_name"], "Test client");
    let to = given["redirect_to"].as_str().expect("an address");
    let code = oauth::parameter(to, "code").expect("a code");
    oauth::exchange_at(trial.app, &client, &code, &resource)
        .await
        .expect(200);
    let connections = trial.admin.get(&demo("connections")).await.expect(200).json();
    let id = connections["items"][0]["id"].as_str().expect("an id").to_owned();
    let connection = demo(&format!("connections/{id}"));
    let limit = json!({"groups": []});
    let (_, record) = trial
        .does("limit_connection", "access", &connection, &ANY, &limit)
        .await;
    assert_eq!(change(&record)["after"], limit);
    trial
        .does("revoke_connection", "access", &connection, &ANY, &json!({}))
        .await;
}

/// Accounts, users and their permissions.
pub(super) async fn users(trial: &mut Trial<'_>, service: &Service) {
    crate::accounts::leaves_records(trial, service).await;
    let body = json!({"username": "ada", "password": "a long enough password"});
    let (ada, _) = trial.does("create_user", "access", "/users", &NO, &body).await;
    let user = format!("/users/{}", ada["id"].as_str().expect("an id"));
    let named = json!({"display_name": "Ada"});
    let (_, record) = trial.does("update_user", "access", &user, &ANY, &named).await;
    assert_eq!(change(&record)["after"], json!({"display_name": "Ada"}));
    let grant = demo(&format!(
        "permissions/user:{}",
        ada["id"].as_str().expect("an id")
    ));
    let terms = json!({"role": "viewer", "groups": []});
    trial.does("put_permission", "access", &grant, &NEW, &terms).await;
    trial
        .does("delete_permission", "access", &grant, &ANY, &json!({}))
        .await;
    trial
        .does(
            "reset_user_password",
            "access",
            &format!("{user}/password"),
            &NO,
            &json!({}),
        )
        .await;
    second_factors(trial, &user).await;
    trial.does("delete_user", "access", &user, &ANY, &json!({})).await;
}

/// The second factor of a user, whose password is replaced first.
async fn second_factors(trial: &mut Trial<'_>, user: &str) {
    let password = "a password for the second factor";
    let reset = format!("{user}/password");
    let body = json!({"password": password});
    trial.admin.post(&reset, &body).await.expect(200);
    let mut given = json!({"username": "ada", "password": password});
    let (own, factor) = ("/auth/second-factor", format!("{user}/second-factor"));
    for again in [false, true] {
        let (setup, _) = trial
            .does("begin_second_factor", "access", own, &NO, &given)
            .await;
        let secret = Secret::try_from_base32(setup["secret"].as_str().expect("a secret")).expect("Base32");
        let totp = Builder::new()
            .with_secret(secret)
            .with_account_name("ada")
            .build();
        let now = trial.app.gateway.clock.now().timestamp().unsigned_abs();
        let mut proof = given.clone();
        proof["code"] = json!(totp.expect("a password maker").generate(now).to_string());
        let confirm = format!("{own}/confirm");
        let (confirmed, record) = trial
            .does("confirm_second_factor", "access", &confirm, &NO, &proof)
            .await;
        assert_eq!(change(&record)["change"], "second_factor_confirmed");
        proof["code"] = confirmed["recovery_codes"][0].clone();
        if again {
            let codes = format!("{own}/recovery-codes");
            let (codes, _) = trial
                .does("replace_recovery_codes", "access", &codes, &NO, &proof)
                .await;
            given["code"] = codes["recovery_codes"][0].clone();
            let remove = format!("{own}/remove");
            trial
                .does("remove_second_factor", "access", &remove, &NO, &given)
                .await;
        } else {
            trial
                .does("remove_user_second_factor", "access", &factor, &NO, &json!({}))
                .await;
        }
    }
}

/// Changing one's password and signing out end the sign-in that the other operations need.
pub(super) async fn last(app: &TestApp, passwords: &Value) {
    let own = app.admin().await;
    let other = app.admin().await;
    let changes = async |client: &Client<'_>| -> Vec<String> {
        let page = client
            .get("/audit?action=access&limit=3")
            .await
            .expect(200)
            .json();
        let items = page["items"].as_array().expect("items").iter();
        items
            .map(|record| {
                record["arguments"]["change"]
                    .as_str()
                    .unwrap_or_default()
                    .to_owned()
            })
            .collect()
    };
    other.post("/auth/logout", &json!({})).await.expect(204);
    assert_eq!(changes(&own).await[0], "signed_out");
    let another = app.admin().await;
    let listed = own.get("/auth/sign-ins").await.expect(200).json();
    let newest = listed["items"][0]["id"].as_str().expect("an id");
    own.post(&format!("/auth/sign-ins/{newest}/end"), &json!({}))
        .await
        .expect(204);
    another.get("/auth/me").await.expect(401);
    assert_eq!(changes(&own).await[0], "sign_in_ended");
    own.post("/auth/sign-ins/end-others", &json!({}))
        .await
        .expect(200);
    assert_eq!(changes(&own).await[0], "other_sign_ins_ended");
    let again = own.post("/auth/password", passwords).await.expect(200).json();
    let again = app.client(again["access_token"].as_str().expect("a token"));
    assert_eq!(changes(&again).await[0], "password_changed");
}
