//! A form made from a JSON Schema (2020-12). What it cannot draw can be typed as JSON.

use leptos::html;
use leptos::prelude::*;
use serde_json::{Map, Value};

use super::{Icon, Symbol};
use crate::reactive::{effect, part};

/// Deeper parts are typed as JSON.
const DEEPEST: usize = 6;

/// The value that a form fills, and the schema that it is made from. The value may be changed from outside too.
#[derive(Clone, Copy)]
pub(crate) struct SchemaForm {
    /// The value; parts that were left empty are absent.
    pub(crate) value: RwSignal<Value>,
    schema: StoredValue<Value>,
    /// What the ids of the controls begin with.
    prefix: &'static str,
}

/// How a text that is typed stands for a value.
#[derive(Clone, Copy)]
enum Entry {
    /// As it is.
    Text,
    /// A number; what is none stays a text, and the server says what is wrong with it.
    Number,
    /// JSON; what is none stays a text.
    Json,
    /// Names, separated by commas.
    Names,
}

impl Entry {
    /// The value of a text; nothing for an empty one.
    fn read(self, text: &str) -> Option<Value> {
        if text.trim().is_empty() {
            return None;
        }
        Some(match self {
            Self::Text => Value::String(text.to_owned()),
            Self::Number | Self::Json => {
                serde_json::from_str(text.trim()).unwrap_or_else(|_| Value::String(text.to_owned()))
            }
            Self::Names => text
                .split(',')
                .map(str::trim)
                .filter(|name| !name.is_empty())
                .collect(),
        })
    }

    /// The text of a value.
    fn write(self, value: &Value) -> String {
        match (self, value) {
            (_, Value::String(text)) => text.clone(),
            (Self::Names, Value::Array(names)) => {
                let names: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
                names.join(", ")
            }
            (Self::Json, value) => format!("{value:#}"),
            (_, value) => value.to_string(),
        }
    }
}

impl SchemaForm {
    /// A form that begins with a value.
    pub(crate) fn new(schema: Value, value: Value, prefix: &'static str) -> Self {
        Self {
            value: RwSignal::new(value),
            schema: StoredValue::new(schema),
            prefix,
        }
    }

    /// The controls of the whole form.
    pub(crate) fn view(self) -> AnyView {
        let schema = self.schema.get_value();
        let object = self.object(&schema, "", 0);
        view! { <div class="stack schema-form">{object}</div> }.into_any()
    }

