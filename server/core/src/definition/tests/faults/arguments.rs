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

#[rstest]
#[case("{type: integer}", "fixed", "many", "is not of type \"integer\"")]
#[case("{type: integer}", "defaults", "many", "is not of type \"integer\"")]
#[case("{enum: [a, b]}", "fixed", "c", "is not one of")]
#[case(
    "{type: object, properties: {b: {type: array, items: {type: string}}}}",
    "fixed",
    "{b: [x, 1]}",
    "is not of type"
)]
#[case("{$ref: '#/$defs/d'}", "fixed", "long", "longer than")]
// By a template, whatever its value.
#[case(
    "{type: integer}",
    "fixed",
    "'{agent_id}'",
    "whatever the template is replaced by"
)]
#[case(
    "{type: string, maxLength: 4}",
    "fixed",
    "'a-{trace_id}-b'",
    "whatever the template is replaced by"
)]
// The project is known at the upload.
#[case(
    "{type: string, pattern: '^x'}",
    "defaults",
    "'{project_id}'",
    "does not match"
)]
fn values_that_break_their_own_parameter_are_refused(
    #[case] schema: &str,
    #[case] layer: &str,
    #[case] value: &str,
    #[case] message: &str,
) {
    let rest = format!(
        "parameters: {{properties: {{a: {schema}, q: {{type: string}}}}, required: [q], $defs: {{d: {{maxLength: 3}}}}}}\n\
         options: {{args: {{{layer}: {{a: {value}}}}}}}"
    );
    worker(&rest, message, "change the value, or the parameter's schema");
    worker(&rest, "\"a\" does not fit its own parameter", "");
}

#[rstest]
#[case("{type: string}", "'{agent_id}'")]
#[case("{enum: [a, b]}", "'{agent_id}'")]
#[case(
    "{type: string, minLength: 5, maxLength: 20, pattern: '^[a-z]+$'}",
    "'{agent_id}'"
)]
#[case("{type: string, pattern: '^demo-'}", "'{project_id}-{agent_id}'")]
#[case("{type: [string, 'null']}", "null")]
fn values_that_fit_or_may_fit_are_kept(#[case] schema: &str, #[case] value: &str) {
    for layer in ["defaults", "fixed"] {
        super::tool(&format!(
            "name: a\ndescription: d\ntarget_subject: cmd.tool.a\n\
             parameters: {{properties: {{a: {schema}, q: {{}}}}, required: [q], if: {{}}, then: {{properties: {{a: {{const: z}}}}}}}}\n\
             options: {{args: {{{layer}: {{a: {value}}}}}}}"
        ));
    }
}
