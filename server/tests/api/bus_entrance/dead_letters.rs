//! Dead letters: listed, sent again, and dropped.

use serde_json::json;

use super::{Caller, Open, headers};
use crate::support::TestApp;

const LETTERS: &str = "/projects/demo/dead-letters";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dead_letter_is_sent_again_by_who_may_and_as_their_call() {
    let open = Open::new().await;
    let caller = Caller::new(&open).await;
    let (card, payload) = Caller::call("dl1", "search", &json!({"q": "again"}));
    caller.store(&card).await;
    // Without a token it is not known who sent it.
    caller.publish(Caller::control("dl1"), payload.to_string()).await;
    let letter = caller.dead_letter().await;
    assert_eq!(letter["tool_call_id"], "dl1");
    assert_eq!(letter["agent_id"], "researcher");
    assert_eq!(letter["payload"], json!(null), "for readers of payloads");
    let auditor = open.app.auditor(&open.admin()).await;
    let shown = auditor.get(LETTERS).await.expect(200).json();
    assert_eq!(shown["items"][0]["payload"], payload.to_string());
    let one = format!("{LETTERS}/{}", letter["id"]);
    auditor
        .post(&format!("{one}/retry"), &json!({}))
        .await
        .problem(403, "forbidden");
    open.admin()
        .post(&format!("{one}/retry"), &json!({}))
        .await
        .expect(204);
    let (_, _, report, result) = caller.report(0).await;
    assert_eq!(report["status"], "success", "{result}");
    assert_eq!(open.last_record().await["principal_name"], "admin");
    let left = open.admin().get(LETTERS).await.expect(200).json();
    assert_eq!(left["items"], json!([]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dead_letter_that_cannot_be_sent_again_is_dropped() {
    let open = Open::new().await;
    let caller = Caller::new(&open).await;
    caller.publish(headers(&[]), "no JSON".to_owned()).await;
    let letter = caller.dead_letter().await;
    let one = format!("{LETTERS}/{}", letter["id"]);
    open.admin()
        .post(&format!("{one}/retry"), &json!({}))
        .await
        .problem(409, "conflict");
    open.admin().delete(&one, None).await.expect(204);
    open.admin().delete(&one, None).await.problem(404, "not_found");
    open.admin()
        .post("/projects", &json!({"id": "other"}))
        .await
        .expect(201);
    let others = open
        .admin()
        .get("/projects/other/dead-letters")
        .await
        .expect(200)
        .json();
    assert_eq!(others, json!({"items": []}));
}

#[tokio::test]
async fn without_a_bus_there_are_none() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let page = admin.get(LETTERS).await.expect(200).json();
    assert_eq!(page, json!({"items": []}));
    admin
        .delete(&format!("{LETTERS}/1"), None)
        .await
        .problem(404, "not_found");
}
