//! Bodies become one argument, whatever they are sent as.

use rstest::rstest;
use serde_json::{Value, json};

use super::*;

fn with_body(content: &Value) -> Value {
    described(
        "3.0.3",
        "post",
        &json!({"requestBody": {"required": true, "content": content}}),
    )
}

#[rstest]
#[case::json(json!({"application/json": {"schema": {"type": "array", "items": {"type": "integer"}}}}),
    json!({"argument": "body"}), json!({"type": "array", "items": {"type": "integer"}}))]
#[case::json_of_its_own(json!({"application/vnd.api+json": {"schema": {"type": "string"}}}),
    json!({"argument": "body", "content_type": "application/vnd.api+json"}), json!({"type": "string"}))]
#[case::any(json!({"*/*": {"schema": {"type": "object"}}}), json!({"argument": "body"}), json!({"type": "object"}))]
#[case::nothing_said(json!({"application/json": {}}), json!({"argument": "body"}), json!({}))]
#[case::text(json!({"text/plain": {"schema": {"type": "string"}}}),
    json!({"argument": "body", "content_type": "text/plain"}), json!({"type": "string", "contentMediaType": "text/plain"}))]
#[case::binary(json!({"image/png": {"schema": {"type": "string", "format": "binary"}}}),
    json!({"argument": "body", "content_type": "image/png"}),
    json!({"type": "string", "contentEncoding": "base64", "contentMediaType": "image/png"}))]
#[case::form_that_may_be_anything(json!({"multipart/form-data": {"schema": {}}}),
    json!({"argument": "body", "content_type": "multipart/form-data"}), json!({"type": "object"}))]
#[case::form_of_choices(json!({"application/x-www-form-urlencoded": {"schema": {"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}}}),
    json!({"argument": "body", "content_type": "application/x-www-form-urlencoded"}),
    json!({"type": "object", "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}))]
#[case::form_that_cannot_be_one(json!({"multipart/form-data": {"schema": {"type": "string"}}}),
    json!({"argument": "body", "content_type": "multipart/form-data"}), json!({"type": "object"}))]
#[case::base64(json!({"image/png": {"schema": {"type": "string", "format": "byte", "maxLength": 99}}}),
    json!({"argument": "body", "content_type": "image/png", "as_text": true}),
    json!({"type": "string", "format": "byte", "maxLength": 99, "contentEncoding": "base64", "contentMediaType": "image/png"}))]
#[case::base64_as_the_specification_says(json!({"image/png": {"schema": {"type": "string", "format": "base64"}}}),
    json!({"argument": "body", "content_type": "image/png", "as_text": true}),
    json!({"type": "string", "format": "base64", "contentEncoding": "base64", "contentMediaType": "image/png"}))]
#[case::encoded(json!({"image/png": {"schema": {"type": "string", "contentEncoding": "base64url", "contentMediaType": "image/x"}}}),
    json!({"argument": "body", "content_type": "image/png", "as_text": true}),
    json!({"type": "string", "contentEncoding": "base64url", "contentMediaType": "image/x"}))]
#[case::not_encoded(json!({"image/png": {"schema": {"type": "string", "contentEncoding": "binary"}}}),
    json!({"argument": "body", "content_type": "image/png"}),
    json!({"type": "string", "contentEncoding": "base64", "contentMediaType": "image/png"}))]
#[case::json_before_all(json!({"application/xml": {}, "multipart/form-data": {}, "application/json": {"schema": {"type": "object"}}}),
    json!({"argument": "body"}), json!({"type": "object"}))]
#[case::form_before_parts(json!({"multipart/form-data": {"schema": {"type": "object", "properties": {"a": {"type": "string"}}}},
    "application/x-www-form-urlencoded": {"schema": {"type": "object", "properties": {"a": {"type": "string"}}}}}),
    json!({"argument": "body", "content_type": "application/x-www-form-urlencoded"}),
    json!({"type": "object", "properties": {"a": {"type": "string"}}}))]
