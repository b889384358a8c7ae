//! A form made from a JSON Schema (2020-12). What it cannot draw can be typed as JSON.

mod entry;
mod sample;
mod schema;

use leptos::html;
use leptos::prelude::*;
use serde_json::{Map, Value};

use self::entry::{Entry, put};
pub(crate) use self::sample::{filled, sample};
pub(crate) use self::schema::has_secret;
use self::schema::{blank, choices, fits, in_language, is_secret, kind_of, variants};
use super::{Icon, Symbol};
use crate::language::{t, tf};
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

impl SchemaForm {
    /// A form that begins with a value.
    pub(crate) fn new(schema: Value, value: Value, prefix: &'static str) -> Self {
        Self {
            value: RwSignal::new(value),
            schema: StoredValue::new(schema),
            prefix,
        }
    }

    /// A form with other controls of the same value.
    pub(crate) fn over(self, schema: Value) -> Self {
        Self {
            schema: StoredValue::new(schema),
            ..self
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
            return view! { <p class="muted">{t("This tool takes no arguments.")}</p> }.into_any();
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
        let help = part["description"].as_str().map(in_language);
        let standard = part.get("default").map(|value| tf!("Default: {value}", value));
        let control = self.control(&part, pointer, depth);
        view! {
            <div class="field">
                <label for=id.clone()>
                    <span class="mono">{name.to_owned()}</span>
                    {required.then(|| view! { <span class="muted">{t(" (required)")}</span> })}
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

    /// A field to type into. Its text is replaced only when it no longer means the value: what is typed stays as
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
                    {t("(not given)")}
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
                let text = kind["title"]
                    .as_str()
                    .map_or_else(|| kind_of(kind).to_owned(), in_language);
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
                    aria-label=t("Kind of value")
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
                                {tf!("Item {number}", number = at + 1)}
                            </label>
                            {control}
                        </div>
                        <button
                            type="button"
                            class="button button-quiet button-icon"
                            aria-label=tf!("Remove item {number}", number = at + 1)
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
                        {t("Add")}
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
