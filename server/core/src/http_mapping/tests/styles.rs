//! "Style Examples" of the OpenAPI specification, row by row.

use rstest::rstest;
use serde_json::{Value, json};

use super::{MappingError, sent};

fn string() -> Value {
    json!("blue")
}

fn array() -> Value {
    json!(["blue", "black", "brown"])
}

fn object() -> Value {
    json!({"R": 100, "G": 200, "B": 150})
}

#[rstest]
#[case(
    "path",
    "matrix",
    false,
    ";color=blue",
    ";color=blue,black,brown",
    ";color=R,100,G,200,B,150"
)]
#[case(
    "path",
    "matrix",
    true,
    ";color=blue",
    ";color=blue;color=black;color=brown",
    ";R=100;G=200;B=150"
)]
#[case("path", "label", false, ".blue", ".blue,black,brown", ".R,100,G,200,B,150")]
#[case("path", "label", true, ".blue", ".blue.black.brown", ".R=100.G=200.B=150")]
#[case("path", "simple", false, "blue", "blue,black,brown", "R,100,G,200,B,150")]
#[case("path", "simple", true, "blue", "blue,black,brown", "R=100,G=200,B=150")]
#[case("header", "simple", false, "blue", "blue,black,brown", "R,100,G,200,B,150")]
#[case("header", "simple", true, "blue", "blue,black,brown", "R=100,G=200,B=150")]
#[case(
    "query",
    "form",
    false,
    "color=blue",
    "color=blue,black,brown",
    "color=R,100,G,200,B,150"
)]
#[case(
    "query",
    "form",
    true,
    "color=blue",
    "color=blue&color=black&color=brown",
    "R=100&G=200&B=150"
)]
#[case(
    "cookie",
    "form",
    false,
    "color=blue",
    "color=blue,black,brown",
    "color=R,100,G,200,B,150"
)]
#[case(
    "cookie",
    "cookie",
    true,
    "color=blue",
    "color=blue; color=black; color=brown",
    "R=100; G=200; B=150"
)]
#[case(
    "query",
    "spaceDelimited",
    false,
    "color=blue",
    "color=blue%20black%20brown",
    "color=R%20100%20G%20200%20B%20150"
)]
#[case(
    "query",
    "pipeDelimited",
    false,
    "color=blue",
    "color=blue%7Cblack%7Cbrown",
    "color=R%7C100%7CG%7C200%7CB%7C150"
)]
fn style_examples(
    #[case] location: &str,
    #[case] style: &str,
    #[case] explode: bool,
    #[case] of_string: &str,
    #[case] of_array: &str,
    #[case] of_object: &str,
) {
    let more = json!({"style": style, "explode": explode});
    assert_eq!(sent(location, &more, &string()).as_deref(), Ok(of_string));
    assert_eq!(sent(location, &more, &array()).as_deref(), Ok(of_array));
    assert_eq!(sent(location, &more, &object()).as_deref(), Ok(of_object));
}

#[test]
fn deep_objects_go_down_in_brackets() {
    let more = json!({"style": "deepObject"});
    assert_eq!(
        sent("query", &more, &object()).as_deref(),
        Ok("color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150")
    );
    assert_eq!(
        sent("query", &more, &json!({"a": {"b": [1, {"c": "x y"}], "n": null}})).as_deref(),
        Ok("color%5Ba%5D%5Bb%5D%5B0%5D=1&color%5Ba%5D%5Bb%5D%5B1%5D%5Bc%5D=x%20y")
    );
}

/// What is not said has the specification's default.
#[rstest]
#[case("path", "blue,black,brown", "R,100,G,200,B,150")]
#[case("header", "blue,black,brown", "R,100,G,200,B,150")]
#[case("query", "color=blue&color=black&color=brown", "R=100&G=200&B=150")]
#[case("cookie", "color=blue; color=black; color=brown", "R=100; G=200; B=150")]
fn defaults(#[case] location: &str, #[case] of_array: &str, #[case] of_object: &str) {
    assert_eq!(sent(location, &json!({}), &array()).as_deref(), Ok(of_array));
    assert_eq!(sent(location, &json!({}), &object()).as_deref(), Ok(of_object));
}