fn kinds(#[case] content: Value, #[case] expected: Value, #[case] schema: Value) {
    let description = with_body(&content);
    assert_eq!(http(&description)["request"]["body"], expected);
    assert_eq!(arguments(&description)["properties"]["body"], schema);
    assert_eq!(arguments(&description)["required"], json!(["body"]));
}

/// From the public documentation of Stripe's API: "Create a charge", whose nested values go down in brackets.
#[test]
fn a_form_as_stripe_describes_it() {
    let description = with_body(&json!({"application/x-www-form-urlencoded": {
        "encoding": {
            "expand": {"explode": true, "style": "deepObject"},
            "metadata": {"explode": true, "style": "deepObject"},
            "card": {"contentType": "application/json"},
        },
        "schema": {"type": "object", "required": ["amount"], "additionalProperties": false, "properties": {
            "amount": {"type": "integer"},
            "expand": {"type": "array", "items": {"type": "string", "maxLength": 5000}},
            "metadata": {"type": "object", "additionalProperties": {"type": "string"}},
            "card": {"type": "object"},
        }},
    }}));
    assert_eq!(
        http(&description)["request"]["body"]["encoding"],
        json!({
            "card": {"content_type": "application/json"},
            "expand": {"style": "deepObject", "explode": true},
            "metadata": {"style": "deepObject", "explode": true},
        })
    );
    let schema = &arguments(&description)["properties"]["body"];
    assert_eq!(
        (&schema["required"], &schema["additionalProperties"]),
        (&json!(["amount"]), &json!(false))
    );
    assert_eq!(schema["properties"]["amount"], json!({"type": "integer"}));
}

/// From the public documentation of Slack's API: "files.upload".
#[test]
fn files_go_in_parts() {
    let form = |file: Value| {
        json!({"schema": {"allOf": [
            {"$ref": "#/components/schemas/Upload"},
            {"type": "object", "required": ["file"], "properties": {"file": file, "id": {"type": "string", "readOnly": true}}},
        ]}})
    };
    let mut description = with_body(&json!({
        "application/x-www-form-urlencoded": form(json!({"type": "string", "format": "binary"})),
        "multipart/form-data": form(json!({"type": "string", "format": "binary"})),
    }));
    description["components"] = json!({"schemas": {"Upload": {"type": "object", "properties": {
        "title": {"type": "string"},
        "thumbs": {"type": "array", "description": "Small ones", "items": {"type": "string", "format": "binary"}},
    }}}});
    let body = http(&description)["request"]["body"].clone();
    assert_eq!(
        body,
        json!({"argument": "body", "content_type": "multipart/form-data",
            "encoding": {"file": {"file": true}, "thumbs": {"file": true}}})
    );
    let schema = arguments(&description)["properties"]["body"].clone();
    assert_eq!(schema["required"], json!(["file"]));
    let content_or_address = json!([{"required": ["base64"]}, {"required": ["url"]}]);
    assert_eq!(schema["properties"]["file"]["oneOf"], content_or_address);
    assert_eq!(
        schema["properties"]["thumbs"]["items"]["oneOf"],
        content_or_address
    );
    assert_eq!(schema["properties"]["thumbs"]["description"], "Small ones");
    assert_eq!(schema["properties"]["title"], json!({"type": "string"}));
    assert_eq!(schema["properties"].get("id"), None);
}

