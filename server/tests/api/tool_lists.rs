//! Sorting, paging and downloading the list of tools.

use serde_json::{Value, json};

use crate::support::{Client, TestApp, tool};

const TOOLS: &str = "/projects/demo/tools";
const BASE: &str = "https://s.jina.ai";

fn names(page: &Value) -> Vec<String> {
    page["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect()
}

/// Every page of a list, one tool at a time.
async fn all(client: &Client<'_>, query: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut path = format!("{TOOLS}?{query}&limit=1");
    loop {
        let page = client.get(&path).await.expect(200).json();
        found.extend(names(&page));
        let Some(cursor) = page["next_cursor"].as_str() else {
            return found;
        };
        path = format!("{TOOLS}?{query}&limit=1&cursor={cursor}");
    }
}

#[tokio::test]
async fn every_order_goes_on_where_the_page_before_ended() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let worker = "name: b\ntype: worker\ndescription: B.\ntarget_subject: cmd.tool.b\n";
    // `a`, `b` and `d` have one time; `c` a later one.
    let first = [
        tool("d", BASE, "/x", ""),
        worker.to_owned(),
        tool("a", BASE, "/x", ""),
    ]
    .join("---\n");
    admin.upload(TOOLS, &first).await.expect(201);
    admin
        .upload(TOOLS, &tool("c", BASE, "/x", "enabled: false\n"))
        .await
        .expect(201);
    for (query, expected) in [
        ("sort=name", "a b c d"),
        ("sort=-name", "d c b a"),
        ("sort=updated_at", "a b d c"),
        ("sort=-updated_at", "c a b d"),
        ("sort=type", "a c d b"),
        ("sort=-type", "b a c d"),
        ("enabled=false", "c"),
        ("enabled=true&sort=-name", "d b a"),
        ("sort=-name&type=openapi", "d c a"),
    ] {
        assert_eq!(all(&admin, query).await.join(" "), expected, "{query}");
        let whole = admin.get(&format!("{TOOLS}?{query}")).await.expect(200).json();
        assert_eq!(whole["total"], names(&whole).len(), "{query}");
        assert_eq!(whole.get("next_cursor"), None);
    }
    let page = admin.get(&format!("{TOOLS}?limit=2")).await.expect(200).json();
    assert_eq!(page["total"], 4, "on all pages together");

    let cursor = page["next_cursor"].as_str().unwrap();
    for wrong in [
        format!("sort=-name&cursor={cursor}"),
        "sort=size".to_owned(),
        "view=short".to_owned(),
        "format=xml".to_owned(),
        "enabled=maybe".to_owned(),
        "limit=201".to_owned(),
        "view=summary&limit=1001".to_owned(),
        "format=csv&limit=1".to_owned(),
    ] {
        admin
            .get(&format!("{TOOLS}?{wrong}"))
            .await
            .problem(400, "malformed_request");
    }
}

#[tokio::test]
async fn a_summary_leaves_out_what_is_large() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    admin.upload(TOOLS, &tool("a", BASE, "/x", "")).await.expect(201);
    let page = admin
        .get(&format!("{TOOLS}?view=summary&limit=1000"))
        .await
        .expect(200)
        .json();
    let tool = &page["items"][0];
    assert_eq!((tool.get("parameters"), tool.get("definition")), (None, None));
    assert_eq!(
        (&tool["enabled"], &tool["updated_by"]),
        (&json!(true), &json!("admin"))
    );
}

#[tokio::test]
async fn a_file_has_all_that_match_and_csv_runs_no_formula() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let formula = "name: -a\ntype: worker\ndescription: \"=HYPERLINK(\\\"x\\\")\"\ntarget_subject: cmd.tool.a\ngroup: [\"a,b\", c]\n";
    let yaml = [
        formula.replace("name: -a", "name: a"),
        tool("b", BASE, "/x", "enabled: false\n"),
        tool("d", BASE, "/x", "group: [c]\n"),
        include_str!("../../../openapi/examples/joke-service.yaml").to_owned(),
    ]
    .join("---\n");
    admin.upload(TOOLS, &yaml).await.expect(201);

    let csv = admin
        .get(&format!("{TOOLS}?format=csv&sort=-name"))
        .await
        .expect(200);
    assert!(csv.header("content-type").starts_with("text/csv"));
    assert!(
        csv.header("content-disposition")
            .starts_with("attachment; filename=\"tools-demo-")
    );
    let text = csv.text();
    let rows: Vec<&str> = text.split("\r\n").collect();
    assert!(rows[0].starts_with("name,type,enabled,description,group,state,"));
    let last = rows[rows.len() - 2];
    assert!(
        last.starts_with("a,worker,true,\"'=HYPERLINK(\"\"x\"\")\",\"[\"\"a,b\"\",\"\"c\"\"]\","),
        "{last}"
    );

    let lines = admin
        .get(&format!("{TOOLS}?format=jsonl&enabled=false"))
        .await
        .expect(200)
        .text();
    let tools: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(tools.len(), 1);
    assert_eq!(
        tools[0],
        admin.get(&format!("{TOOLS}/b")).await.expect(200).json()
    );

    // The definitions, their services too, are accepted by a project that has nothing.
    let yaml = admin.get(&format!("{TOOLS}?format=yaml")).await.expect(200);
    assert_eq!(yaml.header("content-type"), "application/yaml");
    admin.post("/projects", &json!({"id": "copy"})).await.expect(201);
    admin
        .upload("/projects/copy/tools", &yaml.text())
        .await
        .expect(201);
    let copied = admin
        .get("/projects/copy/tools?format=yaml")
        .await
        .expect(200)
        .text();
    assert_eq!(copied, yaml.text());

    // A principal that does not read definitions gets no YAML, and in the other files what the list has.
    let agent = app.key(&admin, "demo", "agent", &["c"]).await;
    agent
        .get(&format!("{TOOLS}?format=yaml"))
        .await
        .problem(403, "forbidden");
    let lines = agent
        .get(&format!("{TOOLS}?format=jsonl"))
        .await
        .expect(200)
        .text();
    assert_eq!(lines.lines().count(), 1);
    assert!(
        !lines.contains("definition\"") && !lines.contains("updated_by"),
        "{lines}"
    );
}