/// An empty text is a value; null, empty lists and empty objects are undefined and not sent (RFC 6570, section 2.3).
#[rstest]
#[case("query", "form", json!(null), "")]
#[case("cookie", "form", json!(null), "")]
#[case("query", "pipeDelimited", json!(null), "")]
#[case("query", "deepObject", json!(null), "")]
#[case("header", "simple", json!(null), "")]
#[case("query", "form", json!(""), "color=")]
#[case("path", "matrix", json!(""), ";color")]
#[case("query", "form", json!([]), "")]
#[case("query", "form", json!({}), "")]
#[case("query", "form", json!(["a", null, "b"]), "color=a&color=b")]
#[case("query", "form", json!({"a": null, "b": 1}), "b=1")]
fn empty_values(#[case] location: &str, #[case] style: &str, #[case] value: Value, #[case] expected: &str) {
    assert_eq!(
        sent(location, &json!({"style": style}), &value).as_deref(),
        Ok(expected)
    );
}

#[rstest]
#[case(
    "query",
    false,
    "color=%3A%2F%3F%23%5B%5D%40%21%24%26%27%28%29%2A%2B%2C%3B%3D%25%20%C3%A4%2541"
)]
#[case("query", true, "color=:/?%23%5B%5D@!$%26'()*%2B,;=%25%20%C3%A4%41")]
#[case(
    "path",
    false,
    "%3A%2F%3F%23%5B%5D%40%21%24%26%27%28%29%2A%2B%2C%3B%3D%25%20%C3%A4%2541"
)]
#[case("path", true, ":%2F%3F%23%5B%5D@!$&'()*+,;=%25%20%C3%A4%41")]
fn reserved_characters(#[case] location: &str, #[case] allow_reserved: bool, #[case] expected: &str) {
    let more = json!({"allow_reserved": allow_reserved});
    let value = json!(":/?#[]@!$&'()*+,;=% ä%41");
    assert_eq!(sent(location, &more, &value).as_deref(), Ok(expected));
}

#[test]
fn what_is_nested_in_other_styles_is_json_text() {
    assert_eq!(
        sent("query", &json!({}), &json!([{"a": 1}, [true]])).as_deref(),
        Ok("color=%7B%22a%22%3A1%7D&color=%5Btrue%5D")
    );
}

/// The specification's own examples of `content`.
#[rstest]
#[case("query", "application/json", json!({"lat": 40.6, "long": -73.9}), "color=%7B%22lat%22%3A40.6%2C%22long%22%3A-73.9%7D")]
#[case("query", "application/json", json!("text"), "color=%22text%22")]
#[case("query", "application/json", json!(null), "color=null")]
#[case("query", "text/plain", json!("a b"), "color=a%20b")]
#[case("path", "application/json", json!([1]), "%5B1%5D")]
#[case("header", "application/json", json!({"a": "ä😀"}), "{\"a\":\"\\u00e4\\ud83d\\ude00\"}")]
#[case("header", "text/plain", json!("\"etag\""), "\"etag\"")]
#[case("cookie", "application/json", json!({"a": 1}), "color=%7B%22a%22%3A1%7D")]
#[case("querystring", "application/x-www-form-urlencoded", json!({"foo": "a + b", "bar": true}), "foo=a+%2B+b&bar=true")]
#[case(
    "querystring",
    "application/json",
    json!({"numbers": [1, 2], "flag": null}),
    "%7B%22numbers%22%3A%5B1%2C2%5D%2C%22flag%22%3Anull%7D"
)]
fn documents(
    #[case] location: &str,
    #[case] content_type: &str,
    #[case] value: Value,
    #[case] expected: &str,
) {
    let more = json!({"content_type": content_type});
    assert_eq!(sent(location, &more, &value).as_deref(), Ok(expected));
}

#[rstest]
#[case("path", json!({}), json!(""))]
#[case("path", json!({}), json!(null))]
#[case("path", json!({}), json!([]))]
#[case("path", json!({}), json!("."))]
#[case("path", json!({}), json!(".."))]
#[case("path", json!({"style": "label"}), json!(""))]
#[case("path", json!({"style": "label"}), json!("."))]
#[case("path", json!({"allow_reserved": true}), json!("%2e%2E"))]
#[case("header", json!({}), json!("a\r\nX-Evil: 1"))]
#[case("header", json!({}), json!("ä"))]
#[case("cookie", json!({"style": "cookie"}), json!("a; admin=1"))]
#[case("cookie", json!({"style": "cookie"}), json!({"a=b": 1}))]
#[case("cookie", json!({"style": "cookie"}), json!(["a b"]))]
#[case("query", json!({"content_type": "text/plain"}), json!({"a": 1}))]
#[case("querystring", json!({"content_type": "application/x-www-form-urlencoded"}), json!("a=b"))]
fn values_that_do_not_fit(#[case] location: &str, #[case] more: Value, #[case] value: Value) {
    assert!(
        matches!(sent(location, &more, &value), Err(MappingError::Arguments(_))),
        "{location} {more} {value}"
    );
}