    /// The whole value as JSON, to be typed.
    pub(crate) fn as_json(self, name: &'static str) -> AnyView {
        self.typed(&Value::Null, "", Entry::Json, Some(name))
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
        let id = self.id(pointer);
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
            return self.typed(part, pointer, Entry::Json, None);
        }
        if let Some(choices) = choices(part) {
            return self.choice(choices, pointer);
        }
        if let Some(kinds) = variants(part) {
            return self.variants(kinds, pointer, depth);
        }
        let format = part["format"].as_str();
        match kind_of(part) {
            "string" => self.typed(part, pointer, Entry::Text, None),
            "integer" | "number" => self.typed(part, pointer, Entry::Number, None),
            "boolean" => self.choice(vec![Value::Bool(true), Value::Bool(false)], pointer),
            "null" => self.choice(vec![Value::Null], pointer),
            "object" if part["properties"].is_object() => {
                let inner = self.object(part, pointer, depth + 1);
                let id = self.id(pointer);
                view! { <div class="nested stack" id=id>{inner}</div> }.into_any()
            }
            "array" if format == Some("names") => self.typed(part, pointer, Entry::Names, None),
            "array" if part["items"].is_object() => self.array(part["items"].clone(), pointer, depth),
            _ => self.typed(part, pointer, Entry::Json, None),
        }
    }

    /// A field to type into. Its text is replaced only when it no longer stands for the value: what is typed stays as
    /// it was typed.
    fn typed(self, part: &Value, pointer: &str, entry: Entry, name: Option<&'static str>) -> AnyView {
        let id = self.id(pointer);
        let help = name.is_none().then(|| format!("{id}-help"));
        let (read, write) = self.part(pointer);
        let differs = move |typed: String| {
            let value = read().filter(|value| !value.is_null());
            (entry.read(&typed).filter(|value| !value.is_null()) != value)
                .then(|| value.map(|value| entry.write(&value)).unwrap_or_default())
        };
        if matches!(entry, Entry::Json) || part["format"].as_str() == Some("textarea") {
            let field = NodeRef::<html::Textarea>::new();
            effect(move || {
                if let Some(field) = field.get()
                    && let Some(text) = differs(field.value())
                {
                    field.set_value(&text);
                }
            });
            return view! {
                <textarea
                    id=id
                    class="input textarea"
                    class:mono=matches!(entry, Entry::Json)
                    rows="4"
                    spellcheck="false"
                    aria-label=name
                    aria-describedby=help
                    node_ref=field
                    on:input=move |event| write(entry.read(&event_target_value(&event)))
                ></textarea>
            }
            .into_any();
        }
        let field = NodeRef::<html::Input>::new();
        effect(move || {
            if let Some(field) = field.get()
                && let Some(text) = differs(field.value())
            {
                field.set_value(&text);
            }
        });
        view! {
            <input
                id=id
                class="input"
                class:mono=matches!(entry, Entry::Names)
                type=if is_secret(part) { "password" } else { "text" }
                inputmode=matches!(entry, Entry::Number).then_some("decimal")
                autocomplete="off"
                spellcheck="false"
                aria-describedby=help
                node_ref=field
                on:input=move |event| write(entry.read(&event_target_value(&event)))
            />
        }
        .into_any()
    }

    fn choice(self, choices: Vec<Value>, pointer: &str) -> AnyView {
        let id = self.id(pointer);
        let help = format!("{id}-help");
        let (read, write) = self.part(pointer);
        let options: Vec<_> = choices
            .iter()
            .enumerate()
            .map(|(at, value)| {
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                let value = value.clone();
                view! {
                    <option value=at.to_string() prop:selected=move || read().as_ref() == Some(&value)>
                        {text}
                    </option>
                }
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
                <option value="" prop:selected=move || read().is_none()>
                    "(not given)"
                </option>
                {options}
            </select>
        }
        .into_any()
    }

    fn variants(self, kinds: &[Value], pointer: &str, depth: usize) -> AnyView {
        let kinds: Vec<Value> = kinds.iter().map(|kind| self.resolved(kind)).collect();
        let (read, write) = self.part(pointer);
        let first = untrack(read).and_then(|value| kinds.iter().position(|kind| fits(&value, kind)));
        let chosen = RwSignal::new(first.unwrap_or(0));
        let pointer = pointer.to_owned();
        let options: Vec<_> = kinds
            .iter()
            .enumerate()
            .map(|(at, kind)| {
                let text = kind["title"].as_str().unwrap_or_else(|| kind_of(kind)).to_owned();
                view! {
                    <option value=at.to_string() prop:selected=move || chosen.get() == at>
                        {text}
                    </option>
                }
            })
            .collect();
        let control = part(move || {
            let kind = kinds.get(chosen.get()).cloned().unwrap_or_default();
            self.control(&kind, &pointer, depth + 1)
        });
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
                {control}
            </div>
        }
        .into_any()
    }

    fn array(self, items: Value, pointer: &str, depth: usize) -> AnyView {
        let items = self.resolved(&items);
        let id = self.id(pointer);
        let (read, write) = self.part(pointer);
        let list = move || match read() {
            Some(Value::Array(list)) => list,
            _ => Vec::new(),
        };
        let count = Memo::new(move |_| list().len());
        let pointer = pointer.to_owned();
        let first = blank(&items);
        let rows = part(move || {
            let row = |at: usize| {
                let below = format!("{pointer}/{at}");
                let control = self.control(&items, &below, depth + 1);
                let remove = move |_| {
                    let mut rest = untrack(list);
                    if at < rest.len() {
                        rest.remove(at);
                    }
                    write((!rest.is_empty()).then_some(Value::Array(rest)));
                };
                view! {
                    <li class="item">
                        <div class="stack">
                            <label class="visually-hidden" for=self.id(&below)>
                                {format!("Item {}", at + 1)}
                            </label>
                            {control}
                        </div>
                        <button
                            type="button"
                            class="button button-quiet button-icon"
                            aria-label=format!("Remove item {}", at + 1)
                            on:click=remove
                        >
                            <Icon symbol=Symbol::Close />
                        </button>
                    </li>
                }
            };
            (0..count.get()).map(row).collect::<Vec<_>>().into_any()
        });
        let add = move |_| {
            let mut all = untrack(list);
            all.push(first.clone());
            write(Some(Value::Array(all)));
        };
        view! {
            <div class="nested stack" id=id>
                <ul class="stack" hidden=move || count.get() == 0>
                    {rows}
                </ul>
                <div>
                    <button type="button" class="button button-small" on:click=add>
                        <Icon symbol=Symbol::Plus />
                        "Add"
                    </button>
                </div>
            </div>
        }
        .into_any()
    }

    /// Reading and writing one part of the value.
    fn part(
        self,
        pointer: &str,
    ) -> (
        impl Fn() -> Option<Value> + Copy + Send + Sync + use<>,
        impl Fn(Option<Value>) + Copy + Send + Sync + use<>,
    ) {
        let pointer = StoredValue::new(pointer.to_owned());
        let value = self.value;
        let read = move || value.with(|value| pointer.with_value(|pointer| value.pointer(pointer).cloned()));
        let write = move |part: Option<Value>| {
            value.update(|value| pointer.with_value(|pointer| put(value, pointer, part)));
        };
        (read, write)
    }

    /// A part of the schema with its local reference followed.
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

    fn id(self, pointer: &str) -> String {
        let path = pointer.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
        format!("{}{path}", self.prefix)
    }
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

