//! Where a description comes from: a file, a text, or an address that the server fetches.

use leptos::prelude::*;

use crate::api::{Body, with_query};
use crate::components::{Editor, EditorHandle, Field, Tabs, TextInput};
use crate::features::upload::FileDrop;
use crate::language::{marked, t, tf};
use crate::reactive::{When, condition, part};
use crate::session::Session;
use crate::url::UrlParam;

/// MiB that a description may have.
const LARGEST: u32 = 5;
/// Characters up to which a text is shown in an editor: numbering more lines takes a browser too long.
const SHOWN: usize = 200_000;

const WAYS: [(&str, &str); 2] = [("text", marked("File or text")), ("address", marked("Address"))];

/// A description, or the address that it is fetched from.
#[derive(Clone, Copy)]
pub(super) struct Source {
    /// The text.
    pub(super) text: RwSignal<String>,
    url: RwSignal<String>,
    from: UrlParam,
    /// Whether this person may have the server fetch an address.
    may_fetch: Memo<bool>,
    /// For jumping to a fault.
    pub(super) handle: EditorHandle,
}

impl Source {
    /// Nothing is given yet.
    pub(super) fn new() -> Self {
        let session = Session::get();
        Self {
            text: RwSignal::new(String::new()),
            // Another page may know the address already.
            url: RwSignal::new(UrlParam::new("url").get_untracked()),
            from: UrlParam::new("from"),
            may_fetch: condition(move || session.is_system_admin()),
            handle: EditorHandle::new(),
        }
    }

    fn is_address(self) -> bool {
        self.may_fetch.get() && self.from.get() == "address"
    }

    /// What is given, reactively: the text or the address; empty for nothing.
    pub(super) fn given(self) -> String {
        let given = if self.is_address() { self.url } else { self.text };
        given.with(|given| {
            if given.trim().is_empty() {
                String::new()
            } else {
                given.clone()
            }
        })
    }

    /// Notices changes of what is given.
    pub(super) fn track(self) {
        self.from.signal().track();
        self.text.track();
        self.url.track();
    }

    /// Whether anything is given, reactively.
    pub(super) fn is_given(self) -> bool {
        let given = if self.is_address() { self.url } else { self.text };
        given.with(|given| !given.trim().is_empty())
    }

    /// The address and the body of a request that sends the description to a path.
    pub(super) fn request(self, path: String, query: &[(&str, &str)]) -> (String, Body) {
        let path = with_query(path, query);
        if untrack(|| self.is_address()) {
            let url = self.url.get_untracked();
            return (with_query(path, &[("url", url.trim())]), Body::None);
        }
        // JSON is YAML too.
        (path, Body::Yaml(self.text.get_untracked()))
    }

    /// The fields.
    pub(super) fn view(self) -> AnyView {
        view! {
            <When test=move || self.may_fetch.get()>
                <Tabs param=self.from name=t("Where the description is") choices=&WAYS />
            </When>
            {part(move || if self.is_address() { self.address() } else { self.file_or_text() })}
        }
        .into_any()
    }

    fn address(self) -> AnyView {
        view! {
            <Field
                id="import-url"
                label=t("Address of the description")
                help=t("The server fetches it, by the rules for outgoing requests: its host must be on an egress list.")
            >
                <TextInput id="import-url" value=self.url mono=true placeholder="https://petstore.example.com/openapi.json" max="2000" />
            </Field>
        }
        .into_any()
    }

    fn file_or_text(self) -> AnyView {
        let is_long = condition(move || self.text.with(|text| text.len() > SHOWN));
        let lines = move || self.text.with(|text| text.lines().count());
        view! {
            <FileDrop
                words=t("Drop a description here: OpenAPI 3.0, 3.1 or 3.2, or Swagger 2.0, in YAML or JSON")
                largest=LARGEST
                single=true
                on_text=move |read| self.text.set(read)
            />
            {part(move || {
                if is_long.get() {
                    view! {
                        <p class="note" role="status">
                            {move || tf!("A description of {lines} lines was read. It is too long to be shown here. ", lines = lines())}
                            <button type="button" class="button button-small" on:click=move |_| self.text.set(String::new())>
                                {t("Remove it")}
                            </button>
                        </p>
                    }
                        .into_any()
                } else {
                    view! { <Editor name=t("Description") value=self.text handle=self.handle rows=10 /> }.into_any()
                }
            })}
        }
        .into_any()
    }
}
