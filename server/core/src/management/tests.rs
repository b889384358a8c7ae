use rstest::rstest;
use serde_json::{Map, Value, json};
use toolgate_api::tool_types::{FieldValue, MANAGEMENT};

use super::*;

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        other => panic!("{other} is no object"),
    }
}

#[test]
fn the_form_offers_every_operation() {
    let Some(FieldValue::Choice(offered)) = MANAGEMENT.keys.first().map(|key| key.value) else {
        panic!("the operation is a choice")
    };
    assert_eq!(offered, Operation::ALL.map(Operation::as_str));
    for operation in Operation::ALL {
        assert_eq!(Operation::parse(operation.as_str()), Some(operation));
    }
    assert_eq!(Operation::parse("mcp_answer"), None);
}

#[rstest]
#[case::list(Operation::ListServices, json!({}), true)]
#[case::list_with(Operation::ListServices, json!({"server_name": "a"}), false)]
#[case::details(Operation::GetServiceDetails, json!({"server_name": "a", "tool_name": "b"}), true)]
#[case::details_of_none(Operation::GetServiceDetails, json!({"tool_name": "b"}), false)]
#[case::invoke(Operation::InvokeTool, json!({"server_name": "a", "tool_name": "b", "arguments": {"c": 1}}), true)]
#[case::invoke_nothing(Operation::InvokeTool, json!({"server_name": "a"}), false)]
#[case::invoke_with_a_list(Operation::InvokeTool, json!({"server_name": "a", "tool_name": "b", "arguments": [1]}), false)]
#[case::register(Operation::RegisterServer, json!({"server_name": "a", "command": "uvx", "arguments": ["b"]}), true)]
#[case::register_headers(Operation::RegisterServer, json!({"server_name": "a", "headers": {}}), false)]
#[case::unregister(Operation::UnregisterServer, json!({"server_name": "a"}), true)]
fn arguments_are_read_strictly_and_as_the_schema_says(
    #[case] operation: Operation,
    #[case] arguments: Value,
    #[case] fits: bool,
) {
    let read = Request::read(operation, object(arguments.clone()));
    assert_eq!(read.is_ok(), fits, "{read:?}");
    let schema = jsonschema::validator_for(&operation.parameters()).expect("a schema");
    assert_eq!(schema.is_valid(&arguments), fits);
    if let Err(why) = read {
        assert!(why.contains(operation.as_str()), "{why}");
    }
}

#[test]
fn a_name_is_meant_without_regard_to_case_and_exactly_first() {
    let known = ["Forecast", "forecast", "wetter"];
    assert_eq!(meant("forecast", known.into_iter()), Some("forecast"));
    assert_eq!(meant("FORECAST", known.into_iter()), Some("Forecast"));
    assert_eq!(meant("WETTER", known.into_iter()), Some("wetter"));
    assert_eq!(meant("weather", known.into_iter()), None);
}

#[test]
fn an_unknown_name_is_answered_with_the_nearest() {
    let known = ["aaaa", "weather", "wether-2", "b", "c", "d", "e"];
    let said = unknown("MCP server", "Wheather", known);
    assert!(
        said.starts_with("there is no MCP server \"Wheather\"; the nearest are \"weather\", \"wether-2\","),
        "{said}"
    );
    assert_eq!(said.matches('"').count(), 2 + 5 * 2, "{said}");
    assert_eq!(unknown("tool", "x", []), "there is no tool \"x\"");
    assert!(unknown("tool", &"x".repeat(10_000), known).len() < 200);
}
