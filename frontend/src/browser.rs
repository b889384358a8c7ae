//! Small questions to the browser that more than one module asks.

use std::cell::RefCell;

use chrono::{DateTime, Utc};
use js_sys::{Array, Function, Object, Reflect};
use leptos::prelude::{document, window};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{HtmlElement, Storage};

/// The element with an id.
pub(crate) fn element(id: &str) -> Option<HtmlElement> {
    document().get_element_by_id(id)?.dyn_into().ok()
}

/// Scrolls to what the address names after `#`, and puts the cursor there if it is a field.
pub(crate) fn show_anchor() {
    let hash = window().location().hash().unwrap_or_default();
    if let Some(found) = element(hash.trim_start_matches('#')) {
        found.scroll_into_view();
        // What takes no focus stays without it.
        let _ = found.focus();
    }
}

/// Scrolls to the element with an id.
pub(crate) fn show(id: &str) {
    if let Some(found) = element(id) {
        found.scroll_into_view();
    }
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

/// Where this browser keeps the zone, for what is shown before the server answers.
const ZONE_KEY: &str = "toolgate.zone";

thread_local! {
    /// The time zone that the user prefers; empty: UTC.
    static ZONE: RefCell<String> = RefCell::new(
        storage().and_then(|store| store.get_item(ZONE_KEY).ok().flatten()).unwrap_or_default()
    );
}

/// Shows points in time in a zone of the IANA database from now on; empty: in UTC.
pub(crate) fn set_zone(name: &str) {
    ZONE.with_borrow_mut(|zone| name.clone_into(zone));
    if let Some(store) = storage() {
        // A blocked store keeps nothing.
        let _ = store.set_item(ZONE_KEY, name);
    }
}

/// The zone of this browser.
pub(crate) fn own_zone() -> String {
    let options = js_sys::Intl::DateTimeFormat::new(&Array::new(), &Object::new()).resolved_options();
    let zone = Reflect::get(&options, &"timeZone".into()).ok();
    zone.and_then(|zone| zone.as_string()).unwrap_or_default()
}

/// The zones that this browser knows.
pub(crate) fn zones() -> Vec<String> {
    let list = Reflect::get(&js_sys::global(), &"Intl".into())
        .and_then(|intl| Reflect::get(&intl, &"supportedValuesOf".into()))
        .ok()
        .and_then(|list| list.dyn_into::<Function>().ok())
        .and_then(|list| list.call1(&JsValue::UNDEFINED, &"timeZone".into()).ok())
        .map(|zones| Array::from(&zones));
    let names = list.unwrap_or_default();
    names.iter().filter_map(|zone| zone.as_string()).collect()
}

/// A point in time for people, for example `2026-11-21 18:00:00 UTC`, in the zone that the user prefers.
pub(crate) fn stamp(at: DateTime<Utc>) -> String {
    let zone = ZONE.with_borrow(Clone::clone);
    let local = (!zone.is_empty()).then(|| stamp_in(at, &zone));
    local.flatten().unwrap_or_else(|| stamp_of(&iso(at)))
}

/// The same in a zone; nothing when the browser does not know it. Swedish writes dates as ISO 8601 does.
fn stamp_in(at: DateTime<Utc>, zone: &str) -> Option<String> {
    let options = Object::new();
    for (name, value) in [("timeZone", zone), ("dateStyle", "short"), ("timeStyle", "long")] {
        Reflect::set(&options, &name.into(), &value.into()).ok()?;
    }
    #[expect(
        clippy::cast_precision_loss,
        reason = "milliseconds are exact up to the year 287396"
    )]
    let date = js_sys::Date::new(&(at.timestamp_millis() as f64).into());
    let write = Reflect::get(&date, &"toLocaleString".into()).ok()?;
    let write = write.dyn_into::<Function>().ok()?;
    write.call2(&date, &"sv-SE".into(), &options).ok()?.as_string()
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
