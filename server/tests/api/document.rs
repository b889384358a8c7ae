//! The API document: complete, current, and in step with the router.

use std::collections::HashSet;

use serde_json::Value;

use crate::support::{Client, TestApp};

fn document() -> Value {
    serde_json::from_str(&rendered()).unwrap()
}

fn rendered() -> String {
    toolgate::openapi::render(toolgate::router::routes().into_openapi())
}

fn operations(document: &Value) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            found.push((format!("{method} {path}"), operation.clone()));
        }
    }
    found
}

#[test]
fn the_committed_document_is_current() {
    let committed = concat!(env!("CARGO_MANIFEST_DIR"), "/../openapi/openapi.json");
    let committed = std::fs::read_to_string(committed).expect("openapi/openapi.json");
    assert!(
        committed == rendered(),
        "openapi/openapi.json is stale: run `cargo xtask openapi`"
    );
}

#[test]
fn every_operation_is_complete() {
    let document = document();
    let mut ids = HashSet::new();
    for (place, operation) in operations(&document) {
        let text = |key: &str| operation[key].as_str().unwrap_or_default().to_owned();
        assert!(
            ids.insert(text("operationId")),
            "{place}: the operation id is used twice"
        );
        assert!(
            text("operationId").contains('_') || ["login", "logout"].contains(&text("operationId").as_str()),
            "{place}"
        );
        assert!(
            !text("summary").is_empty() && text("summary").len() < 60,
            "{place}: summary"
        );
        assert!(!text("description").is_empty(), "{place}: description");
        assert_eq!(
            operation["tags"].as_array().map(Vec::len),
            Some(1),
            "{place}: one tag"
        );
        let responses = operation["responses"].as_object().unwrap();
        assert!(
            responses.keys().any(|status| status.starts_with('2')),
            "{place}: a success"
        );
        for (status, response) in responses {
            let response = resolve(&document, response);
            assert!(
                !response["description"].as_str().unwrap_or_default().is_empty(),
                "{place} {status}: description"
            );
            // A head that is too large is refused before there is a request that could have a problem.
            if (status.starts_with('4') || status.starts_with('5')) && status != "431" {
                assert!(
                    response["content"]["application/problem+json"]["example"].is_object(),
                    "{place} {status}: example"
                );
            }
        }
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            assert!(parameter["description"].is_string(), "{place}: {parameter}");
        }
    }
}

#[test]
fn every_schema_property_is_described() {
    let document = document();
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        let parts = schema["allOf"]
            .as_array()
            .cloned()
            .unwrap_or_else(|| vec![schema.clone()]);
        for (property, value) in parts
            .iter()
            .filter_map(|part| part["properties"].as_object())
            .flatten()
        {
            let described = value["description"].is_string()
                || value["oneOf"]
                    .as_array()
                    .is_some_and(|of| of.iter().any(|one| one["description"].is_string()))
                || value["$ref"].is_string();
            assert!(described, "{name}.{property} has no description");
        }
    }
}

/// The document has one schema for each name: of two types with the same name it would describe one by the other.
#[test]
fn no_two_types_have_one_name_in_the_document() {
    let mut places: std::collections::BTreeMap<String, Vec<String>> = std::collections::BTreeMap::new();
    for folder in ["src", "../openapi/src"] {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        for file in sources(&folder) {
            let text = std::fs::read_to_string(&file).expect("a source");
            for name in documented_types(&text) {
                places.entry(name).or_default().push(file.display().to_string());
            }
        }
    }
    assert!(places.len() > 150, "only {} types were found", places.len());
    places.retain(|_, files| files.len() > 1);
    assert_eq!(places, std::collections::BTreeMap::new());
    assert_eq!(
        documented_types("#[derive(ToSchema)]\n#[schema(as = Other)]\nenum One {}"),
        ["Other"]
    );
}

fn sources(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths
        .flat_map(|path| match path.is_dir() {
            true => sources(&path),
            false => vec![path],
        })
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect()
}

/// The names that types have in the document.
fn documented_types(source: &str) -> Vec<String> {
    let mut names = Vec::new();
    let (mut derives, mut renamed) = (false, None);
    for line in source
        .lines()
        .map(str::trim)
        .filter(|line| !line.starts_with("//"))
    {
        derives |= line.contains("derive(") && line.contains("ToSchema");
        if let Some((_, name)) = line.split_once("schema(as = ") {
            renamed = name.split([')', ',']).next().map(str::to_owned);
        }
        let line = line.trim_start_matches("pub ").trim_start_matches("pub(crate) ");
        let declared = line
            .strip_prefix("struct ")
            .or_else(|| line.strip_prefix("enum "));
        if let Some(declared) = declared {
            let name = declared.split(|c: char| !c.is_alphanumeric()).next();
            let name = renamed.take().or_else(|| name.map(str::to_owned));
            names.extend(name.filter(|_| derives));
            derives = false;
        }
    }
    names
}

