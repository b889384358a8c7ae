//! The common fields of a definition as a form. What it has no field for stays as it is.

use leptos::prelude::*;
use serde_json::{Map, Value};

use crate::api::{object, parse};
use crate::components::{Icon, SchemaForm, Symbol};
use crate::reactive::part;

/// The fields, as a schema that the form is made from.
const FIELDS: &str = r#"{"properties": {
"description": {"type": "string", "format": "textarea", "description": "What it does and when to use it; models choose tools by it."},
"group": {"type": "array", "format": "names", "description": "Its groups, separated by commas. None: the group default."},
"available_in_states": {"type": "array", "format": "names", "description": "The workflow states it is open in. None: every state."},
"state": {"type": "string", "description": "The workflow state after a success. None: it does not move."},
"enabled": {"type": "boolean", "default": true, "description": "Whether it may be called."},
"after_execution": {"enum": ["suspend", "terminate"], "description": "What the caller's turn does afterwards."},
"service": {"type": "string", "description": "The tool service that executes it; only for tools of type tool-service."}
}}"#;

/// The field of a definition that is not stored yet.
const NAME: &str =
    r#"{"type": "string", "description": "What callers call it; it cannot be changed later."}"#;

const TYPES: [&str; 6] = ["string", "integer", "number", "boolean", "array", "object"];

/// The form of a definition; a new one has a name to be chosen.
pub(super) fn definition_form(is_new: bool) -> SchemaForm {
    let mut fields = parse(FIELDS).unwrap_or_default();
    if is_new && let Some(properties) = fields["properties"].as_object_mut() {
        let rest = std::mem::take(properties);
        properties.insert("name".to_owned(), parse(NAME).unwrap_or_default());
        properties.extend(rest);
    }
    SchemaForm::new(fields, Value::Object(Map::new()), "def")
}

/// One parameter of a definition.
#[derive(Debug, Clone, Default, PartialEq)]
struct Parameter {
    name: String,
    schema: Value,
    required: bool,
}

fn read(definition: &Value) -> Vec<Parameter> {
    let schema = &definition["parameters"];
    let required = schema["required"].as_array();
    let properties = schema["properties"].as_object().into_iter().flatten();
    properties
        .map(|(name, schema)| Parameter {
            name: name.clone(),
            schema: schema.clone(),
            required: required.is_some_and(|names| names.iter().any(|known| known == name.as_str())),
        })
        .collect()
}

/// Writes the parameters back. Two of one name would become one, so then nothing is written.
fn write(definition: &mut Value, all: Vec<Parameter>) {
    let is_taken = |at: usize| all[..at].iter().any(|other| other.name == all[at].name);
    if (0..all.len()).any(|at| all[at].name.is_empty() || is_taken(at)) {
        return;
    }
    if !definition["parameters"].is_object() {
        definition["parameters"] = object(vec![("type", "object".into())]);
    }
    let required: Value = all
        .iter()
        .filter(|parameter| parameter.required)
        .map(|parameter| parameter.name.clone())
        .collect();
    let properties = all
        .into_iter()
        .map(|parameter| (parameter.name, parameter.schema));
    definition["parameters"]["properties"] = Value::Object(properties.collect());
    definition["parameters"]["required"] = required;
}