#[rstest]
#[case::format("3.0.0", json!({"type": "string", "format": "binary"}), json!({}), true)]
#[case::base64_text("3.0.0", json!({"type": "string", "format": "byte"}), json!({}), false)]
#[case::text("3.0.0", json!({"type": "string"}), json!({}), false)]
#[case::media_type("3.0.0", json!({"type": "string"}), json!({"contentType": "image/png, image/jpeg"}), true)]
#[case::text_type("3.0.0", json!({"type": "string"}), json!({"contentType": "text/csv"}), false)]
#[case::any_in_30("3.0.0", json!({}), json!({}), false)]
#[case::any_in_31("3.1.0", json!({}), json!({}), true)]
#[case::content_media_type("3.1.0", json!({"type": "string", "contentMediaType": "image/png"}), json!({}), true)]
#[case::content_encoding("3.1.0", json!({"type": "string", "contentMediaType": "image/png", "contentEncoding": "base64"}), json!({}), false)]
#[case::json_part("3.1.0", json!({}), json!({"contentType": "application/json"}), false)]
fn which_properties_are_files(
    #[case] version: &str,
    #[case] property: Value,
    #[case] encoding: Value,
    #[case] expected: bool,
) {
    let content = json!({"multipart/form-data": {
        "schema": {"type": "object", "properties": {"p": property}}, "encoding": {"p": encoding},
    }});
    let description = described(version, "post", &json!({"requestBody": {"content": content}}));
    let body = http(&description)["request"]["body"].clone();
    assert_eq!(body["encoding"]["p"]["file"] == json!(true), expected, "{body}");
}

#[test]
fn headers_of_parts_have_the_one_value_that_is_described() {
    let content = json!({"multipart/form-data": {
        "schema": {"type": "object", "properties": {"p": {"type": "string"}}},
        "encoding": {"p": {"headers": {
            "X-One": {"schema": {"enum": ["a"]}}, "X-Any": {"schema": {"type": "string"}}, "Content-Type": {},
        }}},
    }});
    let description = with_body(&content);
    assert_eq!(
        http(&description)["request"]["body"]["encoding"]["p"],
        json!({"headers": {"X-One": "a"}})
    );
    assert_eq!(
        only(&description).notes,
        ["the header X-Any of the part \"p\" is left out: no value is described"]
    );
}

#[test]
fn forms_of_swagger_2() {
    let field = |name: &str, kind: &str| json!({"name": name, "in": "formData", "type": kind});
    let mut tags = field("tags", "array");
    tags["items"] = json!({"type": "string"});
    let with = |fields: Vec<Value>, consumes: Value| json!({"swagger": "2.0", "host": "a.example", "paths": {"/x": {"post": {"consumes": consumes, "parameters": fields}}}});
    let body = |description: &Value| http(description)["request"]["body"].clone();
    let plain = with(vec![field("a", "string"), tags], json!([]));
    assert_eq!(
        body(&plain),
        json!({"argument": "body", "content_type": "application/x-www-form-urlencoded", "encoding": {"tags": {"explode": false}}})
    );
    let file = with(vec![field("a", "string"), field("f", "file")], json!([]));
    assert_eq!(
        body(&file),
        json!({"argument": "body", "content_type": "multipart/form-data", "encoding": {"f": {"file": true}}})
    );
    assert_eq!(
        body(&with(vec![field("a", "string")], json!(["multipart/form-data"])))["content_type"],
        "multipart/form-data"
    );
}

#[rstest]
#[case::get("get", json!({"required": true, "content": {"application/json": {}}}), Err("a GET request has no body here"))]
#[case::optional_get("get", json!({"content": {"application/json": {}}}), Ok("the body is left out: a GET request has none"))]
#[case::mixed("post", json!({"required": true, "content": {"multipart/mixed": {}}}), Err("nothing here writes a body of type multipart/mixed"))]
#[case::optional_mixed("post", json!({"content": {"multipart/mixed": {}}}), Ok("the body is left out: nothing here writes multipart/mixed"))]
#[case::empty("post", json!({"required": true, "content": {}}), Ok("the body has no content and is left out"))]
#[case::xml("post", json!({"content": {"application/xml": {}}}), Ok("the body is XML, which the caller writes as a text"))]
fn what_cannot_be_sent(#[case] method: &str, #[case] body: Value, #[case] expected: Result<&str, &str>) {
    let operation = only(&described("3.0.0", method, &json!({"requestBody": body})));
    match expected {
        Ok(note) => {
            tool(&operation);
            assert_eq!(operation.notes, [note]);
        }
        Err(why) => assert_eq!(operation.tool, Err(why.to_owned())),
    }
}
