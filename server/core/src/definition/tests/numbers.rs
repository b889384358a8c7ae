//! Numbers with more digits than a double has: from an upload to what a tool is called with.

use rstest::rstest;
use serde_json::{Value, json};

use super::*;
use crate::arguments::{self, TemplateContext};
use crate::definition::{check_tool, to_yaml};
use crate::snapshot::testing::compiled;
use crate::validation::Effort;

const YAML: &str = "\
name: a
type: openapi
description: d
parameters:
  type: object
  properties:
    id:
      type: integer
      minimum: 18446744073709551616
      maximum: 123456789012345678901234567890123456789012345678901234567890
    kind:
      type: integer
      enum:
        - 18446744073709551616
        - -18446744073709551617
    rate:
      type: number
      const: 0.1234567890123456789
    hidden:
      type: integer
options:
  args:
    defaults:
      kind: 18446744073709551616
    fixed:
      hidden: 340282366920938463463374607431768211456
  http:
    base_url: https://a.example
    method: POST
";

#[test]
fn digits_are_kept_from_the_upload_to_the_rendered_definition() {
    let definition = tool(YAML);
    assert_eq!(to_yaml(&definition), YAML);
    let stored = serde_json::to_string(&definition).expect("JSON");
    assert!(stored.contains(r#""maximum":123456789012345678901234567890123456789012345678901234567890"#));
    let read: ToolDefinition = serde_json::from_str(&stored).expect("a definition");
    assert_eq!(read, definition);
    assert_eq!(to_yaml(&read), YAML);
    let upload = upload_as(TextFormat::Json, &stored).expect("an upload");
    assert_eq!(upload.tools[0].definition, definition);
    let value: Value = serde_json::from_str(&stored).expect("JSON");
    assert_eq!(
        with_context(|context| check_tool(&value, context))
            .expect("a tool")
            .0,
        definition
    );
}

#[rstest]
#[case::kept(r#"{"id": 99999999999999999999, "rate": 0.1234567890123456789}"#, "")]
#[case::below(r#"{"id": 18446744073709551615}"#, "/id")]
#[case::not_listed(r#"{"kind": 18446744073709551617}"#, "/kind")]
#[case::another_value(r#"{"rate": 0.12345678901234568}"#, "/rate")]
fn digits_are_kept_to_the_arguments(#[case] caller: &str, #[case] fault: &str) {
    let caller = serde_json::from_str(caller).expect("JSON");
    let context = TemplateContext::new(&ProjectId::parse("demo").expect("a slug"), None);
    let merged = arguments::merge(&compiled(tool(YAML)), &caller, &context, Effort::Quick);
    if fault.is_empty() {
        let arguments = Value::Object(merged.expect("merged").arguments).to_string();
        for part in [
            r#""id":99999999999999999999"#,
            r#""rate":0.1234567890123456789"#,
            r#""kind":18446744073709551616"#,
            r#""hidden":340282366920938463463374607431768211456"#,
        ] {
            assert!(arguments.contains(part), "{part}: {arguments}");
        }
    } else {
        let Err(arguments::Unmerged::Faults(faults)) = merged else {
            panic!("{merged:?}")
        };
        assert_eq!(faults[0].pointer.as_deref(), Some(fault));
    }
}

#[test]
fn equal_spellings_are_one_definition() {
    let of = |number: &str| tool(&YAML.replace("0.1234567890123456789", number));
    for spelling in ["1.50", "15e-1", "+1.5"] {
        assert_eq!(of(spelling), of("1.5"), "{spelling}");
    }
    let value = serde_json::from_str(
        r#"{"name": "a", "description": "d", "target_subject": "cmd.tool.a",
        "parameters": {"type": "object", "properties": {"a": {"default": 1.50}}}}"#,
    )
    .expect("JSON");
    let (definition, _) = with_context(|context| check_tool(&value, context)).expect("a tool");
    assert_eq!(
        serde_json::to_string(&definition.parameters.value()["properties"]["a"]["default"]).expect("JSON"),
        "1.5"
    );
}

#[test]
fn numbers_beyond_a_double_are_refused_with_their_place() {
    let yaml = YAML.replace("0.1234567890123456789", "1e999");
    assert_eq!(
        shown(&errors(&yaml)),
        "18:14 the number \"1e999\" is too large (quote it if it is meant as a text)"
    );
    let mut value = serde_json::to_value(tool(YAML)).expect("JSON");
    value["options"]["args"]["fixed"]["hidden"] =
        json!([0, serde_json::from_str::<Value>("1e999").expect("JSON")]);
    let faults = with_context(|context| check_tool(&value, context)).expect_err("refused");
    assert_eq!(shown(&faults), "the number is too large (send it as a string)");
    assert_eq!(faults[0].pointer.as_deref(), Some("/options/args/fixed/hidden/1"));
}
