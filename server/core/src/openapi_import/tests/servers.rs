//! Where requests go.

use std::collections::BTreeMap;

use rstest::rstest;
use serde_json::{Value, json};
use url::Url;

use super::*;

fn base(description: &Value, options: &ImportOptions) -> Result<String, String> {
    let operation = read(description.to_string().as_bytes(), options)
        .operations
        .remove(0);
    operation
        .tool
        .map(|tool| tool.plain().options.clone().http.expect("a request").base_url)
}

fn with_servers(servers: &Value) -> Value {
    json!({"openapi": "3.1.0", "servers": servers, "paths": {"/x": {"get": {}}}})
}

#[rstest]
#[case(json!([{"url": "https://a.example/v1/"}, {"url": "https://b.example"}]), Ok("https://a.example/v1"))]
#[case(json!([{"url": "https://{region}.a.example:{port}/v1", "variables": {"region": {"default": "eu"}, "port": {"default": 8443}}}]),
    Ok("https://eu.a.example:8443/v1"))]
#[case(json!([{"url": "https://{region}.a.example"}]), Err("no value for {region}"))]
#[case(json!([{"url": "https://{region"}]), Err("a brace that is not closed"))]
#[case(json!([{"url": "/v1"}]), Err("has no host"))]
#[case(json!([]), Err("has no host"))]
#[case(json!([{}]), Err("the server has no url"))]
#[case(json!([{"url": "ftp://a.example"}]), Err("must begin with https://"))]
#[case(json!([{"url": "https://u:p@a.example"}]), Err("user or password"))]
fn addresses(#[case] servers: Value, #[case] expected: Result<&str, &str>) {
    match (base(&with_servers(&servers), &ImportOptions::default()), expected) {
        (found, Ok(expected)) => assert_eq!(found, Ok(expected.to_owned())),
        (Err(found), Err(expected)) => assert!(found.contains(expected), "{found}"),
        (found, _) => panic!("{found:?}"),
    }
}

#[test]
fn the_nearest_servers_count() {
    let server = |host: &str| json!([{"url": format!("https://{host}.example")}]);
    let mut description = with_servers(&server("root"));
    let options = ImportOptions::default();
    assert_eq!(
        base(&description, &options).as_deref(),
        Ok("https://root.example")
    );
    description["paths"]["/x"]["servers"] = server("path");
    assert_eq!(
        base(&description, &options).as_deref(),
        Ok("https://path.example")
    );
    description["paths"]["/x"]["get"]["servers"] = server("operation");
    assert_eq!(
        base(&description, &options).as_deref(),
        Ok("https://operation.example")
    );
}

#[test]
fn the_importing_user_can_name_the_server() {
    let relative = with_servers(&json!([{"url": "../v2"}]));
    let from = |url: &str| ImportOptions {
        document_url: Some(Url::parse(url).expect("a URL")),
        ..ImportOptions::default()
    };
    assert_eq!(
        base(&relative, &from("https://a.example/docs/openapi.json")).as_deref(),
        Ok("https://a.example/v2")
    );
    let instead = ImportOptions {
        base_url: Some("https://test.example/".to_owned()),
        ..ImportOptions::default()
    };
    assert_eq!(base(&relative, &instead).as_deref(), Ok("https://test.example"));
    let region = with_servers(&json!([{
        "url": "https://{region}.a.example", "variables": {"region": {"default": "eu", "enum": ["eu", "us"]}},
    }]));
    let variables = |value: &str| ImportOptions {
        variables: BTreeMap::from([("region".to_owned(), value.to_owned())]),
        ..ImportOptions::default()
    };
    assert_eq!(
        base(&region, &variables("us")).as_deref(),
        Ok("https://us.a.example")
    );
    assert!(
        base(&region, &variables("mars"))
            .expect_err("refused")
            .contains("does not take \"mars\"")
    );
}

#[rstest]
#[case(json!({"host": "a.example", "basePath": "/v1", "schemes": ["http"]}), Ok("http://a.example/v1"))]
#[case(json!({"host": "a.example", "schemes": ["http", "https"]}), Ok("https://a.example"))]
#[case(json!({"host": "a.example:8080"}), Ok("https://a.example:8080"))]
#[case(json!({"basePath": "/v1"}), Err("has no host"))]
fn hosts_of_swagger_2(#[case] mut description: Value, #[case] expected: Result<&str, &str>) {
    description["swagger"] = json!("2.0");
    description["paths"] = json!({"/x": {"get": {}}});
    let found = base(&description, &ImportOptions::default());
    match expected {
        Ok(expected) => assert_eq!(found.as_deref(), Ok(expected)),
        Err(expected) => assert!(found.expect_err("refused").contains(expected)),
    }
}
