//! What others do with an editor: put the cursor somewhere, mark faults, correct them.

use leptos::html;
use leptos::prelude::*;
use serde_json::{Value, json};
use toolgate_api::{Diagnostic, Severity};
use wasm_bindgen::closure::Closure;

use crate::api::object;
use crate::vendor::Mounted;

/// The editor of the bundle, with the function that it calls.
pub(super) struct Live {
    pub(super) view: Mounted,
    pub(super) _on_change: Closure<dyn FnMut(String)>,
}

/// Lets others put the cursor into an editor.
#[derive(Clone, Copy)]
pub(crate) struct EditorHandle {
    /// The plain field, which is there until the bundle is.
    pub(super) field: NodeRef<html::Textarea>,
    /// The editor of the bundle.
    pub(super) live: RwSignal<Option<Live>, LocalStorage>,
    /// The lists of faults that are shown beside it.
    faults: RwSignal<Vec<(u32, Vec<Diagnostic>)>>,
}

impl EditorHandle {
    /// For an editor that is being built.
    pub(crate) fn new() -> Self {
        Self {
            field: NodeRef::new(),
            live: RwSignal::new_local(None),
            faults: RwSignal::new(Vec::new()),
        }
    }

    /// Puts the cursor at a line and column, both from 1.
    pub(crate) fn jump(self, line: u32, column: u32) {
        if self.with_view(|view| view.jump(line, column)) {
            return;
        }
        let Some(field) = self.field.get_untracked() else {
            return;
        };
        let text = field.value();
        // The browser counts UTF-16 units.
        let before: usize = text
            .split_inclusive('\n')
            .take(line.saturating_sub(1) as usize)
            .map(|line| line.encode_utf16().count())
            .sum();
        let at = u32::try_from(before).unwrap_or(u32::MAX) + column.saturating_sub(1);
        // The field is on the page; a position behind its end is clamped.
        let _ = field.focus();
        let _ = field.set_selection_range(at, at);
    }

    /// Replaces the word at a line and column.
    pub(super) fn fix(self, line: u32, column: u32, by: &str) {
        self.with_view(|view| view.fix(line, column, by));
    }

    /// Whether the editor of the bundle is there, reactively.
    pub(super) fn is_live(self) -> bool {
        self.live.with(Option::is_some)
    }

    /// Does something with the editor of the bundle, if it is there.
    pub(super) fn with_view(self, work: impl FnOnce(&Mounted)) -> bool {
        self.live
            .try_with_untracked(|live| live.as_ref().map(|live| work(&live.view)).is_some())
            .unwrap_or_default()
    }

    /// Marks faults for as long as the list is shown that is being built.
    pub(super) fn show(self, faults: &[Diagnostic]) {
        let faults = faults.to_vec();
        let Some(number) = self.faults.try_update(|all| {
            let number = all.iter().map(|(number, _)| number + 1).max().unwrap_or(0);
            all.push((number, faults));
            number
        }) else {
            return;
        };
        on_cleanup(move || {
            self.faults
                .try_update(|all| all.retain(|(other, _)| *other != number));
        });
    }

    /// The faults that have a place, as the bundle reads them, reactively.
    pub(super) fn marks(self) -> String {
        let mark = |fault: &Diagnostic| -> Option<Value> {
            let severity = match fault.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
            };
            let hint = fault.hint.as_deref().map(|hint| format!(" ({hint})"));
            let message = format!("{}{}", fault.message, hint.unwrap_or_default());
            Some(object(vec![
                ("severity", severity.into()),
                ("message", message.into()),
                ("line", fault.line?.into()),
                ("column", fault.column.unwrap_or(1).into()),
                ("fix", json!(correction(fault))),
            ]))
        };
        let marks: Value = self.faults.with(|all| {
            let faults = all.iter().flat_map(|(_, faults)| faults);
            faults.filter_map(mark).collect()
        });
        marks.to_string()
    }
}

/// The word that a fault's hint offers for the one at its place.
pub(super) fn correction(fault: &Diagnostic) -> Option<&str> {
    let word = fault.hint.as_deref()?.strip_prefix("did you mean \"")?;
    word.strip_suffix("\"?").filter(|word| !word.contains('"'))
}

#[cfg(test)]
mod tests {
    use toolgate_api::Diagnostic;

    use super::correction;

    #[test]
    fn only_a_hint_that_names_one_word_is_a_correction() {
        for (hint, expected) in [
            (Some("did you mean \"group\"?"), Some("group")),
            (Some("did you mean \"a\" or \"b\"?"), None),
            (Some("write name: <name>"), None),
            (None, None),
        ] {
            let fault = Diagnostic {
                hint: hint.map(str::to_owned),
                ..Diagnostic::error("unknown key \"grup\"")
            };
            assert_eq!(correction(&fault), expected, "{hint:?}");
        }
    }
}
