//! A form made from a JSON Schema (2020-12). What it cannot draw can be typed as JSON.

use leptos::prelude::*;
use serde_json::{Map, Value};

use super::{Icon, Symbol};
use crate::reactive::When;

/// Deeper parts are typed as JSON.
const DEEPEST: usize = 6;

/// The arguments that a form fills, and the schema that it is made from.
#[derive(Clone, Copy)]
pub(crate) struct SchemaForm {
    /// The value; parts that were left empty are absent.
    pub(crate) value: RwSignal<Value>,
    schema: StoredValue<Value>,
}

impl SchemaForm {
    /// An empty form.
    pub(crate) fn new(schema: Value) -> Self {
        Self {
            value: RwSignal::new(Value::Object(Map::new())),
            schema: StoredValue::new(schema),
        }
    }

    /// The controls of the whole form.
    pub(crate) fn view(self) -> AnyView {
        let schema = self.schema.get_value();
        let object = self.object(&schema, "", 0);
        view! { <div class="stack schema-form">{object}</div> }.into_any()
    }

    fn object(self, schema: &Value, pointer: &str, depth: usize) -> AnyView {
        let required: Vec<&str> = schema["required"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let properties = schema["properties"].as_object();
        if properties.is_none_or(Map::is_empty) && depth == 0 {
            return view! { <p class="muted">"This tool takes no arguments."</p> }.into_any();
        }
        properties
            .into_iter()
            .flatten()
            .map(|(name, part)| {
                let below = format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"));
                self.labelled(name, part, &below, required.contains(&name.as_str()), depth)
            })
            .collect::<Vec<_>>()
            .into_any()
    }

    fn labelled(self, name: &str, part: &Value, pointer: &str, required: bool, depth: usize) -> AnyView {
        let part = self.resolved(part);
        let id = control_id(pointer);
        let help = part["description"].as_str().map(str::to_owned);
        let standard = part.get("default").map(|value| format!("Default: {value}"));
        let control = self.control(&part, pointer, depth);
        view! {
            <div class="field">
                <label for=id.clone()>
                    <span class="mono">{name.to_owned()}</span>
                    {required.then(|| view! { <span class="muted">" (required)"</span> })}
                </label>
                {control}
                <p class="field-help" id=format!("{id}-help")>
                    {help}
                    {standard.map(|text| view! { <span class="muted">" " {text}</span> })}
                </p>
            </div>
        }
        .into_any()
    }

    fn control(self, part: &Value, pointer: &str, depth: usize) -> AnyView {
        if depth >= DEEPEST {
            return self.json(pointer);
        }
        if let Some(choices) = part["enum"].as_array() {
            return self.choice(choices, pointer);
        }
        if let Some(kinds) = part
            .get("anyOf")
            .or_else(|| part.get("oneOf"))
            .and_then(Value::as_array)
        {
            return self.variants(kinds, pointer, depth);
        }
        match kind_of(part) {
            "string" => self.text(pointer, part["format"].as_str() == Some("textarea")),
            "integer" | "number" => self.number(pointer),
            "boolean" => self.boolean(pointer),
            "object" if part["properties"].is_object() => {
                let inner = self.object(part, pointer, depth + 1);
                view! { <div class="nested stack">{inner}</div> }.into_any()
            }
            "array" if part["items"].is_object() => self.array(part["items"].clone(), pointer, depth),
            _ => self.json(pointer),
        }
    }

    fn text(self, pointer: &str, long: bool) -> AnyView {
        let id = control_id(pointer);
        let help = format!("{id}-help");
        let (read, write) = self.part(pointer);
        let shown = move || {
            read()
                .and_then(|value| value.as_str().map(str::to_owned))
                .unwrap_or_default()
        };
        let typed = move |event| {
            let text = event_target_value(&event);
            write((!text.is_empty()).then(|| Value::String(text)));
        };
        if long {
            return view! { <textarea id=id class="input textarea" rows="4" aria-describedby=help prop:value=shown on:input=typed></textarea> }
                .into_any();
        }
        view! { <input id=id class="input" type="text" autocomplete="off" aria-describedby=help prop:value=shown on:input=typed /> }
            .into_any()
    }

    fn number(self, pointer: &str) -> AnyView {
        let id = control_id(pointer);
        let help = format!("{id}-help");
        let (_, write) = self.part(pointer);
        view! {
            <input
                id=id
                class="input"
                type="text"
                inputmode="decimal"
                autocomplete="off"
                aria-describedby=help
                on:input=move |event| {
                    let text = event_target_value(&event);
                    // What is no number is sent as it was typed; the server says what is wrong with it.
                    let value = serde_json::from_str(text.trim()).unwrap_or(Value::String(text.clone()));
                    write((!text.trim().is_empty()).then_some(value));
                }
            />
        }
        .into_any()
    }

    fn boolean(self, pointer: &str) -> AnyView {
        self.choice(&[Value::Bool(true), Value::Bool(false)], pointer)
    }

    fn choice(self, choices: &[Value], pointer: &str) -> AnyView {
        let id = control_id(pointer);
        let help = format!("{id}-help");
        let (_, write) = self.part(pointer);
        let choices: Vec<Value> = choices.to_vec();
        let options: Vec<_> = choices
            .iter()
            .enumerate()
            .map(|(at, value)| {
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                view! { <option value=at.to_string()>{text}</option> }
            })
            .collect();
        view! {
            <select
                id=id
                class="input select"
                aria-describedby=help
                on:change=move |event| {
                    let chosen = event_target_value(&event).parse::<usize>().ok();
                    write(chosen.and_then(|at| choices.get(at).cloned()));
                }
            >
                <option value="">"(not given)"</option>
                {options}
            </select>
        }
        .into_any()
    }

    fn variants(self, kinds: &[Value], pointer: &str, depth: usize) -> AnyView {
        let kinds: Vec<Value> = kinds.iter().map(|kind| self.resolved(kind)).collect();
        let chosen = RwSignal::new(0_usize);
        let (_, write) = self.part(pointer);
        let pointer = pointer.to_owned();
        let id = control_id(&pointer);
        let options: Vec<_> = kinds
            .iter()
            .enumerate()
            .map(|(at, kind)| {
                let text = kind["title"].as_str().unwrap_or_else(|| kind_of(kind)).to_owned();
                view! { <option value=at.to_string()>{text}</option> }
            })
            .collect();
        view! {
            <div class="stack">
                <select
                    class="input select"
                    aria-label="Kind of value"
                    on:change=move |event| {
                        write(None);
                        chosen.set(event_target_value(&event).parse().unwrap_or(0));
                    }
                >
                    {options}
                </select>
                {move || {
                    let kind = kinds.get(chosen.get()).cloned().unwrap_or_default();
                    match kind_of(&kind) {
                        "null" => view! { <span class="muted" id=id.clone()>"null"</span> }.into_any(),
                        _ => self.control(&kind, &pointer, depth + 1),
                    }
                }}
            </div>
        }
        .into_any()
    }

    fn array(self, items: Value, pointer: &str, depth: usize) -> AnyView {
        let items = self.resolved(&items);
        let id = control_id(pointer);
        let (read, write) = self.part(pointer);
        let count = Memo::new(move |_| {
            read()
                .and_then(|value| value.as_array().map(Vec::len))
                .unwrap_or(0)
        });
        let pointer = pointer.to_owned();
        let value = self.value;
        let at_pointer = pointer.clone();
        let rows = move || {
            (0..count.get())
                .map(|at| self.control(&items, &format!("{pointer}/{at}"), depth + 1))
                .collect::<Vec<_>>()
        };
        view! {
            <div class="stack" id=id>
                {rows}
                <div class="row">
                    <button
                        type="button"
                        class="button button-small"
                        on:click=move |_| {
                            let mut list = value
                                .with_untracked(|value| value.pointer(&at_pointer).and_then(Value::as_array).cloned())
                                .unwrap_or_default();
                            list.push(Value::Null);
                            write(Some(Value::Array(list)));
                        }
                    >
                        <Icon symbol=Symbol::Plus />
                        "Add"
                    </button>
                    <When test=move || count.get() != 0>
                        <button type="button" class="button button-small" on:click=move |_| write(None)>
                            "Remove all"
                        </button>
                    </When>
                </div>
            </div>
        }
        .into_any()
    }

    fn json(self, pointer: &str) -> AnyView {
        let id = control_id(pointer);
        let help = format!("{id}-help");
        let (_, write) = self.part(pointer);
        view! {
            <textarea
                id=id
                class="input textarea mono"
                rows="3"
                placeholder="JSON"
                spellcheck="false"
                aria-describedby=help
                on:input=move |event| {
                    let text = event_target_value(&event);
                    let value = serde_json::from_str(&text).unwrap_or(Value::String(text.clone()));
                    write((!text.trim().is_empty()).then_some(value));
                }
            ></textarea>
        }
        .into_any()
    }

    /// Reading and writing one part of the value.
    fn part(
        self,
        pointer: &str,
    ) -> (
        impl Fn() -> Option<Value> + Copy + use<>,
        impl Fn(Option<Value>) + Copy + use<>,
    ) {
        let pointer = StoredValue::new(pointer.to_owned());
        let value = self.value;
        let read = move || value.with(|value| pointer.with_value(|pointer| value.pointer(pointer).cloned()));
        let write = move |part: Option<Value>| {
            value.update(|value| pointer.with_value(|pointer| put(value, pointer, part)));
        };
        (read, write)
    }

    /// A part with its local reference followed.
    fn resolved(self, part: &Value) -> Value {
        let mut part = part.clone();
        for _ in 0..DEEPEST {
            let target = part["$ref"]
                .as_str()
                .and_then(|reference| reference.strip_prefix('#'))
                .map(str::to_owned);
            let Some(target) = target else {
                break;
            };
            part = self
                .schema
                .with_value(|schema| schema.pointer(&target).cloned())
                .unwrap_or_default();
        }
        part
    }
}

fn control_id(pointer: &str) -> String {
    format!(
        "arg{}",
        pointer.replace(|c: char| !c.is_ascii_alphanumeric(), "-")
    )
}

/// The type of a schema; of several the first that is not null.
fn kind_of(part: &Value) -> &str {
    match &part["type"] {
        Value::String(kind) => kind,
        Value::Array(kinds) => kinds
            .iter()
            .filter_map(Value::as_str)
            .find(|kind| *kind != "null")
            .unwrap_or("null"),
        _ if part["properties"].is_object() => "object",
        _ => "any",
    }
}

/// Puts a part where a pointer says, making objects on the way; `None` takes it away.
fn put(value: &mut Value, pointer: &str, part: Option<Value>) {
    let Some((above, last)) = pointer.rsplit_once('/') else {
        return;
    };
    let last = last.replace("~1", "/").replace("~0", "~");
    if part.is_some()
        && value
            .pointer(above)
            .is_none_or(|above| above.is_null() || above.is_string())
    {
        put(value, above, Some(Value::Object(Map::new())));
    }
    match (value.pointer_mut(above), part) {
        (Some(Value::Object(map)), Some(part)) => {
            map.insert(last, part);
        }
        (Some(Value::Object(map)), None) => {
            map.remove(&last);
        }
        (Some(Value::Array(list)), part) => {
            if let Some(slot) = last.parse::<usize>().ok().and_then(|at| list.get_mut(at)) {
                *slot = part.unwrap_or(Value::Null);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{kind_of, put};

    #[test]
    fn parts_are_put_and_taken_away() {
        let mut value = json!({});
        put(&mut value, "/a/b~1c", Some(json!(1)));
        assert_eq!(value, json!({"a": {"b/c": 1}}));
        put(&mut value, "/list", Some(json!([null])));
        put(&mut value, "/list/0/x", Some(json!("y")));
        assert_eq!(value["list"], json!([{"x": "y"}]));
        put(&mut value, "/a/b~1c", None);
        assert_eq!(value["a"], json!({}));
    }

    #[test]
    fn the_type_that_is_not_null_counts() {
        assert_eq!(kind_of(&json!({"type": ["null", "integer"]})), "integer");
        assert_eq!(kind_of(&json!({"properties": {}})), "object");
        assert_eq!(kind_of(&json!({})), "any");
    }
}
