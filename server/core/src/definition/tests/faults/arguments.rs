//! Schemas and lists of arguments.

use rstest::rstest;

use super::{tool, worker};

#[rstest]
#[case("parameters: null", "must be a JSON Schema, not null", "leave it out")]
#[case("parameters: []", "must be a JSON Schema, not a list", "arguments")]
#[case(
    "parameters: {type: string}",
    "arguments of a tool are an object",
    "type: object"
)]
#[case(
    "parameters: {type: [object, 'null']}",
    "arguments of a tool are an object",
    ""
)]
#[case(
    "parameters: {type: objekt}",
    "unknown type \"objekt\"",
    "did you mean \"object\"?"
)]
#[case(
    "parameters: {properties: {a: {type: float}}}",
    "unknown type \"float\"",
    "write number"
)]
#[case(
    "parameters: {properties: {a: {type: [string, dict]}}}",
    "unknown type \"dict\"",
    "write object"
)]
#[case("parameters: {properties: []}", "not a valid JSON Schema", "")]
#[case("parameters: {properties: {a: 1}}", "not a valid JSON Schema", "")]
#[case("parameters: {required: a}", "not a valid JSON Schema", "")]
#[case(
    "parameters: {properties: {a: {minLength: -1}}}",
    "not a valid JSON Schema",
    ""
)]
#[case(
    "parameters: {properties: {a: {type: array}}}",
    "an array needs \"items\"",
    "type: string"
)]
#[case(
    "parameters: {properties: {a: {type: array, items: {}}}}",
    "an array needs \"items\"",
    ""
)]
#[case(
    "parameters: {properties: {a: {type: array, items: [{}]}}}",
    "an array needs \"items\"",
    ""
)]
#[case(
    "parameters: {properties: {a: {type: ['null', array]}}}",
    "an array needs \"items\"",
    ""
)]
#[case(
    "parameters: {properties: {a: {type: array, items: {type: array}}}}",
    "an array needs \"items\"",
    ""
)]
#[case(
    "parameters: {anyOf: [{properties: {a: {type: array}}}]}",
    "an array needs \"items\"",
    ""
)]
#[case(
    "parameters: {oneOf: [{properties: {a: {type: array}}}]}",
    "an array needs \"items\"",
    ""
)]
#[case(
    "parameters: {allOf: [{properties: {a: {type: array}}}]}",
    "an array needs \"items\"",
    ""
)]
#[case("parameters: {$defs: {a: {type: array}}}", "an array needs \"items\"", "")]
#[case(
    "parameters: {definitions: {a: {type: array}}}",
    "an array needs \"items\"",
    ""
)]
#[case(
    "parameters: {properties: {a: {$ref: 'https://example.com/a.json'}}}",
    "$ref may not leave the schema",
    "$defs"
)]
#[case(
    "parameters: {properties: {a: {$ref: 'file:///etc/passwd'}}}",
    "$ref may not leave the schema",
    ""
)]
#[case(
    "parameters: {properties: {a: {$ref: other.json}}}",
    "$ref may not leave the schema",
    ""
)]
#[case(
    "parameters: {properties: {a: {$ref: '#/$defs/none'}}}",
    "cannot be compiled",
    "#/$defs"
)]
#[case("parameters: {properties: {a: {pattern: '('}}}", "", "")]
#[case("parameters: {properties: {a: {pattern: '(?=a)'}}}", "", "")]
#[case(
    "arguments: {a: string}",
    "must be a list, not a map",
    "name, type and description"
)]
#[case("arguments: [a]", "\"arguments\" must be a map, not a string", "")]
#[case("arguments: [{name: a, description: d}]", "no \"type\"", "type: string")]
#[case("arguments: [{type: string, description: d}]", "no \"name\"", "")]
#[case(
    "arguments: [{name: a, type: text, description: d}]",
    "unknown argument type \"text\"",
    "types are"
)]
#[case(
    "arguments: [{name: a, type: array, description: d}]",
    "an array needs \"items\"",
    ""
)]
#[case(
    "arguments: [{name: a, type: string, description: d, required: yes}]",
    "must be true or false, not a string",
    "write true"
)]
#[case(
    "arguments: [{name: a, type: string, description: d, enum: x}]",
    "must be a list of the allowed values",
    ""
)]
#[case(
    "arguments: [{name: a, type: string, desc: d, description: d}]",
    "unknown key \"desc\" in an argument",
    "known keys"
)]
#[case(
    "arguments: [{name: a, type: string, description: d}, {name: a, type: string, description: d}]",
    "duplicate argument \"a\"",
    ""
)]
fn arguments(#[case] rest: &str, #[case] message: &str, #[case] hint: &str) {
    worker(rest, message, hint);
}

#[test]
fn data_within_a_schema_is_not_taken_for_a_schema() {
    tool(
        "name: a\ndescription: d\ntarget_subject: cmd.tool.a\nparameters:\n  properties:\n    \
         $ref: {type: string}\n    b: {default: {$ref: x, type: array}, enum: [{type: array}]}\n    \
         type: {type: string}\n    c: {$ref: '#/properties/b'}\n",
    );
}
