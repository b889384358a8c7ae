//! Files from the disk into one text.

use leptos::ev;
use leptos::prelude::*;
use leptos::task::spawn_local;
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::JsFuture;
use web_sys::{DataTransfer, File, FileList, FileSystemDirectoryEntry, FileSystemEntry, FileSystemFileEntry};

use crate::browser::lower;
use crate::components::{Icon, Symbol, Toasts};
use crate::language::{t, tf};

/// MiB that a server takes in one upload of definitions.
const LARGEST: u32 = 1;
/// Bytes of a MiB.
const MIB: f64 = 1024.0 * 1024.0;
/// More files than a folder of definitions has.
const MOST: usize = 1000;

/// A place to drop files and folders on, and buttons that open the chooser.
#[component]
pub(crate) fn FileDrop(
    /// What can be dropped.
    #[prop(default = t("Drop YAML or JSON files here, or a folder with them"))]
    words: &'static str,
    /// MiB that all of it may have.
    #[prop(default = LARGEST)]
    largest: u32,
    /// Whether it is one file and no folder.
    #[prop(optional)]
    single: bool,
    /// Gets the content of all files as one text of several YAML documents.
    #[prop(into)]
    on_text: Callback<String>,
) -> impl IntoView {
    let over = RwSignal::new(false);
    let toasts = Toasts::get();
    let take = move |files: Vec<File>| {
        spawn_local(async move {
            match joined(files, largest).await {
                Ok(text) => {
                    on_text.try_run(text);
                }
                Err(reason) => toasts.refused(reason),
            }
        });
    };
    let on_drop = move |event: ev::DragEvent| {
        event.prevent_default();
        over.set(false);
        if let Some(data) = event.data_transfer() {
            // The browser empties the data when this handler returns; the entries stay.
            let (files, entries) = (listed(data.files()), entries(&data));
            spawn_local(async move {
                let found = if entries.is_empty() {
                    files
                } else {
                    walk(entries).await
                };
                take(found.into_iter().filter(is_definition).collect());
            });
        }
    };
    let chooser = move |text: &'static str, is_folder: bool| {
        view! {
            <label class="button">
                {text}
                <input
                    class="visually-hidden"
                    type="file"
                    multiple=!single
                    prop:webkitdirectory=is_folder
                    accept=".yaml,.yml,.json"
                    on:change=move |event| {
                        let field = event.target().and_then(|target| target.dyn_into::<web_sys::HtmlInputElement>().ok());
                        if let Some(field) = field {
                            let files = listed(field.files());
                            take(files.into_iter().filter(|file| !is_folder || is_definition(file)).collect());
                            // The same file may be chosen again.
                            field.set_value("");
                        }
                    }
                />
            </label>
        }
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
            <p>{words}</p>
            <div class="row">
                {chooser(if single { t("Choose a file") } else { t("Choose files") }, false)}
                {(!single).then(|| chooser(t("Choose a folder"), true))}
            </div>
        </div>
    }
}

fn listed(files: Option<FileList>) -> Vec<File> {
    files
        .iter()
        .flat_map(|files| (0..files.length()).filter_map(|at| files.get(at)))
        .collect()
}

/// Whether a file of a folder is a definition; others are ignored.
fn is_definition(file: &File) -> bool {
    let name = lower(&file.name());
    [".yaml", ".yml", ".json"]
        .iter()
        .any(|ending| name.ends_with(ending))
}

fn entries(data: &DataTransfer) -> Vec<FileSystemEntry> {
    let items = data.items();
    (0..items.length())
        .filter_map(|at| items.get(at)?.webkit_get_as_entry().ok().flatten())
        .collect()
}

/// The files of all folders, in the order of their paths. What cannot be read is left out; the report shows what is there.
async fn walk(mut waiting: Vec<FileSystemEntry>) -> Vec<File> {
    let mut found: Vec<(String, File)> = Vec::new();
    while let Some(entry) = waiting.pop() {
        if found.len() + waiting.len() > MOST {
            break;
        }
        if entry.is_directory() {
            let reader = entry.unchecked_into::<FileSystemDirectoryEntry>().create_reader();
            // A reader gives a folder in parts; the last one is empty.
            loop {
                let part = asked(|done| reader.read_entries_with_callback(done).is_ok()).await;
                let part = part.map(|part| js_sys::Array::from(&part)).unwrap_or_default();
                if part.length() == 0 {
                    break;
                }
                waiting.extend(part.iter().map(JsCast::unchecked_into::<FileSystemEntry>));
            }
        } else {
            let path = entry.full_path();
            let entry = entry.unchecked_into::<FileSystemFileEntry>();
            let file = asked(|done| {
                entry.file_with_callback(done);
                true
            });
            if let Some(file) = file.await {
                // In the order of their paths; there are few, and sorting is heavier code.
                let at = found.partition_point(|(other, _)| *other <= path);
                found.insert(at, (path, file.unchecked_into()));
            }
        }
    }
    found.into_iter().map(|(_, file)| file).collect()
}

/// Waits for what a function of the browser gives to its callback.
async fn asked(start: impl FnOnce(&js_sys::Function) -> bool) -> Option<wasm_bindgen::JsValue> {
    let mut start = Some(start);
    let promise = js_sys::Promise::new(&mut |resolve, reject| {
        if let Some(start) = start.take()
            && !start(&resolve)
        {
            // A rejected promise is read as nothing below.
            let _ = reject.call0(&wasm_bindgen::JsValue::NULL);
        }
    });
    JsFuture::from(promise).await.ok()
}

/// The content of all files as one text; of several, each begins with a comment that names it.
async fn joined(files: Vec<File>, largest: u32) -> Result<String, String> {
    if files.is_empty() {
        return Err(t("There is no YAML or JSON file in what was given.").to_owned());
    }
    if files.iter().map(|file| file.size()).sum::<f64>() > f64::from(largest) * MIB {
        return Err(tf!(
            "This is larger than may be sent at once ({largest} MiB together).",
            largest
        ));
    }
    let several = files.len() > 1;
    let mut text = String::new();
    for file in files {
        let read = JsFuture::from(file.text()).await;
        let Some(read) = read.ok().and_then(|read| read.as_string()) else {
            return Err(tf!("{name} could not be read.", name = file.name()));
        };
        if several {
            let end = if text.is_empty() { "" } else { "---\n" };
            text = format!("{text}{end}# {}\n", file.name());
        }
        // A file may begin the first document by itself.
        text.push_str(read.strip_prefix("---\n").unwrap_or(&read));
        if !text.ends_with('\n') {
            text.push('\n');
        }
    }
    Ok(text)
}
