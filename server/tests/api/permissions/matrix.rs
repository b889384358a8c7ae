//! The matrix: who holds what, and how.

use axum::body::Body;
use axum::http::{Method, header};
use serde_json::json;
use toolgate_api::auth::Role;
use toolgate_api::permissions::{GrantTerms, GrantedGroup};
use toolgate_core::principal::PrincipalRef;
use toolgate_store::rows::GrantRow;

use super::{PERMISSIONS, cells, grant, path_of, person, row, terms};
use crate::support::{TestApp, tool};

#[tokio::test]
async fn the_matrix_shows_who_holds_what_and_how() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    admin
        .upload(
            "/projects/demo/tools",
            &tool("a", "https://s.jina.ai", "/x", "group: [knowledge/read, web]\n"),
        )
        .await
        .expect(201);
    let (ada, ada_client) = person(&app, &admin, "ada").await;
    grant(&admin, &ada, &terms("auditor", &["knowledge", "own"]))
        .await
        .expect(201);
    app.key(&admin, "demo", "agent", &["*"]).await;
    // Expired ones cannot be made any more; this one has got old.
    let (bob, _) = person(&app, &admin, "bob").await;
    let bob_ref = PrincipalRef::parse(&bob).expect("a principal");
    let project = app
        .gateway
        .snapshots
        .now()
        .project("demo")
        .expect("the project")
        .row
        .uid;
    let old = GrantRow {
        project,
        principal: bob_ref,
        terms: GrantTerms {
            role: Role::Viewer,
            groups: vec![GrantedGroup {
                group: "web".to_owned(),
                expires_at: None,
            }],
            expires_at: Some("2020-01-01T00:00:00Z".parse().expect("a time")),
        },
        granted_by: "admin".to_owned(),
        granted_at: "2019-01-01T00:00:00Z".parse().expect("a time"),
        revision: 0,
    };
    app.gateway
        .store
        .put_grant(&old, None, None)
        .await
        .expect("a grant");
    app.gateway
        .snapshots
        .refresh()
        .await
        .expect("the database answers");

    let answer = ada_client.get(PERMISSIONS).await.expect(200);
    let matrix = answer.json();
    assert_eq!(
        matrix["groups"],
        json!(["*", "knowledge", "knowledge/read", "own", "web"])
    );
    assert_eq!(matrix["more_groups"], false);
    let names: Vec<_> = matrix["items"]
        .as_array()
        .expect("rows")
        .iter()
        .map(|row| row["name"].clone())
        .collect();
    assert_eq!(names, ["ada", "admin", "bob", "agent key"]);
    let ada_row = row(&matrix, &ada);
    assert_eq!(
        (&ada_row["role"], &ada_row["source"]),
        (&json!("auditor"), &json!("grant"))
    );
    assert_eq!(
        cells(ada_row),
        [
            "knowledge: direct",
            "knowledge/read: parent via knowledge",
            "own: direct"
        ]
    );
    let bob_row = row(&matrix, &bob);
    assert_eq!(
        (&bob_row["role"], &bob_row["expires_at"]),
        (&json!(null), &json!("2020-01-01T00:00:00Z"))
    );
    assert_eq!(cells(bob_row), ["web: expired"]);
    let key_row = &matrix["items"][3];
    assert_eq!(key_row["source"], "key");
    assert_eq!(
        cells(key_row),
        [
            "*: direct",
            "knowledge: any via *",
            "knowledge/read: any via *",
            "own: any via *",
            "web: any via *"
        ]
    );
    // The row's tag is the grant's.
    let tag = ada_row["etag"].as_str().expect("a tag");
    assert_eq!(admin.get(&path_of(&ada)).await.header("etag"), tag);

    let unchanged = ada_client
        .request(Method::GET, PERMISSIONS)
        .header(header::IF_NONE_MATCH, answer.header("etag"))
        .body(Body::empty())
        .expect("a request");
    ada_client.send(unchanged).await.expect(304);
    let part = admin
        .get(&format!("{PERMISSIONS}?group=knowledge"))
        .await
        .expect(200)
        .json();
    assert_eq!(part["groups"], json!(["*", "knowledge", "knowledge/read"]));

    let mut seen = Vec::new();
    let mut path = format!("{PERMISSIONS}?limit=1");
    loop {
        let page = admin.get(&path).await.expect(200).json();
        assert_eq!(page["items"].as_array().map(Vec::len), Some(1));
        seen.push(page["items"][0]["name"].clone());
        let Some(cursor) = page["next_cursor"].as_str() else {
            break;
        };
        path = format!("{PERMISSIONS}?limit=1&cursor={cursor}");
    }
    assert_eq!(seen, names);
}
