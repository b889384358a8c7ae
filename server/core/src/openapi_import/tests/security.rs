//! What operations ask for, and what tools present.

use rstest::rstest;
use serde_json::{Value, json};

use super::*;

fn description(schemes: &Value, security: &Value) -> Value {
    let mut description = described("3.1.0", "get", &json!({ "security": security }));
    description["components"] = json!({ "securitySchemes": schemes });
    description
}

fn imported(description: &Value, credentials: &[&str]) -> Operation {
    let options = ImportOptions {
        credentials: credentials
            .iter()
            .map(|scheme| ((*scheme).to_owned(), "API_KEY".to_owned()))
            .collect(),
        ..ImportOptions::default()
    };
    read(description.to_string().as_bytes(), &options)
        .operations
        .remove(0)
}

#[rstest]
#[case(json!({"type": "apiKey", "in": "header", "name": "X-Key"}), "an API key in the header X-Key", Some(json!({"scheme": "header", "env": "API_KEY", "name": "X-Key"})))]
#[case(json!({"type": "apiKey", "in": "query", "name": "key"}), "an API key in the query parameter key", Some(json!({"scheme": "query", "env": "API_KEY", "name": "key"})))]
#[case(json!({"type": "apiKey", "in": "cookie", "name": "SID"}), "an API key in the cookie SID", Some(json!({"scheme": "cookie", "env": "API_KEY", "name": "SID"})))]
#[case(json!({"type": "http", "scheme": "Bearer"}), "a bearer token", Some(json!({"scheme": "bearer", "env": "API_KEY"})))]
#[case(json!({"type": "http", "scheme": "basic"}), "a user and a password", Some(json!({"scheme": "basic", "env": "API_KEY"})))]
#[case(json!({"type": "http", "scheme": "digest"}), "the HTTP scheme digest", None)]
#[case(json!({"type": "oauth2", "flows": {}}), "an OAuth 2 access token", Some(json!({"scheme": "bearer", "env": "API_KEY"})))]
#[case(json!({"type": "openIdConnect"}), "an OpenID Connect access token", Some(json!({"scheme": "bearer", "env": "API_KEY"})))]
#[case(json!({"type": "mutualTLS"}), "a client certificate", None)]
fn schemes(#[case] scheme: Value, #[case] what: &str, #[case] auth: Option<Value>) {
    let description = description(&json!({ "main": scheme }), &json!([{"main": ["read"]}]));
    let operation = imported(&description, &["main"]);
    let need = &operation.security[0][0];
    assert_eq!(
        (need.what.as_str(), need.scopes.as_slice()),
        (what, ["read".to_owned()].as_slice())
    );
    assert_eq!(need.supported, auth.is_some());
    let http = tool(&operation).options.http.expect("a request");
    assert_eq!(
        http.auth
            .as_ref()
            .map(|auth| serde_json::to_value(auth).expect("JSON")),
        auth
    );
    // Without a credential the tool says what it lacks.
    let without = imported(&description, &[]);
    assert_eq!(
        without.notes,
        [format!(
            "the tool presents no credential; the API asks for {what}"
        )]
    );
}

#[test]
fn the_first_way_with_all_its_credentials_is_taken() {
    let schemes = json!({
        "token": {"type": "http", "scheme": "bearer"},
        "app": {"type": "apiKey", "in": "header", "name": "X-App"},
        "sid": {"type": "apiKey", "in": "cookie", "name": "SID"},
    });
    let description = description(
        &schemes,
        &json!([{"token": [], "unknown": []}, {"app": [], "sid": []}, {"token": []}]),
    );
    let operation = imported(&description, &["app", "sid", "token"]);
    let definition = tool(&operation);
    let options = serde_json::to_value(&definition.options).expect("JSON");
    assert_eq!(options["http"]["auth"]["name"], "X-App");
    assert_eq!(
        options["http"]["request"]["parameters"],
        json!([{"name": "SID", "in": "cookie", "argument": "sid"}])
    );
    assert_eq!(options["envs"], json!({"sid": "API_KEY"}));
}

#[test]
fn what_only_auth_can_present_gets_it() {
    let schemes = json!({
        "app": {"type": "apiKey", "in": "header", "name": "X-App"},
        "key": {"type": "apiKey", "in": "query", "name": "key"},
        "token": {"type": "http", "scheme": "bearer"},
    });
    let operation = imported(
        &description(&schemes, &json!([{"app": [], "key": []}])),
        &["app", "key"],
    );
    let options = serde_json::to_value(&tool(&operation).options).expect("JSON");
    assert_eq!(
        options["http"]["auth"],
        json!({"scheme": "query", "env": "API_KEY", "name": "key"})
    );
    assert_eq!(options["envs"], json!({"app": "API_KEY"}));
    let operation = imported(
        &description(&schemes, &json!([{"key": [], "token": []}])),
        &["token", "key"],
    );
    assert_eq!(
        operation.notes,
        ["a bearer token is not presented: another credential has its place"]
    );
}

#[rstest]
#[case::given("API_KEY", Ok(json!({"scheme": "bearer", "env": "API_KEY"})))]
#[case::client("API_KEY/secret:CRM", Ok(json!({"scheme": "oauth2", "client": {"token_url": "https://a.example/token",
    "client_id": "API_KEY", "client_secret": "secret:CRM", "scopes": ["read"]}})))]
