//! Signing in at an OpenID Connect provider.

mod provider;

use axum::body::Body;
use axum::http::{Method, Request, header};
use serde_json::{Value, json};

use self::provider::Provider;
use crate::oauth::parameter;
use crate::support::{ANY, Answer, TestApp};

/// A browser.
struct Browser<'a> {
    app: &'a TestApp,
    provider: &'a Provider,
    cookie: String,
}

impl<'a> Browser<'a> {
    fn new(app: &'a TestApp, provider: &'a Provider) -> Self {
        let cookie = String::new();
        Self {
            app,
            provider,
            cookie,
        }
    }

    async fn open(&self, path: &str) -> Answer {
        let request = Request::get(path)
            .header(header::COOKIE, &self.cookie)
            .header(header::ACCEPT, "text/html");
        self.app
            .send(request.body(Body::empty()).expect("a request"))
            .await
    }

    /// Goes to the provider: its address.
    async fn begin(&mut self, next: &str) -> String {
        let begun = self.open(&format!("/auth/sign-in/corp{next}")).await.expect(303);
        let cookie = begun.header("set-cookie");
        assert!(
            cookie.contains("; HttpOnly; SameSite=Lax; Max-Age=600"),
            "{cookie}"
        );
        self.cookie = cookie.split(';').next().unwrap_or_default().to_owned();
        begun.header("location").to_owned()
    }

    /// Comes back with what is after `?`.
    async fn come_back(&self, query: &str) -> Answer {
        self.open(&format!("/auth/sign-in/corp/callback?{query}")).await
    }

    /// The whole way.
    async fn sign_in(&mut self) -> Answer {
        let url = self.begin("?next=/ui/projects/demo/tools").await;
        let query = self.query(&url, &self.provider.code(&url));
        self.come_back(&query).await
    }

    fn query(&self, url: &str, code: &str) -> String {
        let state = parameter(url, "state").expect("a state");
        let iss = self.provider.know(|known| known.base.clone());
        format!("code={code}&state={state}&iss={iss}")
    }

    /// The token of the session that a sign-in has brought.
    async fn token(&mut self) -> String {
        let page = self.sign_in().await.expect(200);
        let cookie = page.header("set-cookie").to_owned();
        assert!(cookie.contains("SameSite=Strict"), "{cookie}");
        let value = cookie.split(';').next().and_then(|pair| pair.split_once('='));
        value.expect("a cookie").1.to_owned()
    }

    /// A sign-in that is refused: the sentence.
    async fn refused(&mut self, status: u16) -> String {
        self.sign_in().await.expect(status).text()
    }
}

fn memberships(me: &Value) -> Vec<String> {
    let projects = me["projects"].as_array().expect("projects");
    let line = |place: &Value| format!("{} {} {}", place["project_id"], place["role"], place["groups"]);
    projects
        .iter()
        .map(line)
        .map(|line| line.replace('"', ""))
        .collect()
}

