//! Writing a guide, with a preview beside it.

use leptos::prelude::*;
use toolgate_api::guides::{Guide, GuideDefinition};

use crate::action::Action;
use crate::api::{Ask, Body, in_project};
use crate::components::{
    Editor, EditorHandle, Field, FormDialog, Language, Markdown, Placement, Select, TextInput, Toasts,
};
use crate::language::{marked, t, tf};
use crate::loaded::Loaded;
use crate::reactive::{When, condition, effect, text};

/// What a guide can be about: the value of the choice, and its name.
const ABOUT: [(&str, &str); 3] = [
    ("project", marked("The project")),
    ("group", marked("The tools of a group")),
    ("source", marked("The tools of an import")),
];

/// The dialog; an empty id writes a new guide.
#[component]
pub(super) fn GuideDialog(
    project: Memo<String>,
    open: RwSignal<bool>,
    id: RwSignal<String>,
    /// The guide was stored.
    #[prop(into)]
    on_saved: Callback<()>,
) -> impl IntoView {
    let name = RwSignal::new(String::new());
    let summary = RwSignal::new(String::new());
    let about = RwSignal::new("project".to_owned());
    let subject = RwSignal::new(String::new());
    let content = RwSignal::new(String::new());
    let action = Action::new();
    let toasts = Toasts::get();
    let is_new = condition(move || id.with(String::is_empty));
    let stored = Loaded::new(move || {
        if open.get() && !is_new.get() {
            in_project(&project.get_untracked(), &["guides", &id.get()])
        } else {
            String::new()
        }
    });
    effect(move || {
        if !open.get() {
            return;
        }
        for field in [summary, subject, content] {
            field.set(String::new());
        }
        name.set(id.get_untracked());
        about.set("project".to_owned());
        let Some(guide) = stored.read::<Guide>() else {
            return;
        };
        summary.set(guide.summary);
        content.set(guide.text.unwrap_or_default());
        for (kind, of) in [("group", guide.group), ("source", guide.source)] {
            if let Some(of) = of {
                about.set(kind.to_owned());
                subject.set(of);
            }
        }
    });
    let save = move |()| {
        let of = |kind: &str| {
            let subject = subject.get_untracked();
            (about.get_untracked() == kind).then(|| subject.trim().to_owned())
        };
        let guide = GuideDefinition {
            summary: summary.get_untracked().trim().to_owned(),
            group: of("group"),
            source: of("source"),
            text: content.get_untracked(),
        };
        let name = name.get_untracked().trim().to_owned();
        let path = in_project(&project.get_untracked(), &["guides", &name]);
        let ask = Ask::put(path, Body::json(&guide));
        let ask = if is_new.get_untracked() {
            ask.if_new()
        } else {
            ask.if_match(stored.etag())
        };
        action.send(ask, move |_| {
            toasts.done(tf!("{name} is stored.", name));
            open.set(false);
            on_saved.run(());
        });
    };
    let ready = Signal::derive(move || {
        let filled = |field: RwSignal<String>| field.with(|text| !text.trim().is_empty());
        filled(name) && filled(summary) && filled(content) && (about.get() == "project" || filled(subject))
    });
    let title = text(move || {
        if is_new.get() {
            t("New guide").to_owned()
        } else {
            tf!("Edit {name}", name = id.get())
        }
    });
    let choices: Vec<(String, String)> = ABOUT
        .iter()
        .map(|(key, text)| ((*key).to_owned(), t(text).to_owned()))
        .collect();
    let choices = Signal::stored(choices);
    view! {
        <FormDialog open title verb=t("Save") action ready placement=Placement::Wide on_submit=save>
            <When test=move || !is_new.get()>{stored.placeholder(t("the guide"))}</When>
            <When test=move || is_new.get() || stored.is_there()>
                <When test=move || is_new.get()>
                    <Field id="guide-id" label=t("Id") help=t("Letters, digits, '.', '_' and '-'. Agents ask for the guide by it.") guide="mcp#guides">
                        <TextInput id="guide-id" value=name mono=true placeholder="searching" max="64" />
                    </Field>
                </When>
                <Field id="guide-summary" label=t("Summary") help=t("One line: agents choose by it.")>
                    <TextInput id="guide-summary" value=summary max="200" />
                </Field>
                <Field id="guide-about" label=t("About") guide="mcp#guides">
                    <Select
                        id="guide-about"
                        value=about
                        options=choices
                        on_change=move |kind: String| about.set(kind)
                    />
                </Field>
                <When test=move || about.get() != "project">
                    <Field id="guide-subject" label=t("Its name") help=t("Only callers that may use it see the guide.")>
                        <TextInput id="guide-subject" value=subject max="128" />
                    </Field>
                </When>
                <Editor name=t("Text in Markdown") value=content handle=EditorHandle::new() rows=12 language=Language::Markdown />
                <section aria-label=t("Preview") class="stack-small">
                    <h3>{t("Preview")}</h3>
                    <Markdown text=content />
                </section>
            </When>
        </FormDialog>
    }
}
