//! The common fields of a definition as a form. What it has no field for stays as it is.

use leptos::prelude::*;
use serde_json::{Map, Value};
use toolgate_api::tool_types::{self, COMMON, schema};

use crate::api::{object, parse};
use crate::components::{Icon, SchemaForm, Symbol};
use crate::language::{t, tf};
use crate::reactive::{part, text_memo};

const TYPES: [&str; 6] = ["string", "integer", "number", "boolean", "array", "object"];

/// The form of a definition; a new one has a name to be chosen.
pub(super) fn definition_form(is_new: bool) -> SchemaForm {
    let mut fields = schema(COMMON.iter());
    if is_new && let Some(properties) = fields["properties"].as_object_mut() {
        let rest = std::mem::take(properties);
        // Of a definition that is not stored yet.
        let about = t("What callers call it; it cannot be changed later.");
        let name = object(vec![("type", "string".into()), ("description", about.into())]);
        properties.insert("name".to_owned(), name);
        properties.extend(rest);
    }
    SchemaForm::new(fields, Value::Object(Map::new()), "def")
}

/// The form of what a definition has because of its type; nothing where the type has no keys of its own.
fn form_of_type(definition: &Value) -> Option<Value> {
    let kind = tool_types::find(definition["type"].as_str()?)?;
    let mut form = kind.form();
    // Of requests that exclude each other only the one that is there.
    if let Some(options) = form["properties"]["options"]["properties"].as_object_mut() {
        let has = |key: &str| definition["options"].get(key).is_some();
        for (key, other) in [("http", "jina"), ("jina", "http")] {
            if has(key) {
                options.remove(other);
            }
        }
    }
    let properties = form["properties"].as_object()?;
    (!properties.is_empty()).then_some(form)
}

/// The fields of the definition's type.
#[component]
pub(crate) fn TypeFields(
    /// The form with the definition.
    form: SchemaForm,
) -> impl IntoView {
    // A text is compared before the fields are rendered again, so that what is typed into them does not draw them again.
    let schema = text_memo(move || {
        let schema = form.value.with(form_of_type);
        schema.map(|schema| schema.to_string()).unwrap_or_default()
    });
    let title = text_memo(move || {
        let kind = form.value.with(|value| {
            let name = value["type"].as_str();
            name.and_then(tool_types::find)
        });
        kind.map(|kind| t(kind.title).to_owned()).unwrap_or_default()
    });
    part(move || {
        let schema = schema.with(|text| parse(text).ok());
        schema
            .map(|schema| {
                view! {
                    <details class="field">
                        <summary>{title}</summary>
                        {form.over(schema).view()}
                    </details>
                }
            })
            .into_any()
    })
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
pub(crate) fn Parameters(
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
            // The type is missing or not offered here; the definition is not changed until a type is chosen.
            types.insert(0, "");
        }
        let options: Vec<_> = types
            .into_iter()
            .map(|name| {
                view! {
                    <option value=name prop:selected=move || kind() == name>
                        {if name.is_empty() { t("(other)") } else { name }}
                    </option>
                }
            })
            .collect();
        let named = |what: &str| tf!("{what} of parameter {number}", what, number = index + 1);
        view! {
            <li class="parameter">
                <input
                    class="input mono"
                    aria-label=named(t("Name"))
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
                    aria-label=named(t("Type"))
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
                        aria-label=named(t("Required: whether callers must give it"))
                        prop:checked=move || at(index).required
                        on:change=move |event| {
                            let required = event_target_checked(&event);
                            one(&|parameter| parameter.required = required);
                        }
                    />
                    {t("required")}
                </label>
                <button
                    type="button"
                    class="button button-quiet button-icon"
                    aria-label=tf!("Remove parameter {number}", number = index + 1)
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
                    aria-label=named(t("Description"))
                    placeholder=t("What it is for")
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
            <h2>{t("Parameters")}</h2>
            <ul class="stack">{part(move || (0..count.get()).map(row).collect::<Vec<_>>().into_any())}</ul>
            <div>
                <button type="button" class="button button-small" on:click=add>
                    <Icon symbol=Symbol::Plus />
                    {t("Add a parameter")}
                </button>
            </div>
        </div>
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Parameter, form_of_type, read, write};

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
    fn the_form_of_a_type_has_what_the_definition_may_have() {
        let options = |definition: &serde_json::Value| {
            let form = form_of_type(definition).expect("a form");
            let options = form["properties"]["options"]["properties"].as_object().cloned();
            options.expect("options").keys().cloned().collect::<Vec<_>>()
        };
        let of_static = options(&json!({"type": "static", "options": {"static": {"result": 1}}}));
        assert_eq!(of_static, ["static", "concurrency", "breaker", "result"]);
        let of_jina = options(&json!({"type": "openapi", "options": {"jina": {}}}));
        assert!(of_jina.contains(&"jina".to_owned()) && !of_jina.contains(&"http".to_owned()));
        assert_eq!(form_of_type(&json!({"type": "unheard-of"})), None);
        assert_eq!(form_of_type(&json!({})), None);
    }
}
