//! The other ways of an account than an HTTP tool by OAuth: over an MCP server, by a personal key, by the exchange of a token.

use axum::http::Method;
use futures_util::future::join_all;
use serde_json::json;

use super::{ACCOUNTS, Service, app_with, app_with_server, connect, provide, whoami};
use crate::mcp_servers::{Reply, Upstream, call, enable};
use crate::oauth::member;
use crate::permissions::external::Idp;

#[tokio::test]
async fn an_mcp_server_is_called_over_a_connection_for_each_account() {
    let service = Service::start().await;
    let upstream = Upstream::with_headers(|message, headers| {
        let sent = headers
            .get("authorization")
            .and_then(|value| value.to_str().ok())
            .unwrap_or("none");
        let who = sent.split('-').nth(3).unwrap_or("unknown").to_owned();
        let is_call = message["method"] == "tools/call";
        is_call.then(|| {
            Reply::Result(json!({"content": [{"type": "text", "text": format!("{who} sent {sent}")}]}))
        })
    })
    .await;
    let app = app_with_server(&service, &upstream).await;
    let admin = app.admin().await;
    let refresh = "/projects/demo/mcp-servers/weather/refresh";
    admin
        .post(refresh, &json!({}))
        .await
        .problem(403, "account_required");
    connect(&admin, &service, "admin").await;
    admin.post(refresh, &json!({})).await.expect(200);
    enable(&admin).await;
    let ada = member(&app, "ada", "agent", &["*"]).await;
    let bo = member(&app, "bo", "agent", &["*"]).await;
    let request = json!({"tool": "forecast", "arguments": {"city": "Oslo"}});
    ada.post("/projects/demo/calls", &request)
        .await
        .problem(403, "account_required");
    for (client, who) in [(&ada, "ada"), (&bo, "bo")] {
        connect(client, &service, who).await;
    }
    let both = join_all((0..6).map(|at| {
        let (client, who) = if at % 2 == 0 { (&ada, "ada") } else { (&bo, "bo") };
        async move { (call(client, "forecast", json!({"city": "Oslo"})).await, who) }
    }));
    for (answer, who) in both.await {
        let text = format!("{who} sent Bearer [redacted]");
        assert_eq!(answer["result"]["content"][0]["text"], text, "{answer}");
    }
    assert_eq!(upstream.seen("initialize").len(), 3, "admin, ada and bo");
    // The host of the HTTP tool is not one of the provider's any more: nothing goes there.
    let refused = whoami(&ada).await;
    assert_eq!(refused["error"]["code"], "tool_unavailable", "{refused}");
}

#[tokio::test]
async fn a_personal_key_goes_into_its_header() {
    let service = Service::start().await;
    let app = app_with(&service, "", &[]).await;
    provide(
        &app,
        &json!({"method": "personal_key", "hosts": [service.host()], "header": "X-Api-Key"}),
    )
    .await;
    let ada = member(&app, "ada", "agent", &["*"]).await;
    let path = format!("{ACCOUNTS}/issues");
    let short = json!({"key": "short"});
    ada.send_json(Method::PUT, &path, &[], &short)
        .await
        .problem(422, "invalid_request");
    let key = json!({"key": "personal-key-of-ada", "label": "my key"});
    let stored = ada.send_json(Method::PUT, &path, &[], &key).await.expect(200);
    assert_eq!(stored.json()["label"], "my key");
    assert!(!stored.text().contains("personal-key-of-ada"));
    let answer = whoami(&ada).await;
    assert_eq!(answer["result"]["key"], "[redacted]", "{answer}");
    let wrong = json!({"key": "another-key-of-ada"});
    ada.send_json(Method::PUT, &path, &[], &wrong).await.expect(200);
    let failed = whoami(&ada).await;
    assert_eq!(failed["error"]["code"], "upstream_auth", "{failed}");
    let own = ada.get(ACCOUNTS).await.expect(200).json();
    assert_eq!(own["items"][0]["account"]["status"], "expired", "{own}");
}

#[tokio::test]
async fn the_token_of_an_external_issuer_is_exchanged() {
    let service = Service::start().await;
    let idp = Idp::start().await;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("toolgate.yaml");
    idp.configure(&file);
    let file = file.display().to_string();
    let app = app_with(&service, "", &[("TOOLGATE_CONFIG", &file)]).await;
    let provider = json!({"method": "token_exchange", "hosts": [service.host()], "token_url": format!("{}/token", service.base),
        "client_id": "toolgate", "audience": "issues-api"});
    provide(&app, &provider).await;
    let token = idp.token(&["default"]);
    let agent = app.client(token.clone());
    for _ in 0..3 {
        let answer = whoami(&agent).await;
        assert_eq!(answer["result"]["who"], "exchanged", "{answer}");
        assert_eq!(answer["result"]["sent"], "Bearer [redacted]", "{answer}");
    }
    let forms = service.know(|known| known.forms.clone());
    assert_eq!(forms.len(), 1, "one exchange serves several calls");
    assert_eq!(forms[0]["subject_token"], token);
    assert_eq!(forms[0]["audience"], "issues-api");
    let auditor = app.auditor(&app.admin().await).await;
    let records = auditor.get("/projects/demo/audit?action=call").await.expect(200);
    assert_eq!(
        records.json()["items"][0]["account"],
        json!({"provider": "issues", "label": "agent/7"})
    );
    assert!(!records.text().contains(&token), "{}", records.text());
}
