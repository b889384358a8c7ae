//! Files from the disk into one text.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use leptos::task::spawn_local;
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::JsFuture;
use web_sys::{File, FileList};

use crate::components::{Icon, Symbol, Toasts};

/// More than a server takes in one upload.
const LARGEST: f64 = 1024.0 * 1024.0;

/// A place to drop files on, and a button that opens the chooser.
#[component]
pub(super) fn FileDrop(
    /// Gets the content of all files as one text of several YAML documents.
    #[prop(into)]
    on_text: Callback<String>,
) -> impl IntoView {
    let over = RwSignal::new(false);
    let input = NodeRef::<html::Input>::new();
    let toasts = Toasts::get();
    let take = move |files: Option<FileList>| {
        let files: Vec<File> = files
            .iter()
            .flat_map(|files| (0..files.length()).filter_map(|at| files.get(at)))
            .collect();
        if files.is_empty() {
            return;
        }
        if files.iter().map(|file| file.size()).sum::<f64>() > LARGEST {
            toasts.refused(
                "These files are larger than one upload may be (1 MiB together). Upload them in parts.",
            );
            return;
        }
        spawn_local(async move {
            let mut text = String::new();
            for file in files {
                let read = JsFuture::from(file.text())
                    .await
                    .ok()
                    .and_then(|read| read.as_string());
                let Some(read) = read else {
                    toasts.refused(format!("{} could not be read.", file.name()));
                    return;
                };
                if !text.is_empty() {
                    text.push_str("---\n");
                }
                text.push_str(&read);
                if !text.ends_with('\n') {
                    text.push('\n');
                }
            }
            on_text.run(text);
        });
    };
    let on_drop = move |event: ev::DragEvent| {
        event.prevent_default();
        over.set(false);
        take(event.data_transfer().and_then(|data| data.files()));
    };
    view! {
        <div
            class="drop"
            class:drop-over=move || over.get()
            on:dragover=move |event: ev::DragEvent| {
                event.prevent_default();
                over.set(true);
            }
            on:dragleave=move |_| over.set(false)
            on:drop=on_drop
        >
            <span class="empty-mark">
                <Icon symbol=Symbol::Upload />
            </span>
            <p>"Drop YAML or JSON files here, or "</p>
            <label class="button">
                "Choose files"
                <input
                    class="visually-hidden"
                    type="file"
                    multiple
                    accept=".yaml,.yml,.json"
                    node_ref=input
                    on:change=move |event| {
                        let field = event.target().and_then(|target| target.dyn_into::<web_sys::HtmlInputElement>().ok());
                        if let Some(field) = field {
                            take(field.files());
                            // The same file may be chosen again.
                            field.set_value("");
                        }
                    }
                />
            </label>
        </div>
    }
}
