//! People: creating, disabling, deleting, and their passwords.

use axum::http::{Method, header};
use serde_json::{Value, json};

use crate::support::{ADMIN, ANY, Answer, Client, NEW, PASSWORD, TestApp};

const LONG: &str = "a long enough password";

async fn sign_in(app: &TestApp, username: &str, password: &str) -> Answer {
    let body = json!({"username": username, "password": password});
    app.anonymous().post("/auth/login", &body).await
}

async fn signed_in<'a>(app: &'a TestApp, username: &str, password: &str) -> Client<'a> {
    app.sign_in(&json!({"username": username, "password": password}))
        .await
}

fn path_of(user: &Value) -> String {
    format!("/users/{}", user["id"].as_str().expect("an id"))
}

async fn change(client: &Client<'_>, user: &Value, tag: &str, body: &Value) -> Answer {
    client
        .send_json(Method::PATCH, &path_of(user), &[(header::IF_MATCH, tag)], body)
        .await
}

#[tokio::test]
async fn a_user_is_created_with_a_password_that_is_shown_once() {
    let app = TestApp::new().await;
    let admin = app.admin().await;
    let body = json!({"username": "ada", "display_name": " Ada Lovelace "});
    let answer = admin.post("/users", &body).await.expect(201);
    let created = answer.json();
    let password = created["generated_password"]
        .as_str()
        .expect("a password")
        .to_owned();
    assert_eq!(
        (&created["display_name"], &created["system_admin"]),
        (&json!("Ada Lovelace"), &json!(false))
    );
    assert_eq!(answer.header("location"), path_of(&created));
    let read = admin.get(&path_of(&created)).await.expect(200);
    assert_eq!(read.header("etag"), answer.header("etag"));
    assert!(!read.text().contains(&password));
    let ada = signed_in(&app, "ada", &password).await;
    let me = ada.get("/auth/me").await.expect(200).json();
    assert_eq!((&me["name"], &me["projects"]), (&json!("ada"), &json!([])));
    ada.get("/users").await.problem(403, "forbidden");

    let given = json!({"username": "bob", "password": LONG, "system_admin": true});
    let bob = admin.post("/users", &given).await.expect(201);
    assert!(!bob.text().contains(LONG) && bob.json().get("generated_password").is_none());
    signed_in(&app, "bob", LONG).await.get("/users").await.expect(200);
    admin.post("/users", &given).await.problem(409, "conflict");

    let listed = admin.get("/users?limit=2").await.expect(200).json();
    let names = |page: &Value| -> Vec<Value> {
        page["items"]
            .as_array()
            .expect("items")
            .iter()
            .map(|user| user["username"].clone())
            .collect()
    };
    assert_eq!(names(&listed), [json!("ada"), json!("admin")]);
    let cursor = listed["next_cursor"].as_str().expect("more");
    let rest = admin
        .get(&format!("/users?limit=2&cursor={cursor}"))
        .await
        .expect(200)
        .json();
    assert_eq!(names(&rest), [json!("bob")]);
    assert!(!listed.to_string().contains("argon2"));

    for (body, pointer) in [
        (json!({"username": ""}), "/username"),
        (json!({"username": "a b"}), "/username"),
        (json!({"username": "-a"}), "/username"),
        (json!({"username": "a".repeat(65)}), "/username"),
        (json!({"username": "x", "display_name": "a\nb"}), "/display_name"),
        (json!({"username": "x", "password": "too short"}), "/password"),
        (
            json!({"username": "x", "password": "x".repeat(1025)}),
            "/password",
        ),
    ] {
        let problem = admin.post("/users", &body).await.problem(422, "invalid_request");
        assert_eq!(problem["errors"][0]["pointer"], pointer, "{body}");
    }
}

