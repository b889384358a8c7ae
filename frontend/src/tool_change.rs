//! A change of the groups or states of tools that a page has collected: what it would do, doing it, and undoing it.

use leptos::prelude::*;
use serde_json::Value;

use crate::api::{Ask, Body, object, parse, with_query};
use crate::components::Toasts;
use crate::expectations;
use crate::features::tools::{address, affected, offer_undo, outlook};
use crate::language::{t, tf};
use crate::reactive::{condition, text};
use crate::review::{Frame, Review};
use crate::session::Session;
use crate::words::counted;

/// What a part of the change is about: the names of tools, and the same change for all of them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Part {
    /// The tools.
    pub(crate) names: Vec<String>,
    /// As the API takes it, for example `{"add_groups": ["knowledge"]}`.
    pub(crate) change: Value,
}

/// What the dialog says.
#[derive(Debug, Clone)]
pub(crate) struct Words {
    /// Its heading.
    pub(crate) title: String,
    /// What the button says that makes the change.
    pub(crate) verb: String,
    /// What is said afterwards; else how many tools were changed.
    pub(crate) done: Option<String>,
}

impl Default for Words {
    fn default() -> Self {
        Self {
            title: t("Review the change").to_owned(),
            verb: t("Save the change").to_owned(),
            done: None,
        }
    }
}

/// A change that is looked at before it is saved, and can be undone. All parts are one request, all or nothing; no tool is
/// in two of them.
#[derive(Clone, Copy)]
pub(crate) struct ToolChange {
    project: Memo<String>,
    parts: StoredValue<Vec<Part>>,
    words: RwSignal<Words>,
    review: Review,
    toasts: Toasts,
    session: Session,
    on_done: Callback<()>,
}

impl ToolChange {
    /// Nothing is prepared yet; `on_done` is called when tools were changed, and when that was undone.
    pub(crate) fn new(project: Memo<String>, on_done: impl Fn() + Send + Sync + 'static) -> Self {
        let change = Self {
            project,
            parts: StoredValue::new(Vec::new()),
            words: RwSignal::new(Words::default()),
            review: Review::new(),
            toasts: Toasts::get(),
            session: Session::get(),
            on_done: Callback::new(move |()| on_done()),
        };
        change.toasts.on_undo(move || change.on_done.run(()));
        change
    }

    /// Opens the dialog and asks what the parts would do.
    pub(crate) fn review(self, parts: Vec<Part>) {
        self.review_as(parts, Words::default());
    }

    /// The same in other words.
    pub(crate) fn review_as(self, parts: Vec<Part>, words: Words) {
        self.parts.set_value(parts);
        self.words.set(words);
        let review = self.review;
        review.begin();
        review.look(self.request(&[("dry_run", "true")]));
    }

    fn request(self, query: &[(&str, &str)]) -> Ask {
        let body = self
            .parts
            .with_value(|parts| request(parts, &self.review.note.get_untracked()));
        let path = with_query(address(&self.project.get_untracked()), query);
        Ask::post(path, Body::Json(body.to_string()))
    }

    /// Saves it, and says so with the way back.
    fn save(self) {
        let query = [expectations::ignoring(self.review.ignored)];
        self.review.action.send(self.request(&query), move |answer| {
            let answer = parse(&answer.text).unwrap_or_default();
            self.review.open.set(false);
            let done = self.words.with_untracked(|words| words.done.clone());
            let text =
                done.unwrap_or_else(|| tf!("Changed {tools}.", tools = counted(affected(&answer), "tool")));
            let place = address(&self.project.get_untracked());
            offer_undo(self.toasts, self.session, place, text, &answer["undo"]);
            self.on_done.run(());
        });
    }

    /// The dialog.
    pub(crate) fn view(self) -> AnyView {
        let Self { review, words, .. } = self;
        let is_ready = move || review.is_meant() && review.plan.with(affected) != 0;
        review.view(Frame {
            title: text(move || words.with(|words| words.title.clone())),
            before: None,
            outlook,
            all_the_same: t("Change them all the same, although policy tests would fail"),
            note_id: "change-note",
            is_noted: true.into(),
            after: None,
            verb: text(move || words.with(|words| words.verb.clone())),
            is_danger: false.into(),
            is_ready: condition(is_ready).into(),
            on_confirm: Callback::new(move |()| self.save()),
        })
    }
}

/// The body of the request.
fn request(parts: &[Part], note: &str) -> Value {
    let changes: Vec<Value> = parts
        .iter()
        .map(|part| {
            object(vec![
                ("select", object(vec![("names", part.names.clone().into())])),
                ("change", part.change.clone()),
            ])
        })
        .collect();
    let mut members = vec![("changes", changes.into())];
    if !note.trim().is_empty() {
        members.push(("note", note.trim().into()));
    }
    object(members)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Part, request};

    #[test]
    fn all_parts_are_one_request() {
        let part = |name: &str| Part {
            names: vec![name.to_owned()],
            change: json!({"add_groups": ["g"]}),
        };
        let change = |name: &str| json!({"select": {"names": [name]}, "change": {"add_groups": ["g"]}});
        assert_eq!(
            request(&[part("a"), part("b")], " "),
            json!({"changes": [change("a"), change("b")]})
        );
        assert_eq!(request(&[part("a")], " why ")["note"], "why");
    }
}