#[tokio::test]
async fn a_person_is_a_user_with_what_the_rules_give_from_the_first_sign_in_on() {
    let provider = Provider::start().await;
    let app = provider.app("").await;
    let admin = app.demo().await;
    admin.post("/projects", &json!({"id": "other"})).await.expect(201);
    let ways = app.anonymous().get("/auth/sign-in").await.expect(200).json();
    assert_eq!(ways, json!({"items": [{"id": "corp", "title": "Example Corp"}]}));

    let mut browser = Browser::new(&app, &provider);
    let page = browser.sign_in().await.expect(200);
    assert!(
        page.text().contains("url=/ui/projects/demo/tools"),
        "{}",
        page.text()
    );
    let token = browser.token().await;
    let me = app.client(token).get("/auth/me").await.expect(200).json();
    assert_eq!(
        (&me["name"], &me["sign_in_way"], &me["system_admin"]),
        (&json!("ada"), &json!("corp"), &json!(false))
    );
    // The role is that of the first rule that applies.
    assert_eq!(memberships(&me), ["demo viewer [default,writing]"]);

    // The next sign-in brings what it holds up to date.
    provider.says(json!({"groups": "team-b x"}));
    let me = app
        .client(browser.token().await)
        .get("/auth/me")
        .await
        .expect(200)
        .json();
    assert_eq!(memberships(&me), ["demo viewer [default]", "other editor [*]"]);
    provider.says(json!({"groups": null}));
    let me = app
        .client(browser.token().await)
        .get("/auth/me")
        .await
        .expect(200)
        .json();
    assert_eq!(memberships(&me), ["demo viewer [default]"]);

    // What a person has changed stays.
    let user = admin.get("/users").await.expect(200).json();
    let users = user["items"].as_array().expect("users");
    let ada = users.iter().find(|user| user["username"] == "ada").expect("ada");
    assert_eq!(
        (&ada["display_name"], ada["signs_in_at"].as_str()),
        (
            &json!("Ada Lovelace"),
            Some(&*provider.know(|known| known.base.clone()))
        )
    );
    let grant = format!(
        "/projects/demo/permissions/user:{}",
        ada["id"].as_str().expect("an id")
    );
    let terms = json!({"role": "owner", "groups": [{"group": "web"}]});
    admin
        .send_json(Method::PUT, &grant, &ANY, &terms)
        .await
        .expect(200);
    let me = app
        .client(browser.token().await)
        .get("/auth/me")
        .await
        .expect(200)
        .json();
    assert_eq!(memberships(&me), ["demo owner [web]"]);

    let record = admin.get("/audit?limit=100").await.expect(200).text();
    assert!(
        record.contains("user_created") && record.contains("sign-in corp"),
        "{record}"
    );
}

#[tokio::test]
async fn groups_at_the_provider_make_system_administrators_where_that_is_configured() {
    let provider = Provider::start().await;
    let app = provider.app("      system_admins: [admins]\n").await;
    let mut browser = Browser::new(&app, &provider);
    for (groups, is_admin) in [(json!(["admins"]), true), (json!(["writers"]), false)] {
        provider.says(json!({"groups": groups}));
        let me = app
            .client(browser.token().await)
            .get("/auth/me")
            .await
            .expect(200)
            .json();
        assert_eq!(me["system_admin"], is_admin);
    }
}

#[tokio::test]
async fn what_the_id_token_lacks_is_asked_at_user_info() {
    let provider = Provider::start().await;
    let app = provider.app("").await;
    app.demo().await;
    provider.says(json!({"groups": null, "preferred_username": null}));
    provider.know(|known| {
        known.info = json!({"sub": "s-1", "groups": ["writers"], "preferred_username": "grace"});
    });
    let mut browser = Browser::new(&app, &provider);
    let token = browser.token().await;
    let me = app.client(token).get("/auth/me").await.expect(200).json();
    assert_eq!(me["name"], "grace");
    assert_eq!(memberships(&me), ["demo viewer [default,writing]"]);

    provider.know(|known| known.info = json!({"sub": "s-2", "groups": ["writers"]}));
    let said = browser.refused(502).await;
    assert!(said.contains("UserInfo is of another subject"), "{said}");
}