#[tokio::test]
async fn disabling_ends_every_sign_in_and_enabling_revives_none() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let created = admin
        .post("/users", &json!({"username": "ada", "password": LONG}))
        .await
        .expect(201);
    let (user, tag) = (created.json(), created.header("etag").to_owned());
    let place = format!(
        "/projects/demo/permissions/{}",
        user["principal"].as_str().expect("a principal")
    );
    admin
        .send_json(
            Method::PUT,
            &place,
            &NEW,
            &json!({"role": "viewer", "groups": []}),
        )
        .await
        .expect(201);
    let ada = signed_in(&app, "ada", LONG).await;
    ada.get("/projects/demo").await.expect(200);

    let disabled = change(&admin, &user, &tag, &json!({"disabled": true}))
        .await
        .expect(200);
    assert!(disabled.json()["disabled_at"].is_string());
    ada.get("/auth/me").await.problem(401, "unauthenticated");
    let refused = sign_in(&app, "ada", LONG).await.problem(401, "unauthenticated");
    let wrong = sign_in(&app, "ada", "wrong")
        .await
        .problem(401, "unauthenticated");
    assert_eq!(
        refused["detail"], wrong["detail"],
        "a stranger does not learn that the user is disabled"
    );
    let record = admin
        .get("/projects/demo/audit?action=access")
        .await
        .expect(200)
        .json()["items"][0]
        .clone();
    assert_eq!(
        (
            &record["arguments"]["change"],
            &record["arguments"]["disabled"],
            &record["arguments"]["principal"]
        ),
        (&json!("user"), &json!(true), &user["principal"])
    );

    change(&admin, &user, &tag, &json!({"disabled": false}))
        .await
        .problem(412, "precondition_failed");
    let tag = disabled.header("etag").to_owned();
    let enabled = change(
        &admin,
        &user,
        &tag,
        &json!({"disabled": false, "display_name": "Ada"}),
    )
    .await
    .expect(200);
    assert_eq!(
        (&enabled.json()["disabled_at"], &enabled.json()["display_name"]),
        (&json!(null), &json!("Ada"))
    );
    ada.get("/auth/me").await.problem(401, "unauthenticated");
    signed_in(&app, "ada", LONG)
        .await
        .get("/projects/demo")
        .await
        .expect(200);
    let cleared = change(&admin, &user, "*", &json!({"display_name": ""}))
        .await
        .expect(200);
    assert!(cleared.json().get("display_name").is_none());
    admin
        .send_json(Method::PATCH, &path_of(&user), &[], &json!({}))
        .await
        .problem(428, "precondition_required");
}

#[tokio::test]
async fn the_last_administrator_stays() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let me = admin.get("/auth/me").await.expect(200).json();
    for body in [json!({"disabled": true}), json!({"system_admin": false})] {
        change(&admin, &me, "*", &body)
            .await
            .problem(409, "last_administrator");
    }
    admin
        .delete(&path_of(&me), Some("*"))
        .await
        .problem(409, "last_administrator");

    let bob = json!({"username": "bob", "password": LONG, "system_admin": true});
    admin.post("/users", &bob).await.expect(201);
    let bob = signed_in(&app, "bob", LONG).await;
    // The owner of `demo` may be disabled, but not deleted, as long as there is no other.
    bob.delete(&path_of(&me), Some("*"))
        .await
        .problem(409, "last_administrator");
    change(&bob, &me, "*", &json!({"system_admin": false}))
        .await
        .expect(200);
    admin.get("/users").await.problem(403, "forbidden");
    change(&bob, &me, "*", &json!({"disabled": true}))
        .await
        .expect(200);
    admin.get("/auth/me").await.problem(401, "unauthenticated");
    bob.delete(&path_of(&me), Some("*")).await.expect(204);
    bob.get(&path_of(&me)).await.problem(404, "not_found");
    sign_in(&app, ADMIN, PASSWORD)
        .await
        .problem(401, "unauthenticated");
    let matrix = bob.get("/projects/demo/permissions").await.expect(200).json();
    assert_eq!(
        matrix["items"].as_array().map(Vec::len),
        Some(1),
        "its grants are gone"
    );
}

