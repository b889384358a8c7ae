//! What is picked in the state machine: the current state, and perhaps an arrow. Both are in the address.

use leptos::prelude::*;
use toolgate_api::states::{GraphTransition, StateGraph};

use crate::browser::encode;
use crate::reactive::text_memo;
use crate::url::{Navigator, UrlParam};

/// The state and the arrow.
#[derive(Clone, Copy)]
pub(super) struct Picked {
    /// The current state; the start at first.
    pub(super) here: Memo<String>,
    /// The arrow as [`way_of`] names it; empty when none is picked.
    pub(super) way: Memo<String>,
    navigator: Navigator,
}

impl Picked {
    /// Of the page that is being built.
    pub(super) fn new(machine: Memo<Option<StateGraph>>) -> Self {
        let [at, way] = ["at", "way"].map(UrlParam::new);
        Self {
            here: text_memo(move || match at.get() {
                name if name.is_empty() => machine
                    .with(|machine| machine.as_ref().map(|machine| machine.start.clone()))
                    .unwrap_or_default(),
                name => name,
            }),
            way: way.signal(),
            navigator: Navigator::new(),
        }
    }

    /// Goes to a state.
    pub(super) fn state(self, name: &str) {
        self.navigator.set(&[("at", name), ("way", "")], true);
    }

    /// Picks an arrow.
    pub(super) fn arrow(self, way: &str) {
        self.navigator.set(&[("way", way)], true);
    }
}

/// A name of an arrow that no other has.
pub(super) fn way_of(step: &GraphTransition) -> String {
    let from = step.from.as_deref().map(encode);
    format!("{}>{}", from.as_deref().unwrap_or("*"), encode(&step.to))
}
