//! Keys that work on every page, and the sheet that lists them.

use leptos::ev;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;

use crate::components::Dialog;
use crate::language::{marked, t};

/// What can be pressed, and what it does.
const KEYS: [(&str, &str); 7] = [
    (
        marked("Ctrl K"),
        marked("Search for anything, or go anywhere (⌘ K on a Mac)"),
    ),
    ("/", marked("Put the cursor into the page's search box")),
    ("j  k", marked("Next and previous row of a list")),
    (marked("Enter"), marked("Open the row")),
    ("x", marked("Select the row, in the list of tools")),
    (marked("Esc"), marked("Close what is open")),
    ("?", marked("Show this list")),
];

/// Listens to the keyboard.
#[component]
pub(super) fn Shortcuts(
    /// Whether the palette is open.
    palette: RwSignal<bool>,
) -> impl IntoView {
    let help = RwSignal::new(false);
    let listener = window_event_listener(ev::keydown, move |event| {
        if (event.ctrl_key() || event.meta_key()) && event.key().eq_ignore_ascii_case("k") {
            event.prevent_default();
            palette.set(true);
            return;
        }
        // Single characters belong to the field that has the cursor, and to open dialogs.
        if event.ctrl_key() || event.meta_key() || event.alt_key() || is_typing() || is_modal() {
            return;
        }
        match event.key().as_str() {
            "/" if focus_search() => event.prevent_default(),
            "?" => help.set(true),
            "j" => step(1),
            "k" => step(-1),
            _ => {}
        }
    });
    on_cleanup(move || listener.remove());
    let rows: Vec<_> = KEYS
        .into_iter()
        .map(|(keys, text)| {
            let keys: Vec<_> = t(keys)
                .split(' ')
                .filter(|key| !key.is_empty())
                .map(|key| view! { <kbd>{key}</kbd> })
                .collect();
            view! {
                <div class="fact">
                    <dt>{keys}</dt>
                    <dd>{t(text)}</dd>
                </div>
            }
            .into_any()
        })
        .collect();
    let rows = StoredValue::new_local(Some(rows));
    view! {
        <Dialog open=help title=t("Keyboard")>
            <dl class="dialog-body facts">{rows.try_update_value(Option::take).flatten()}</dl>
        </Dialog>
    }
}

fn is_typing() -> bool {
    document().active_element().is_some_and(|element| {
        matches!(element.tag_name().as_str(), "INPUT" | "TEXTAREA" | "SELECT")
            || element.has_attribute("contenteditable")
    })
}

fn is_modal() -> bool {
    matches!(
        document().query_selector("dialog[open], :popover-open"),
        Ok(Some(_))
    )
}

fn focus(selector: &str) -> bool {
    let found = document().query_selector(selector).ok().flatten();
    let Some(element) = found.and_then(|element| element.dyn_into::<HtmlElement>().ok()) else {
        return false;
    };
    element.focus().is_ok()
}

fn focus_search() -> bool {
    focus("[data-search]")
}

/// Moves the focus among the links that open rows.
fn step(by: i32) {
    let Ok(rows) = document().query_selector_all("[data-row]") else {
        return;
    };
    let active = document().active_element();
    let count = i32::try_from(rows.length()).unwrap_or(i32::MAX);
    let at = (0..count).find(|at| {
        let node = u32::try_from(*at).ok().and_then(|at| rows.get(at));
        node.is_some_and(|node| {
            active
                .as_ref()
                .is_some_and(|active| node.is_same_node(Some(active)))
        })
    });
    let next = match at {
        Some(at) => (at + by).clamp(0, count - 1),
        None => 0,
    };
    let node = u32::try_from(next).ok().and_then(|at| rows.get(at));
    if let Some(element) = node.and_then(|node| node.dyn_into::<HtmlElement>().ok()) {
        // A row on the page takes the focus.
        let _ = element.focus();
    }
}
