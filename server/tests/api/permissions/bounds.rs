//! What no principal may grant, and which owners a project must keep.

use serde_json::json;

use super::{PERMISSIONS, grant, in_seconds, path_of, person, replace, row, terms, trail};
use crate::support::TestApp;

#[tokio::test]
async fn a_principal_cannot_grant_more_or_longer_than_it_holds() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let (ada, ada_client) = person(&app, &admin, "ada").await;
    let (bob, _) = person(&app, &admin, "bob").await;
    let until = in_seconds(3600);
    let held = json!({"role": "owner", "groups": [{"group": "knowledge"}, {"group": "compute", "expires_at": until}]});
    grant(&admin, &ada, &held).await.expect(201);

    for (groups, missing) in [
        (
            json!([{"group": "admin"}, {"group": "knowledge/read"}]),
            json!(["admin"]),
        ),
        (json!([{"group": "*"}]), json!(["*"])),
        (json!([{"group": "compute"}]), json!(["compute"])),
        (
            json!([{"group": "compute/fast", "expires_at": in_seconds(7200)}]),
            json!(["compute/fast"]),
        ),
    ] {
        let terms = json!({"role": "viewer", "groups": groups});
        let problem = grant(&ada_client, &bob, &terms).await.problem(403, "forbidden");
        assert_eq!(problem["missing_groups"], missing, "{groups}");
    }
    let denied = trail(&admin).await;
    let denied: Vec<_> = denied
        .iter()
        .filter(|record| record["outcome"] == "denied")
        .collect();
    assert_eq!(denied.len(), 4, "attempts are on the record");
    assert_eq!(
        (&denied[0]["code"], &denied[0]["missing_groups"]),
        (&json!("forbidden"), &json!(["compute/fast"]))
    );

    let fits = json!({"role": "owner", "groups": [
        {"group": "knowledge/read"}, {"group": "compute/fast", "expires_at": until}
    ]});
    grant(&ada_client, &bob, &fits).await.expect(201);
    // A system administrator may give anything; an owner may then leave it or remove it, but not add to it.
    replace(&admin, &bob, &terms("editor", &["admin", "other"]))
        .await
        .expect(200);
    replace(&ada_client, &bob, &terms("editor", &["admin"]))
        .await
        .expect(200);
    replace(&ada_client, &bob, &terms("editor", &["admin", "other"]))
        .await
        .problem(403, "forbidden");
    let shorter = json!({"role": "editor", "groups": [{"group": "admin"}], "expires_at": in_seconds(60)});
    replace(&ada_client, &bob, &shorter).await.expect(200);
    replace(&ada_client, &bob, &terms("editor", &["admin"]))
        .await
        .problem(403, "forbidden");

    // A principal cannot give itself what it does not hold, and a role that expires cannot be given for longer.
    replace(&ada_client, &ada, &terms("owner", &["*"]))
        .await
        .problem(403, "forbidden");
    admin.delete(&path_of(&bob), Some("*")).await.expect(204);
    let for_a_while = json!({"role": "owner", "groups": [{"group": "knowledge"}], "expires_at": until});
    replace(&admin, &ada, &for_a_while).await.expect(200);
    grant(&ada_client, &bob, &terms("viewer", &[]))
        .await
        .problem(403, "forbidden");
    let as_long = json!({"role": "viewer", "groups": [{"group": "knowledge"}], "expires_at": until});
    grant(&ada_client, &bob, &as_long).await.expect(201);
    let key = json!({"name": "k", "role": "agent", "groups": ["knowledge"]});
    ada_client
        .post("/projects/demo/keys", &key)
        .await
        .problem(403, "forbidden");
    let key = json!({"name": "k", "role": "agent", "groups": ["knowledge"], "expires_in_s": 60});
    ada_client.post("/projects/demo/keys", &key).await.expect(201);
}

#[tokio::test]
async fn a_project_keeps_an_owner() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let me = admin.get("/auth/me").await.json();
    let root = format!("user:{}", me["id"].as_str().expect("an id"));
    let (ada, ada_client) = person(&app, &admin, "ada").await;
    replace(&admin, &root, &terms("viewer", &["*"]))
        .await
        .problem(409, "last_administrator");
    let for_a_while = json!({"role": "owner", "groups": [], "expires_at": in_seconds(3600)});
    replace(&admin, &root, &for_a_while)
        .await
        .problem(409, "last_administrator");
    admin
        .delete(&path_of(&root), Some("*"))
        .await
        .problem(409, "last_administrator");
    let failed = trail(&admin).await.remove(0);
    assert_eq!(
        (&failed["outcome"], &failed["code"]),
        (&json!("failed"), &json!("last_administrator"))
    );

    grant(&admin, &ada, &terms("owner", &[])).await.expect(201);
    ada_client.delete(&path_of(&root), Some("*")).await.expect(204);
    ada_client
        .delete(&path_of(&ada), Some("*"))
        .await
        .problem(409, "last_administrator");
    let matrix = admin.get(PERMISSIONS).await.expect(200).json();
    let root = row(&matrix, &root);
    assert_eq!(
        (&root["source"], &root["role"]),
        (&json!("system_admin"), &json!("owner"))
    );
    assert_eq!((&root["cells"], &root["etag"]), (&json!([]), &json!(null)));
}