#[test]
fn every_form_that_takes_yaml_has_an_example() {
    let document = document();
    let mut seen = 0;
    for (place, operation) in operations(&document) {
        let Some(content) = operation["requestBody"]["content"].as_object() else {
            continue;
        };
        if content.contains_key("application/yaml") {
            seen += 1;
            for (kind, body) in content {
                assert!(body.get("example").is_some(), "{place} {kind} has no example");
            }
            let json = &content["application/json"]["example"]["yaml"];
            assert_eq!(json, &content["application/yaml"]["example"], "{place}");
        }
    }
    assert!(seen >= 6, "{seen} operations take YAML");
}

#[test]
fn each_download_of_tools_has_its_own_formats() {
    let document = document();
    let parameters = &document["paths"]["/projects/{project_id}/tools"]["get"]["parameters"];
    let parameters = parameters.as_array().expect("parameters");
    let format = parameters
        .iter()
        .find(|parameter| parameter["name"] == "format")
        .expect("a format");
    let text = format.to_string();
    assert!(text.contains("ToolFileFormat"), "{text}");
    let of = |name: &str| document["components"]["schemas"][name].to_string();
    assert!(of("ToolFileFormat").contains("csv") && !of("ToolFileFormat").contains("openai"));
    assert!(of("ToolFormat").contains("openai") && !of("ToolFormat").contains("csv"));
}

/// What the requests made up from the document cannot say where a refusal has other causes too, such as a cursor.
#[tokio::test]
async fn the_server_takes_every_value_that_the_document_lists_in_a_query() {
    let document = document();
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let mut asked = 0;
    for (path, item) in document["paths"].as_object().unwrap() {
        let path = path.replace("{project_id}", "demo");
        if path.contains('{') {
            continue;
        }
        let parameters = item["get"]["parameters"].as_array().into_iter().flatten();
        for parameter in parameters.filter(|parameter| parameter["in"] == "query") {
            for value in listed(&document, &parameter["schema"]) {
                let name = parameter["name"].as_str().expect("a name");
                let (status, text) = answered(&admin, &format!("{path}?{name}={value}")).await;
                assert_ne!(status, 400, "{path}?{name}={value}: {text}");
                asked += 1;
            }
        }
    }
    assert!(asked > 20, "only {asked} values were sent");
}

/// The status of an answer, and what is wrong if anything; streams do not end.
async fn answered(client: &Client<'_>, path: &str) -> (u16, String) {
    let answer = client.open(path, &[]).await;
    let status = answer.status().as_u16();
    let body = match status {
        400 => axum::body::to_bytes(answer.into_body(), 1 << 16)
            .await
            .unwrap_or_default(),
        _ => axum::body::Bytes::new(),
    };
    (status, String::from_utf8_lossy(&body).into_owned())
}

/// The values of an enumeration, wherever the schema keeps it.
fn listed(document: &Value, schema: &Value) -> Vec<String> {
    if schema.is_null() {
        return Vec::new();
    }
    let schema = resolve(document, schema);
    let inner = ["oneOf", "anyOf", "allOf"]
        .iter()
        .filter_map(|keyword| schema[*keyword].as_array());
    let inner = inner
        .flatten()
        .chain([&schema["items"]])
        .flat_map(|inner| listed(document, inner));
    let own = schema["enum"].as_array().into_iter().flatten();
    let own = own.filter_map(|value| value.as_str().map(str::to_owned));
    own.chain(inner).collect()
}

fn resolve<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    match value["$ref"].as_str() {
        Some(reference) => document
            .pointer(reference.trim_start_matches('#'))
            .expect("the reference leads somewhere"),
        None => value,
    }
}

#[test]
fn the_table_of_codes_is_current() {
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/../openapi/README.md");
    let readme = std::fs::read_to_string(readme).expect("openapi/README.md");
    let rows: Vec<&str> = readme.lines().filter(|line| line.starts_with("| `")).collect();
    let expected: Vec<String> = toolgate_api::ErrorCode::ALL
        .iter()
        .map(|code| {
            format!(
                "| `{code}` | {} | {} |",
                code.status(),
                if code.retryable() { "yes" } else { "no" }
            )
        })
        .collect();
    assert_eq!(rows.len(), expected.len());
    for (row, start) in rows.iter().zip(&expected) {
        assert!(row.starts_with(start), "{row}\nshould start with\n{start}");
    }
}