#[tokio::test]
async fn what_is_not_the_answer_to_this_browser_s_sign_in_is_refused() {
    let provider = Provider::start().await;
    let app = provider.app("").await;
    let mut browser = Browser::new(&app, &provider);

    // Without the cookie, with another state, with another issuer, and a second time.
    let url = browser.begin("").await;
    let query = browser.query(&url, &provider.code(&url));
    let foreign = Browser::new(&app, &provider)
        .come_back(&query)
        .await
        .expect(422)
        .text();
    assert!(foreign.contains("has not begun to sign in"), "{foreign}");
    browser
        .come_back(&query.replace("state=", "state=x"))
        .await
        .expect(422);
    let iss = query.replace("&iss=http", "&iss=https");
    let other = browser.come_back(&iss).await.expect(502).text();
    assert!(other.contains("names another issuer"), "{other}");
    let none = query.split("&iss=").next().expect("a query").to_owned();
    browser.come_back(&none).await.expect(502);
    browser.come_back(&query).await.expect(200);
    let again = browser.come_back(&query).await.expect(403).text();
    assert!(again.contains("invalid_grant"), "{again}");
    let denied = query.replace("code=", "error=access_denied&x=");
    let denied = browser.come_back(&denied).await.expect(403).text();
    assert!(denied.contains("access_denied"), "{denied}");

    let now = app.gateway.clock.now().timestamp();
    for (claims, said) in [
        (json!({"nonce": "x"}), "of another sign-in"),
        (json!({"aud": "other"}), "another audience"),
        (
            json!({"aud": ["gate", "other"], "azp": "other"}),
            "another audience",
        ),
        (
            json!({"iss": "https://other.example.com"}),
            "issuer is not trusted",
        ),
        (json!({"exp": now - 60}), "has expired"),
        (json!({"groups": {"a": 1}}), "groups claim is neither"),
        (
            json!({"preferred_username": "a b", "sub": "s-9"}),
            "cannot be a user name here",
        ),
        (
            json!({"preferred_username": "admin", "sub": "s-9"}),
            "There is another user",
        ),
    ] {
        provider.says(claims);
        let page = browser.sign_in().await.text();
        assert!(
            page.contains(said) && page.contains("You are not signed in"),
            "{said}: {page}"
        );
    }
    provider.says(json!({}));
    let admin = app.admin().await;
    let users = admin.get("/users").await.expect(200).json();
    let ada = users["items"]
        .as_array()
        .expect("users")
        .iter()
        .find(|user| user["username"] == "ada");
    let ada = format!("/users/{}", ada.expect("ada")["id"].as_str().expect("an id"));
    admin
        .send_json(Method::PATCH, &ada, &ANY, &json!({"disabled": true}))
        .await
        .expect(200);
    let disabled = browser.refused(403).await;
    assert!(disabled.contains("is disabled"), "{disabled}");
}

#[tokio::test]
async fn a_user_of_the_same_name_is_taken_over_where_that_is_configured() {
    let provider = Provider::start().await;
    let app = provider.app("      adopt_users: true\n").await;
    let admin = app.admin().await;
    let ada = json!({"username": "ada", "password": "a long enough password"});
    let ada = admin.post("/users", &ada).await.expect(201).json();
    let mut browser = Browser::new(&app, &provider);
    let me = app
        .client(browser.token().await)
        .get("/auth/me")
        .await
        .expect(200)
        .json();
    assert_eq!(me["id"], ada["id"]);
    // Not by a second subject.
    provider.says(json!({"sub": "s-2"}));
    assert!(browser.refused(403).await.contains("There is another user"));
}

#[tokio::test]
async fn a_person_goes_to_own_pages_only_and_signs_out_at_the_provider() {
    let provider = Provider::start().await;
    let app = provider.app("").await;
    let mut browser = Browser::new(&app, &provider);
    for next in [
        "https://evil.example",
        "//evil.example",
        "/ui//evil",
        "/docs",
        "/ui/%0d%0aa",
        "/ui/sign-in",
    ] {
        let url = browser.begin(&format!("?next={next}")).await;
        let query = browser.query(&url, &provider.code(&url));
        let page = browser.come_back(&query).await.expect(200).text();
        assert!(page.contains("url=/ui/\""), "{next}: {page}");
    }
    let end = browser.open("/auth/sign-in/corp/sign-out").await.expect(303);
    let end = end.header("location").to_owned();
    assert!(
        end.starts_with(&provider.know(|known| format!("{}/end?", known.base))),
        "{end}"
    );
    assert!(
        parameter(&end, "post_logout_redirect_uri").is_some_and(|back| back.ends_with("/ui/sign-in")),
        "{end}"
    );
    let unknown = browser.open("/auth/sign-in/nowhere").await.expect(404).text();
    assert!(unknown.contains("sign-in provider"), "{unknown}");
}

#[tokio::test]
async fn a_provider_that_does_not_answer_is_named_and_asked_again_later() {
    let provider = Provider::start().await;
    let app = provider.app("").await;
    let base = provider.know(|known| std::mem::replace(&mut known.base, "http://127.0.0.1:9".to_owned()));
    let browser = Browser::new(&app, &provider);
    let page = browser.open("/auth/sign-in/corp").await.expect(502).text();
    assert!(page.contains("names another issuer"), "{page}");
    provider.know(|known| known.base = base);
    let page = browser.open("/auth/sign-in/corp").await.expect(502).text();
    assert!(page.contains("did not answer a moment ago"), "{page}");
    app.later(6);
    browser.open("/auth/sign-in/corp").await.expect(303);
}
