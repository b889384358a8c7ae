//! A dialog with a form: fields, the error of the last attempt, and two buttons.

use leptos::prelude::*;

use super::{CodeBlock, Dialog, DialogFoot, Placement};
use crate::action::Action;
use crate::language::t;
use crate::reactive::{effect, part};

/// A text that the server shows only once. It takes the place of the form, and leaves the page together with the dialog.
#[derive(Clone, Copy)]
pub(crate) struct ShownOnce {
    /// The text, once it is there.
    pub(crate) text: RwSignal<Option<String>>,
    /// What it is, for example `Key`.
    pub(crate) caption: &'static str,
    /// What to do with it.
    pub(crate) words: &'static str,
}

impl ShownOnce {
    /// Nothing is shown yet.
    pub(crate) fn new(caption: &'static str, words: &'static str) -> Self {
        Self {
            text: RwSignal::new(None),
            caption,
            words,
        }
    }

    /// The text, and the button that closes the dialog.
    pub(crate) fn view(self, text: String, open: RwSignal<bool>) -> AnyView {
        view! {
            <div class="dialog-body">
                <p>{self.words}</p>
                <CodeBlock caption=self.caption text />
            </div>
            <footer class="dialog-foot">
                <button type="button" class="button button-primary" on:click=move |_| open.set(false)>
                    {t("I have copied it")}
                </button>
            </footer>
        }
        .into_any()
    }
}

/// A form in a dialog. It is sent by its button or by Enter; its content is made again whenever it opens.
#[component]
pub(crate) fn FormDialog(
    /// Whether it is open.
    open: RwSignal<bool>,
    /// Its name and heading.
    #[prop(into)]
    title: Signal<String>,
    /// The text of the button that sends it: a verb.
    #[prop(into)]
    verb: Signal<String>,
    /// What it sends; its error is shown here.
    action: Action,
    /// Whether it is filled in well enough to be sent.
    #[prop(optional, into)]
    ready: Option<Signal<bool>>,
    /// Where it is on the screen.
    #[prop(optional)]
    placement: Placement,
    /// What the answer shows only once.
    #[prop(optional)]
    once: Option<ShownOnce>,
    /// It is sent.
    #[prop(into)]
    on_submit: Callback<()>,
    /// The fields.
    children: ChildrenFn,
) -> impl IntoView {
    let children = StoredValue::new(children);
    effect(move || {
        if !open.get() {
            action.error.set(None);
            if let Some(once) = once {
                once.text.set(None);
            }
        }
    });
    let form = move || {
        view! {
            <form on:submit=move |event| {
                event.prevent_default();
                on_submit.run(());
            }>
                <div class="dialog-body">{children.with_value(|children| children())} {action.outcome()}</div>
                <DialogFoot open>
                    <button
                        type="submit"
                        class="button button-primary"
                        disabled=move || action.busy.get() || ready.is_some_and(|ready| !ready.get())
                    >
                        {verb}
                    </button>
                </DialogFoot>
            </form>
        }
        .into_any()
    };
    let content = move || {
        part(move || {
            let shown = once.and_then(|once| Some((once, once.text.get()?)));
            shown.map_or_else(form, |(once, text)| once.view(text, open))
        })
    };
    view! {
        <Dialog open title placement>
            {content()}
        </Dialog>
    }
}
