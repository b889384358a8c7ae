//! An editor for definitions and other texts: a plain field at once, and CodeMirror in its place as soon as that is loaded.

mod faults;
mod handle;
mod names;

use leptos::html;
use leptos::prelude::*;
use leptos::task::spawn_local;
use serde_json::Value;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;

pub(crate) use self::faults::Faults;
pub(crate) use self::handle::EditorHandle;
use self::handle::Live;
pub(crate) use self::names::Names;
use crate::api::object;
use crate::language::found;
use crate::reactive::effect;
use crate::vendor::{EditorBundle, load_editor};

/// What a text is written in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Language {
    /// YAML, of which JSON is a part.
    #[default]
    Yaml,
    /// Markdown.
    Markdown,
}

impl Language {
    /// Its name in the bundle.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Yaml => "yaml",
            Self::Markdown => "markdown",
        }
    }
}

/// The editor.
#[component]
pub(crate) fn Editor(
    /// Its name.
    name: &'static str,
    /// The text.
    value: RwSignal<String>,
    /// For jumping.
    handle: EditorHandle,
    /// Height in lines.
    #[prop(default = 24)]
    rows: u32,
    /// Whether it only shows.
    #[prop(optional, into)]
    readonly: Signal<bool>,
    /// What the text is written in.
    #[prop(optional)]
    language: Language,
    /// The JSON Schema of what is written, for completion and explanations.
    #[prop(optional)]
    schema: Option<fn() -> Value>,
) -> impl IntoView {
    let host = NodeRef::<html::Div>::new();
    effect(move || {
        let Some(host) = host.get() else {
            return;
        };
        spawn_local(async move {
            // Without the bundle the plain field remains.
            let Ok(bundle) = load_editor().await else {
                return;
            };
            let Some(Some(field)) = handle.field.try_get_untracked() else {
                return;
            };
            // The page may be gone; another editor may have the handle by now.
            if !host.is_connected() {
                return;
            }
            let on_change = Closure::<dyn FnMut(String)>::new(move |text: String| {
                value.try_set(text);
            });
            let options = object(vec![
                ("label", name.into()),
                ("language", language.name().into()),
                ("rows", rows.into()),
                ("schema", schema.map(|make| explained(make())).unwrap_or_default()),
            ]);
            let bundle = bundle.unchecked_into::<EditorBundle>();
            let view = bundle.mount(&host, &field, &options.to_string(), &on_change);
            let live = Live {
                view,
                _on_change: on_change,
            };
            handle.live.try_set(Some(live));
        });
    });
    on_cleanup(move || {
        handle.with_view(crate::vendor::Mounted::destroy);
        handle.live.try_set(None);
    });
    effect(move || {
        if handle.is_live() {
            let text = value.get();
            handle.with_view(|view| view.write(&text));
        }
    });
    effect(move || {
        if handle.is_live() {
            let readonly = readonly.get();
            handle.with_view(|view| view.permit(readonly));
        }
    });
    effect(move || {
        if handle.is_live() {
            let marks = handle.marks();
            handle.with_view(|view| view.mark(&marks));
        }
    });
    let lines = Memo::new(move |_| value.with(|text| text.split('\n').count()));
    let gutter = NodeRef::<html::Div>::new();
    let numbers = move || {
        if handle.is_live() {
            return String::new();
        }
        (1..=lines.get()).map(|at| format!("{at}\n")).collect::<String>()
    };
    view! {
        <div class="editor">
            <div class="editor-lines" aria-hidden="true" node_ref=gutter hidden=move || handle.is_live()>
                {numbers}
            </div>
            // It stays as what the editor began from, and has the text for what reads fields.
            <textarea
                aria-label=move || (!handle.is_live()).then_some(name)
                hidden=move || handle.is_live()
                spellcheck="false"
                autocapitalize="off"
                wrap="off"
                rows=rows
                node_ref=handle.field
                readonly=move || readonly.get()
                prop:value=move || value.get()
                on:input=move |event| value.set(event_target_value(&event))
                on:scroll=move |_| {
                    if let (Some(field), Some(gutter)) = (handle.field.get_untracked(), gutter.get_untracked()) {
                        gutter.set_scroll_top(field.scroll_top());
                    }
                }
            ></textarea>
            <div class="editor-view" node_ref=host></div>
        </div>
    }
}

/// A schema with its explanations in the reader's language.
fn explained(mut schema: Value) -> Value {
    translate(&mut schema);
    schema
}

fn translate(part: &mut Value) {
    match part {
        Value::Object(members) => {
            for (key, value) in members {
                match value {
                    Value::String(text) if key == "description" => {
                        if let Some(translated) = found(text) {
                            translated.clone_into(text);
                        }
                    }
                    value => translate(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(translate),
        _ => {}
    }
}