/// The schemas of which a value fits one.
fn variants(part: &Value) -> Option<&Vec<Value>> {
    part.get("anyOf").or_else(|| part.get("oneOf"))?.as_array()
}

/// The only values there are, when they are named.
fn choices(part: &Value) -> Option<Vec<Value>> {
    if let Some(only) = part.get("const") {
        return Some(vec![only.clone()]);
    }
    match part["enum"].as_array() {
        Some(choices) => Some(choices.clone()),
        None => variants(part)?
            .iter()
            .map(|kind| kind.get("const").cloned())
            .collect(),
    }
}

/// Whether a value looks like one of a schema; enough to tell variants apart.
fn fits(value: &Value, part: &Value) -> bool {
    let has = |name: &Value| name.as_str().is_some_and(|name| value.get(name).is_some());
    let is_kind = match kind_of(part) {
        "string" => value.is_string(),
        "integer" | "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "array" => value.is_array(),
        "object" => {
            let named = part["properties"].as_object();
            value.is_object()
                && part["required"]
                    .as_array()
                    .is_none_or(|names| names.iter().all(has))
                && named.into_iter().flatten().all(|(name, part)| {
                    let given = value.get(name);
                    given.is_none_or(|given| choices(part).is_none_or(|all| all.contains(given)))
                })
        }
        _ => true,
    };
    is_kind && choices(part).is_none_or(|all| all.contains(value))
}

/// What a new item of a list is before anything is typed.
fn blank(part: &Value) -> Value {
    match kind_of(part) {
        "string" if choices(part).is_none() => Value::String(String::new()),
        "object" => Value::Object(Map::new()),
        _ => Value::Null,
    }
}

/// Whether a schema says that its value is not to be shown.
fn is_secret(part: &Value) -> bool {
    part["format"].as_str() == Some("password") || part["writeOnly"].as_bool() == Some(true)
}

/// Whether any part of a schema is secret.
pub(crate) fn has_secret(part: &Value) -> bool {
    is_secret(part)
        || match part {
            Value::Object(map) => map.values().any(has_secret),
            Value::Array(list) => list.iter().any(has_secret),
            _ => false,
        }
}

