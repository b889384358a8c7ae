//! Labelled form controls.

use leptos::prelude::*;

use crate::language::{t, tf};

/// A label, a control, a word of help and what is wrong with the content.
#[component]
pub(crate) fn Field(
    /// The control's id.
    id: &'static str,
    /// What it is.
    #[prop(into)]
    label: Signal<String>,
    /// What it is for; one line.
    #[prop(optional, into)]
    help: Option<String>,
    /// The section of the guides that explains it, below `/help/`.
    #[prop(optional)]
    guide: Option<&'static str>,
    /// What is wrong with it.
    #[prop(optional, into)]
    error: Signal<Option<String>>,
    /// The control; it refers to `{id}-help` by `aria-describedby`.
    children: Children,
) -> impl IntoView {
    view! {
        <div class="field">
            <label for=id>{label}</label>
            {children()}
            <p class="field-help" id=format!("{id}-help")>
                {help}
                {guide
                    .map(|guide| {
                        // No `aria-label`: the control alone is found by its label.
                        let about = tf!(" about {field}", field = label.get_untracked());
                        view! {
                            " "
                            <a href=format!("/help/{guide}") rel="external" target="_blank">
                                {t("Learn more")}
                                <span class="visually-hidden">{about}</span>
                            </a>
                        }
                    })}
                {move || error.get().map(|text| view! { <span class="field-error" role="alert">{text}</span> })}
            </p>
        </div>
    }
}

/// A line of text.
#[component]
pub(crate) fn TextInput(
    /// Unique on the page.
    id: &'static str,
    /// The text.
    value: RwSignal<String>,
    /// An example.
    #[prop(optional)]
    placeholder: &'static str,
    /// Whether names are typed here: monospace, not corrected.
    #[prop(optional)]
    mono: bool,
    /// `text`, `password`, `number`, `datetime-local`...
    #[prop(default = "text")]
    kind: &'static str,
    /// Most characters.
    #[prop(default = "1024")]
    max: &'static str,
    /// What the browser may fill in.
    #[prop(default = "off")]
    autocomplete: &'static str,
) -> impl IntoView {
    view! {
        <input
            id=id
            class="input"
            class:mono=mono
            type=kind
            maxlength=max
            placeholder=placeholder
            autocomplete=autocomplete
            spellcheck="false"
            aria-describedby=format!("{id}-help")
            prop:value=move || value.get()
            on:input=move |event| value.set(event_target_value(&event))
        />
    }
}

/// Lines of text.
#[component]
pub(crate) fn TextArea(
    /// Unique on the page.
    id: &'static str,
    /// The text.
    value: RwSignal<String>,
    /// Height in lines.
    #[prop(default = 4)]
    rows: u32,
    /// Whether code is typed here.
    #[prop(optional)]
    mono: bool,
) -> impl IntoView {
    view! {
        <textarea
            id=id
            class="input textarea"
            class:mono=mono
            rows=rows
            spellcheck="false"
            aria-describedby=format!("{id}-help")
            prop:value=move || value.get()
            on:input=move |event| value.set(event_target_value(&event))
        ></textarea>
    }
}

/// One of several values.
#[component]
pub(crate) fn Select(
    /// Unique on the page.
    id: &'static str,
    /// The name, when no label refers to it.
    #[prop(optional)]
    name: Option<&'static str>,
    /// The chosen value.
    #[prop(into)]
    value: Signal<String>,
    /// Values and what people read.
    #[prop(into)]
    options: Signal<Vec<(String, String)>>,
    /// Another one was chosen.
    #[prop(into)]
    on_change: Callback<String>,
) -> impl IntoView {
    view! {
        <select
            id=id
            class="input select"
            aria-label=name
            aria-describedby=name.is_none().then(|| format!("{id}-help"))
            on:change=move |event| on_change.run(event_target_value(&event))
        >
            {move || {
                options
                    .get()
                    .into_iter()
                    .map(|(key, text)| {
                        let is_chosen = key == value.get();
                        view! {
                            <option value=key selected=is_chosen>
                                {text}
                            </option>
                        }
                    })
                    .collect::<Vec<_>>()
            }}
        </select>
    }
}