#[tokio::test]
async fn a_new_password_ends_the_sign_ins_of_the_old_one() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let user = admin
        .post("/users", &json!({"username": "ada", "password": LONG}))
        .await
        .expect(201)
        .json();
    let (first, second) = (
        signed_in(&app, "ada", LONG).await,
        signed_in(&app, "ada", LONG).await,
    );
    let own = "/auth/password";
    let ask = |current: &str, new: &str| json!({"current": current, "new": new});
    let wrong = first
        .post(own, &ask("wrong", "another long password"))
        .await
        .problem(422, "invalid_request");
    assert_eq!(wrong["errors"][0]["pointer"], "/current");
    let short = first
        .post(own, &ask(LONG, "short"))
        .await
        .problem(422, "invalid_request");
    assert_eq!(short["errors"][0]["pointer"], "/new");
    first.get("/auth/me").await.expect(200);

    let changed = first
        .post(own, &ask(LONG, "another long password"))
        .await
        .expect(200);
    assert!(changed.header("set-cookie").contains("HttpOnly"));
    let third = app.client(changed.json()["access_token"].as_str().expect("a token"));
    third.get("/auth/me").await.expect(200);
    for ended in [&first, &second] {
        ended.get("/auth/me").await.problem(401, "unauthenticated");
    }
    sign_in(&app, "ada", LONG).await.problem(401, "unauthenticated");

    let reset = admin
        .post(&format!("{}/password", path_of(&user)), &json!({}))
        .await
        .expect(200)
        .json();
    third.get("/auth/me").await.problem(401, "unauthenticated");
    signed_in(
        &app,
        "ada",
        reset["generated_password"].as_str().expect("a password"),
    )
    .await;
    let given = json!({"password": "chosen by an administrator"});
    let reset = admin
        .post(&format!("{}/password", path_of(&user)), &given)
        .await
        .expect(200)
        .json();
    assert_eq!(reset, json!({}));
    signed_in(&app, "ada", "chosen by an administrator").await;

    let key = app.key(&admin, "demo", "agent", &[]).await;
    key.post(own, &ask(LONG, "another long password"))
        .await
        .problem(422, "invalid_request");
    let nobody = json!({"id": "00000000-0000-7000-8000-000000000000"});
    admin
        .post(&format!("{}/password", path_of(&nobody)), &json!({}))
        .await
        .problem(404, "not_found");
}

/// What the server's own record says about changes of access, oldest first: change, name, outcome.
async fn server_changes(admin: &Client<'_>) -> Vec<(String, String, String)> {
    let page = admin
        .get("/audit?action=access&order=oldest_first")
        .await
        .expect(200)
        .json();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let records = page["items"].as_array().expect("records").iter();
    records
        .map(|record| {
            let what = &record["arguments"];
            (
                text(&what["change"]),
                text(&what["principal_name"]),
                text(&record["outcome"]),
            )
        })
        .collect()
}

#[tokio::test]
async fn what_happens_to_users_is_on_the_record_of_the_server() {
    let app = TestApp::new().await;
    let admin = app.admin().await;
    let body = json!({"username": "ada", "password": "a long enough password", "system_admin": true});
    let ada = admin.post("/users", &body).await.expect(201).json();
    admin.post("/users", &body).await.problem(409, "conflict");
    let user = format!("/users/{}", ada["id"].as_str().expect("an id"));
    let login = |password: &str| json!({"username": "ada", "password": password});
    let own = app.sign_in(&login("a long enough password")).await;
    let change = json!({"current": "a long enough password", "new": "another long password"});
    own.post("/auth/password", &change).await.expect(200);
    admin
        .post(&format!("{user}/password"), &json!({}))
        .await
        .expect(200);
    for body in [
        json!({"display_name": "Ada"}),
        json!({"disabled": true}),
        json!({"disabled": false}),
    ] {
        admin
            .send_json(Method::PATCH, &user, &ANY, &body)
            .await
            .expect(200);
    }
    admin.delete(&user, Some("*")).await.expect(204);
    let changes = server_changes(&admin).await;
    let changes: Vec<(&str, &str, &str)> = changes
        .iter()
        .map(|(change, name, outcome)| (change.as_str(), name.as_str(), outcome.as_str()))
        .collect();
    assert_eq!(
        changes,
        [
            ("user_created", "ada", "succeeded"),
            ("user_created", "ada", "failed"),
            ("password_changed", "ada", "succeeded"),
            ("password_reset", "ada", "succeeded"),
            ("user", "ada", "succeeded"),
            ("user", "ada", "succeeded"),
            ("user", "ada", "succeeded"),
            ("user", "ada", "succeeded"),
        ]
    );
    let first = admin
        .get("/audit?action=access&order=oldest_first&limit=1")
        .await
        .expect(200);
    assert_eq!(first.json()["items"][0]["arguments"]["system_admin"], true);
    assert_eq!(first.json()["items"][0]["principal_name"], "admin");
    for secret in ["a long enough password", "another long password", "argon2"] {
        let whole = admin.get("/audit").await.expect(200).text();
        assert!(!whole.contains(secret), "{whole}");
    }
    // It is for system administrators only, and no project's.
    app.anonymous()
        .get("/audit")
        .await
        .problem(401, "unauthenticated");
    admin.post("/projects", &json!({"id": "demo"})).await.expect(201);
    let auditor = app.key(&admin, "demo", "auditor", &["*"]).await;
    auditor.get("/audit").await.problem(403, "forbidden");
    let of_project = auditor.get("/projects/demo/audit?q=ada").await.expect(200).json();
    assert_eq!(of_project["items"], json!([]));
}
