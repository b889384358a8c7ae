//! The record as it is written: server-sent events into a list.

use leptos::prelude::*;
use toolgate_api::audit::AuditRecord;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{Event, EventSource, MessageEvent};

use crate::api::read_json;
use crate::reactive::effect;

/// Most records kept while following.
const KEPT: usize = 200;

/// Follows the record while it is on.
#[derive(Clone, Copy)]
pub(crate) struct Tail {
    /// What came, newest first.
    pub(crate) records: RwSignal<Vec<AuditRecord>>,
    /// Whether the connection stands.
    pub(crate) connected: RwSignal<bool>,
}

impl Tail {
    /// Connects to the address whenever `on` is true, and whenever it changes; the browser connects again by itself and
    /// resumes where it was.
    pub(crate) fn new(on: Signal<bool>, address: Memo<String>) -> Self {
        let tail = Self {
            records: RwSignal::new(Vec::new()),
            connected: RwSignal::new(false),
        };
        effect(move || {
            let address = address.get();
            tail.records.set(Vec::new());
            tail.connected.set(false);
            if !on.get() || address.is_empty() {
                return;
            }
            let Ok(source) = EventSource::new(&address) else {
                return;
            };
            let on_record = Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| {
                let text = event.data().as_string().unwrap_or_default();
                if let Ok(record) = read_json::<AuditRecord>(&text) {
                    tail.take(record);
                }
            });
            let on_state = Closure::<dyn FnMut(Event)>::new(move |event: Event| {
                tail.connected.try_set(event.type_() == "open");
            });
            // Listening fails only for names that are not texts.
            let _ = source.add_event_listener_with_callback("record", on_record.as_ref().unchecked_ref());
            source.set_onopen(Some(on_state.as_ref().unchecked_ref()));
            source.set_onerror(Some(on_state.as_ref().unchecked_ref()));
            let held = StoredValue::new_local(Some((source, on_record, on_state)));
            on_cleanup(move || {
                if let Some(Some((source, ..))) = held.try_update_value(Option::take) {
                    source.close();
                }
            });
        });
        tail
    }

    /// A record comes twice: when it is opened, and when it is completed.
    fn take(self, record: AuditRecord) {
        self.records.try_update(
            |records| match records.iter_mut().find(|known| known.id == record.id) {
                Some(known) => *known = record,
                None => {
                    records.insert(0, record);
                    records.truncate(KEPT);
                }
            },
        );
    }
}