#[case::no_name("API_KEY/", Err("client_secret"))]
fn a_client_gets_its_tokens_itself(#[case] source: &str, #[case] expected: Result<Value, &str>) {
    let of_3 =
        json!({"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": "/token", "scopes": {}}}});
    let mut of_2 = json!({"swagger": "2.0", "host": "a.example", "paths": {"/x": {"get": {"security": [{"main": ["read"]}]}}}});
    of_2["securityDefinitions"] =
        json!({"main": {"type": "oauth2", "flow": "application", "tokenUrl": "https://a.example/token"}});
    let options = ImportOptions {
        document_url: "https://a.example/openapi.json".parse().ok(),
        credentials: [("main".to_owned(), source.to_owned())].into(),
        ..ImportOptions::default()
    };
    for description in [
        description(&json!({ "main": of_3 }), &json!([{"main": ["read"]}])),
        of_2,
    ] {
        let operation = read(description.to_string().as_bytes(), &options)
            .operations
            .remove(0);
        match (&operation.tool, &expected) {
            (Ok(tool), Ok(auth)) => {
                let http = serde_json::to_value(tool.plain().options.http.as_ref().expect("a request"))
                    .expect("JSON");
                assert_eq!(http["auth"], *auth);
            }
            (Err(why), Err(says)) => assert!(why.contains(says) || why.contains("environment"), "{why}"),
            (found, _) => panic!("{found:?}"),
        }
    }
    let token_only = description(
        &json!({"main": {"type": "oauth2", "flows": {"implicit": {}}}}),
        &json!([{"main": []}]),
    );
    let client = ImportOptions {
        credentials: [("main".to_owned(), "API_KEY/API_KEY".to_owned())].into(),
        ..ImportOptions::default()
    };
    let why = read(token_only.to_string().as_bytes(), &client)
        .operations
        .remove(0)
        .tool;
    assert!(
        why.as_ref()
            .is_err_and(|why| why.contains("where a client gets tokens")),
        "{why:?}"
    );
}

#[test]
fn an_operation_may_ask_for_nothing() {
    let schemes = json!({"main": {"type": "http", "scheme": "bearer"}});
    for security in [json!([]), json!([{}]), json!([{}, {"main": []}])] {
        let operation = imported(&description(&schemes, &security), &[]);
        assert!(operation.notes.is_empty(), "{:?}", operation.notes);
    }
    let mut with_root = described("3.0.0", "get", &json!({}));
    with_root["security"] = json!([{"main": []}]);
    with_root["components"] = json!({ "securitySchemes": schemes });
    assert_eq!(imported(&with_root, &[]).security.len(), 1);
}

#[test]
fn definitions_of_swagger_2() {
    let description = json!({
        "swagger": "2.0", "host": "a.example", "security": [{"login": []}],
        "securityDefinitions": {"login": {"type": "basic"}}, "paths": {"/x": {"get": {}}},
    });
    assert_eq!(
        imported(&description, &[]).security[0][0].what,
        "a user and a password"
    );
}

/// One operation with these parameters, whose key is in this place.
fn with_key(location: &str, name: &str, path: &str, parameters: &Value) -> Operation {
    let key = json!({"type": "apiKey", "in": location, "name": name});
    let mut described = description(&json!({ "main": key }), &json!([{"main": []}]));
    let mut item = described["paths"]
        .as_object_mut()
        .expect("paths")
        .remove("/things")
        .expect("a path");
    item["get"]["parameters"] = parameters.clone();
    described["paths"] = json!({ path: item });
    imported(&described, &["main"])
}

#[rstest]
#[case::header("header", "X-Key", json!({"name": "x-key", "in": "header", "required": true, "schema": {"type": "string"}}))]
#[case::query("query", "key", json!({"name": "key", "in": "query", "required": true, "schema": {"type": "string"}}))]
#[case::cookie("cookie", "SID", json!({"name": "SID", "in": "cookie", "schema": {"type": "string"}}))]
#[case::cookies("cookie", "SID", json!({"name": "Cookie", "in": "header", "schema": {"type": "string"}}))]
fn the_place_of_a_credential_is_no_parameter(
    #[case] location: &str,
    #[case] name: &str,
    #[case] parameter: Value,
) {
    let operation = with_key(location, name, "/x", &json!([parameter]));
    let definition = tool(&operation);
    assert_eq!(definition.parameters.value().get("properties"), Some(&json!({})));
    assert_eq!(definition.parameters.value().get("required"), None);
    let http = definition.options.http.expect("a request");
    assert!(http.request.expect("a request").parameters.is_empty());
    assert_eq!(http.auth.and_then(|auth| auth.name).as_deref(), Some(name));
    assert!(
        operation
            .notes
            .iter()
            .any(|note| note.contains("callers are not asked for it")),
        "{:?}",
        operation.notes
    );
}

#[test]
fn a_key_in_another_place_leaves_the_parameter() {
    let parameter = json!({"name": "key", "in": "query", "schema": {"type": "string"}});
    let definition = tool(&with_key("header", "key", "/x", &json!([parameter])));
    assert!(definition.parameters.value()["properties"].get("key").is_some());
}

#[test]
fn a_constant_of_the_path_makes_room_for_the_credential() {
    let definition = tool(&with_key("query", "key", "/x?key=demo&v=1", &json!([])));
    let options = serde_json::to_value(&definition.options).expect("JSON");
    assert_eq!(options["args"]["fixed"], json!({"v": "1"}));
    assert_eq!(
        options["http"]["request"]["parameters"],
        json!([{"name": "v", "in": "query"}])
    );
}

#[test]
fn two_credentials_have_two_places() {
    let schemes = json!({
        "one": {"type": "apiKey", "in": "header", "name": "X-Key"},
        "two": {"type": "apiKey", "in": "header", "name": "x-key"},
    });
    let operation = imported(
        &description(&schemes, &json!([{"one": [], "two": []}])),
        &["one", "two"],
    );
    assert!(tool(&operation).options.envs.is_empty());
    assert_eq!(
        operation.notes,
        ["an API key in the header x-key is not presented: another credential has its place"]
    );
}