/// Puts a part where a pointer says, making objects on the way; `None` takes it away.
fn put(value: &mut Value, pointer: &str, part: Option<Value>) {
    let Some((above, last)) = pointer.rsplit_once('/') else {
        *value = part.unwrap_or_else(|| Value::Object(Map::new()));
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

    use super::{Entry, blank, choices, fits, has_secret, kind_of, put};

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
        put(&mut value, "", Some(json!({"whole": true})));
        assert_eq!(value, json!({"whole": true}));
        put(&mut value, "", None);
        assert_eq!(value, json!({}));
    }

    #[test]
    fn the_type_that_is_not_null_counts() {
        assert_eq!(kind_of(&json!({"type": ["null", "integer"]})), "integer");
        assert_eq!(kind_of(&json!({"properties": {}})), "object");
        assert_eq!(kind_of(&json!({})), "any");
    }

    #[test]
    fn what_is_typed_becomes_a_value_and_a_text_again() {
        for (entry, text, value) in [
            (Entry::Text, "12", json!("12")),
            (Entry::Number, "-1.5", json!(-1.5)),
            (Entry::Number, "a dozen", json!("a dozen")),
            (Entry::Names, "a, b", json!(["a", "b"])),
            (Entry::Json, "[\n  true\n]", json!([true])),
            (Entry::Json, "[tru", json!("[tru")),
        ] {
            assert_eq!(entry.read(text), Some(value.clone()), "{text}");
            assert_eq!(entry.write(&value), text, "{value}");
            assert_eq!(entry.read("  "), None);
        }
    }

    #[test]
    fn choices_are_found_in_all_their_forms() {
        assert_eq!(choices(&json!({"const": 1})), Some(vec![json!(1)]));
        assert_eq!(
            choices(&json!({"enum": ["a", null]})),
            Some(vec![json!("a"), json!(null)])
        );
        assert_eq!(
            choices(&json!({"oneOf": [{"const": "a", "title": "A"}, {"const": "b"}]})),
            Some(vec![json!("a"), json!("b")])
        );
        assert_eq!(
            choices(&json!({"anyOf": [{"const": "a"}, {"type": "null"}]})),
            None
        );
        assert_eq!(choices(&json!({"type": "string"})), None);
    }

    #[test]
    fn the_variant_of_a_value_is_found() {
        let circle =
            json!({"type": "object", "properties": {"kind": {"const": "circle"}}, "required": ["kind"]});
        let square = json!({"type": "object", "properties": {"kind": {"enum": ["square"]}, "side": {}}});
        for (value, schema, expected) in [
            (json!({"kind": "circle"}), &circle, true),
            (json!({"kind": "circle"}), &square, false),
            (json!({"kind": "square", "side": 1}), &square, true),
            (json!({}), &circle, false),
            (json!("x"), &circle, false),
            (json!(2), &json!({"type": "integer"}), true),
            (json!("2"), &json!({"type": "integer"}), false),
            (json!(null), &json!({"type": "null"}), true),
            (json!("b"), &json!({"type": "string", "enum": ["a"]}), false),
        ] {
            assert_eq!(fits(&value, schema), expected, "{value} in {schema}");
        }
    }

    #[test]
    fn new_items_begin_as_what_they_are_to_be() {
        assert_eq!(blank(&json!({"type": "string"})), json!(""));
        assert_eq!(blank(&json!({"properties": {"a": {}}})), json!({}));
        assert_eq!(blank(&json!({"type": "integer"})), json!(null));
        assert_eq!(blank(&json!({"type": "string", "enum": ["a"]})), json!(null));
    }

    #[test]
    fn secrets_are_found_at_any_depth() {
        assert!(has_secret(
            &json!({"properties": {"a": {"items": {"format": "password"}}}})
        ));
        assert!(has_secret(&json!({"$defs": {"a": {"writeOnly": true}}})));
        assert!(!has_secret(&json!({"properties": {"a": {"format": "uri"}}})));
    }
}
