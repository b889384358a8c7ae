//! Names that an editor completes values with, beside what its schema lists.

use serde_json::Value;

use super::super::choices::Choices;
use super::handle::EditorHandle;
use crate::api::object;
use crate::reactive::effect;

/// Lists of names, each with the key whose values it completes; `secret` is for what follows `${secret:`.
pub(crate) struct Names(pub(crate) Vec<(&'static str, Choices)>);

impl Names {
    /// Offers them in an editor; they are read when it is there.
    pub(crate) fn offer_in(self, handle: EditorHandle) {
        effect(move || {
            if !handle.is_live() {
                return;
            }
            let lists = self.0.iter().map(|(key, choices)| {
                choices.read();
                (*key, Value::from(choices.values()))
            });
            let names = object(lists.collect()).to_string();
            handle.with_view(|view| view.offer(&names));
        });
    }
}
