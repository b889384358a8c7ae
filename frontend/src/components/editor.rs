//! A plain text editor for definitions: line numbers, and a way to jump to a fault.

use leptos::html;
use leptos::prelude::*;
use toolgate_api::{Diagnostic, Severity};

/// Lets others put the cursor into an editor.
#[derive(Clone, Copy)]
pub(crate) struct EditorHandle(NodeRef<html::Textarea>);

impl EditorHandle {
    /// For an editor that is being built.
    pub(crate) fn new() -> Self {
        Self(NodeRef::new())
    }

    /// Puts the cursor at a line and column, both from 1.
    pub(crate) fn jump(self, line: u32, column: u32) {
        let Some(field) = self.0.get_untracked() else {
            return;
        };
        let text = field.value();
        // The browser counts UTF-16 units.
        let before: usize = text
            .split_inclusive('\n')
            .take(line.saturating_sub(1) as usize)
            .map(|line| line.encode_utf16().count())
            .sum();
        let at = u32::try_from(before).unwrap_or(u32::MAX) + column.saturating_sub(1);
        // The field is on the page; a position behind its end is clamped.
        let _ = field.focus();
        let _ = field.set_selection_range(at, at);
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
) -> impl IntoView {
    let lines = Memo::new(move |_| value.with(|text| text.split('\n').count()));
    let gutter = NodeRef::<html::Div>::new();
    let numbers = move || (1..=lines.get()).map(|at| format!("{at}\n")).collect::<String>();
    view! {
        <div class="editor">
            <div class="editor-lines" aria-hidden="true" node_ref=gutter>
                {numbers}
            </div>
            <textarea
                aria-label=name
                spellcheck="false"
                autocapitalize="off"
                wrap="off"
                rows=rows
                node_ref=handle.0
                readonly=move || readonly.get()
                prop:value=move || value.get()
                on:input=move |event| value.set(event_target_value(&event))
                on:scroll=move |_| {
                    if let (Some(field), Some(gutter)) = (handle.0.get_untracked(), gutter.get_untracked()) {
                        gutter.set_scroll_top(field.scroll_top());
                    }
                }
            ></textarea>
        </div>
    }
}

/// Every fault with its place; the place leads there.
#[component]
pub(crate) fn Faults(
    /// The faults.
    faults: Vec<Diagnostic>,
    /// The editor with the text.
    handle: EditorHandle,
) -> impl IntoView {
    let items: Vec<_> = faults
        .into_iter()
        .map(|fault| {
            let place = fault.line.map(|line| {
                let column = fault.column.unwrap_or(1);
                view! {
                    <button type="button" class="fault-place" on:click=move |_| handle.jump(line, column)>
                        {format!("Line {line}, column {column}")}
                    </button>
                }
            });
            let pointer = fault.pointer.filter(|_| place.is_none()).map(|pointer| view! { <code>{pointer}</code> });
            view! {
                <li class="fault" class:fault-warning=fault.severity == Severity::Warning>
                    <span>{place}{pointer}</span>
                    <span>{fault.message} {fault.hint.map(|hint| view! { <span class="muted">" " {hint}</span> })}</span>
                </li>
            }
        })
        .collect();
    view! { <ul class="faults">{items}</ul> }
}
