//! The record as it is written: server-sent events into a list that can be held still.

use std::sync::Arc;

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
    pub(crate) records: RwSignal<Vec<Arc<AuditRecord>>>,
    /// Whether it is connected.
    pub(crate) connected: RwSignal<bool>,
    /// Whether what came stays as it is; what comes meanwhile waits.
    pub(crate) paused: RwSignal<bool>,
    /// How many records wait that were not seen yet.
    pub(crate) news: RwSignal<usize>,
    /// What has come since the list was changed last, oldest first.
    waiting: StoredValue<Vec<AuditRecord>>,
    /// Whether the next frame changes the list.
    due: StoredValue<bool>,
}

impl Tail {
    /// Connects to the address whenever `on` is true, and whenever it changes; the browser connects again by itself and
    /// resumes where it was.
    pub(crate) fn new(on: Signal<bool>, address: Memo<String>) -> Self {
        let tail = Self {
            records: RwSignal::new(Vec::new()),
            connected: RwSignal::new(false),
            paused: RwSignal::new(false),
            news: RwSignal::new(0),
            waiting: StoredValue::new(Vec::new()),
            due: StoredValue::new(false),
        };
        effect(move || {
            let address = address.get();
            tail.waiting.set_value(Vec::new());
            tail.news.set(0);
            tail.paused.set(false);
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

    /// Holds the list still.
    pub(crate) fn pause(self) {
        self.paused.set(true);
    }

    /// Shows what has come meanwhile, and goes on.
    pub(crate) fn resume(self) {
        self.paused.set(false);
        self.show();
    }

    /// Many records may come within one frame; the list changes once.
    fn take(self, record: AuditRecord) {
        // The page may be gone.
        let Some(paused) = self.paused.try_get_untracked() else {
            return;
        };
        if paused {
            let is_known = self
                .waiting
                .with_value(|waiting| waiting.iter().any(|known| known.id == record.id))
                || self.records.with_untracked(|records| has(records, &record));
            if !is_known {
                self.news.update(|news| *news += 1);
            }
        }
        self.waiting.update_value(|waiting| {
            // Those in the list are pushed out of it by then.
            if waiting.len() == 2 * KEPT {
                waiting.remove(0);
            }
            waiting.push(record);
        });
        if !paused && !self.due.get_value() {
            self.due.set_value(true);
            request_animation_frame(move || {
                if self.due.try_set_value(false).is_none() && !self.paused.get_untracked() {
                    self.show();
                }
            });
        }
    }

    fn show(self) {
        let waiting = self.waiting.try_update_value(std::mem::take).unwrap_or_default();
        self.news.set(0);
        if !waiting.is_empty() {
            self.records.update(|records| merge(records, waiting));
        }
    }
}

fn has(records: &[Arc<AuditRecord>], record: &AuditRecord) -> bool {
    records.iter().any(|known| known.id == record.id)
}

/// Puts what came on top. A record comes twice: when it is opened, and when it is completed; the second replaces the first.
fn merge(records: &mut Vec<Arc<AuditRecord>>, came: Vec<AuditRecord>) {
    for record in came {
        match records.iter_mut().find(|known| known.id == record.id) {
            Some(known) => *known = Arc::new(record),
            None => records.insert(0, Arc::new(record)),
        }
    }
    records.truncate(KEPT);
}
