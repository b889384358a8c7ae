//! Small questions to the browser that more than one module asks.

use chrono::{DateTime, Utc};
use leptos::prelude::{document, window};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use wasm_bindgen::JsCast;
use web_sys::{HtmlElement, Storage};

/// The element with an id.
pub(crate) fn element(id: &str) -> Option<HtmlElement> {
    document().get_element_by_id(id)?.dyn_into().ok()
}

/// Scheme, host and port of this page, as in `https://toolgate.example`.
pub(crate) fn origin() -> String {
    window().location().origin().unwrap_or_default()
}

/// Leaves the application for another page of the server.
pub(crate) fn leave_to(path: &str) {
    // The browser refuses only malformed addresses, and ours are paths.
    let _ = window().location().assign(path);
}

/// What `encodeURIComponent` leaves as it is, besides letters and digits.
const COMPONENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'!')
    .remove(b'~')
    .remove(b'*')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')');

/// A value that makes one path segment or query value out of any text.
pub(crate) fn encode(text: &str) -> String {
    utf8_percent_encode(text, COMPONENT).to_string()
}

/// The text of a path segment; itself when it is not well formed.
pub(crate) fn decode(text: &str) -> String {
    js_sys::decode_uri_component(text).map_or_else(|_| text.to_owned(), String::from)
}

/// A text in small letters. The browser knows those beyond ASCII: the tables of all letters are heavy.
pub(crate) fn lower(text: &str) -> String {
    if text.is_ascii() {
        text.to_ascii_lowercase()
    } else {
        js_sys::JsString::from(text).to_lower_case().into()
    }
}

/// The store for preferences. It may be blocked, and never holds anything secret.
pub(crate) fn storage() -> Option<Storage> {
    window().local_storage().ok().flatten()
}

/// What this tab remembers until it is closed: drafts and last inputs. Never anything secret.
pub(crate) fn tab_storage() -> Option<Storage> {
    window().session_storage().ok().flatten()
}

/// What this tab remembers under a key.
pub(crate) fn recall(key: &str) -> Option<String> {
    tab_storage()?.get_item(key).ok().flatten()
}

/// Remembers a text in this tab, or forgets it when there is none. A full or blocked store remembers nothing.
pub(crate) fn remember(key: &str, text: Option<&str>) {
    if let Some(store) = tab_storage() {
        let _ = match text {
            Some(text) => store.set_item(key, text),
            None => store.remove_item(key),
        };
    }
}

/// A point in time in RFC 3339, UTC. The browser writes it: it has the code for that already.
pub(crate) fn iso(at: DateTime<Utc>) -> String {
    #[expect(
        clippy::cast_precision_loss,
        reason = "milliseconds are exact up to the year 287396"
    )]
    let date = js_sys::Date::new(&(at.timestamp_millis() as f64).into());
    date.to_iso_string().into()
}

/// A point in time for people, UTC, for example `2026-11-21 18:00:00 UTC`.
pub(crate) fn stamp(at: DateTime<Utc>) -> String {
    stamp_of(&iso(at))
}

/// The same of a point in time as [`iso`] writes it.
pub(crate) fn stamp_of(iso: &str) -> String {
    iso.chars()
        .take(19)
        .map(|c| if c == 'T' { ' ' } else { c })
        .chain(" UTC".chars())
        .collect()
}

/// Milliseconds since 1970.
pub(crate) fn now_ms() -> i64 {
    // Exact up to the year 287396.
    #[expect(clippy::cast_possible_truncation, reason = "the clock is far below 2^53")]
    let now = js_sys::Date::now() as i64;
    now
}
