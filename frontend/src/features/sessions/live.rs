//! Says when something happened in sessions, from the stream of the record.

use std::time::Duration;

use leptos::prelude::*;
use toolgate_api::audit::{AuditAction, AuditRecord};

use crate::components::{Badge, Tone};
use crate::features::records::Tail;
use crate::language::t;
use crate::reactive::{effect, part};

/// News within this time are reported together.
const REST: Duration = Duration::from_millis(500);

/// The stream of the record, for a page that follows it.
#[derive(Clone, Copy)]
pub(super) struct Live {
    address: Memo<String>,
    tail: Tail,
}

/// Follows the record at an address; none for an empty one. `on_news` is called when a call or a session was recorded, and
/// once the stream is connected, because something may have happened before.
pub(super) fn live(address: Memo<String>, on_news: impl Fn() + Send + Sync + 'static) -> Live {
    let on_news = Callback::new(move |()| on_news());
    let tail = Tail::new(Signal::stored(true), address);
    let waits = StoredValue::new(false);
    effect(move || {
        let connected = tail.connected.get();
        // Asking what a session can call is recorded too, and this page asks.
        let is_news =
            |record: &AuditRecord| matches!(record.action, AuditAction::Call | AuditAction::Session);
        let news = tail
            .records
            .with(|records| records.iter().any(|record| is_news(record)));
        if !(news || connected) || waits.get_value() {
            return;
        }
        waits.set_value(true);
        set_timeout(
            move || {
                // The page may be gone.
                if waits.try_set_value(false).is_none() {
                    tail.records.update_untracked(Vec::clear);
                    on_news.run(());
                }
            },
            REST,
        );
    });
    Live { address, tail }
}

impl Live {
    /// Whether the page is up to date by itself.
    pub(super) fn badge(self) -> AnyView {
        part(move || {
            if self.address.with(String::is_empty) {
                ().into_any()
            } else if self.tail.connected.get() {
                view! { <Badge tone=Tone::Good text=t("live") /> }.into_any()
            } else {
                view! { <Badge tone=Tone::Note text=t("connecting") /> }.into_any()
            }
        })
    }
}