/// The parameters as rows of name, type, whether it is required, and description.
#[component]
pub(super) fn Parameters(
    /// The form with the definition.
    form: SchemaForm,
) -> impl IntoView {
    let value = form.value;
    let count = Memo::new(move |_| value.with(|value| read(value).len()));
    let at = move |at: usize| value.with(|value| read(value).into_iter().nth(at).unwrap_or_default());
    let change = move |change: &dyn Fn(&mut Vec<Parameter>)| {
        value.update(|value| {
            let mut all = read(value);
            change(&mut all);
            write(value, all);
        });
    };
    let row = move |index: usize| {
        let one = move |set: &dyn Fn(&mut Parameter)| {
            change(&|all| {
                if let Some(parameter) = all.get_mut(index) {
                    set(parameter);
                }
            });
        };
        let kind = move || at(index).schema["type"].as_str().unwrap_or_default().to_owned();
        let mut types: Vec<&str> = TYPES.to_vec();
        if !TYPES.contains(&untrack(kind).as_str()) {
            // Told apart in another way, or not at all; that is left alone until a type is chosen.
            types.insert(0, "");
        }
        let options: Vec<_> = types
            .into_iter()
            .map(|name| {
                view! {
                    <option value=name prop:selected=move || kind() == name>
                        {if name.is_empty() { "(other)" } else { name }}
                    </option>
                }
            })
            .collect();
        let told = |what: &str| format!("{what} of parameter {}", index + 1);
        view! {
            <li class="parameter">
                <input
                    class="input mono"
                    aria-label=told("Name")
                    autocomplete="off"
                    spellcheck="false"
                    maxlength="128"
                    prop:value=move || at(index).name
                    on:input=move |event| {
                        let name = event_target_value(&event).trim().to_owned();
                        one(&|parameter| parameter.name.clone_from(&name));
                    }
                />
                <select
                    class="input select"
                    aria-label=told("Type")
                    on:change=move |event| {
                        let kind = event_target_value(&event);
                        if !kind.is_empty() {
                            one(&|parameter| parameter.schema["type"] = kind.clone().into());
                        }
                    }
                >
                    {options}
                </select>
                <label class="check">
                    <input
                        type="checkbox"
                        aria-label=told("Required: whether callers must give it")
                        prop:checked=move || at(index).required
                        on:change=move |event| {
                            let required = event_target_checked(&event);
                            one(&|parameter| parameter.required = required);
                        }
                    />
                    "required"
                </label>
                <button
                    type="button"
                    class="button button-quiet button-icon"
                    aria-label=format!("Remove parameter {}", index + 1)
                    on:click=move |_| {
                        change(
                            &|all| {
                                if index < all.len() {
                                    all.remove(index);
                                }
                            },
                        );
                    }
                >
                    <Icon symbol=Symbol::Close />
                </button>
                <input
                    class="input parameter-text"
                    aria-label=told("Description")
                    placeholder="What it is for"
                    autocomplete="off"
                    prop:value=move || at(index).schema["description"].as_str().unwrap_or_default().to_owned()
                    on:input=move |event| {
                        let text = event_target_value(&event);
                        one(&|parameter| parameter.schema["description"] = text.clone().into());
                    }
                />
            </li>
        }
        .into_any()
    };
    let add = move |_| {
        change(&|all| {
            let name = (1..)
                .map(|number| format!("parameter{number}"))
                .find(|name| all.iter().all(|other| other.name != *name));
            let schema = object(vec![("type", "string".into())]);
            all.push(Parameter {
                name: name.unwrap_or_default(),
                schema,
                required: false,
            });
        });
    };
    view! {
        <div class="field">
            <h3>"Parameters"</h3>
            <ul class="stack">{part(move || (0..count.get()).map(row).collect::<Vec<_>>().into_any())}</ul>
            <div>
                <button type="button" class="button button-small" on:click=add>
                    <Icon symbol=Symbol::Plus />
                    "Add a parameter"
                </button>
            </div>
        </div>
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Parameter, read, write};

    #[test]
    fn parameters_are_read_and_written_back_in_order() {
        let definition = json!({"name": "x", "parameters": {
            "type": "object",
            "properties": {"z": {"type": "string"}, "a": {"type": "integer", "minimum": 1}},
            "required": ["a"],
            "additionalProperties": false,
        }});
        let mut all = read(&definition);
        assert_eq!(all[1].schema, json!({"type": "integer", "minimum": 1}));
        assert_eq!((all[0].required, all[1].required), (false, true));
        let mut same = definition.clone();
        write(&mut same, all.clone());
        assert_eq!(same, definition);
        all[1].name = "b".to_owned();
        write(&mut same, all);
        assert_eq!(same["parameters"]["required"], json!(["b"]));
        assert_eq!(same["parameters"]["additionalProperties"], json!(false));
        let names: Vec<String> = read(&same).into_iter().map(|parameter| parameter.name).collect();
        assert_eq!(names, ["z", "b"]);
    }

    #[test]
    fn a_name_is_never_taken_twice_and_never_empty() {
        let named = |name: &str| Parameter {
            name: name.to_owned(),
            ..Parameter::default()
        };
        for all in [vec![named("a"), named("a")], vec![named("")]] {
            let mut definition = json!({"parameters": {"properties": {"kept": {}}}});
            write(&mut definition, all);
            assert_eq!(definition, json!({"parameters": {"properties": {"kept": {}}}}));
        }
        let mut definition = json!({});
        write(&mut definition, vec![named("a")]);
        assert_eq!(read(&definition), [named("a")]);
    }

    #[test]
    fn the_fields_are_json() {
        assert!(crate::api::parse(super::FIELDS).is_ok());
        assert!(crate::api::parse(super::NAME).is_ok());
    }
}
