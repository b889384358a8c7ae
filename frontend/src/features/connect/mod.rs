//! How agents and programs connect: snippets that work when they are pasted.

use leptos::prelude::*;

use crate::components::{CodeBlock, SectionHead};
use crate::routes::{API_REFERENCE, Page, Section};
use crate::snippets;
use crate::url::project_in_path;

/// The snippets.
#[component]
pub(crate) fn ConnectPage() -> impl IntoView {
    let project = project_in_path();
    let list = Signal::derive(move || snippets::list(&project.get()));
    let call = Signal::derive(move || snippets::call_example(&project.get()));
    let python = Signal::derive(move || snippets::python(&project.get()));
    let typescript = Signal::derive(move || snippets::typescript(&project.get()));
    view! {
        <SectionHead section=Section::Connect text="Everything goes through one REST API. A key says who calls; the groups it asks for and the workflow state say what it may call." />
        <ol class="steps steps-wide">
            <li>
                <h2>"Make a key"</h2>
                <p>
                    "On the page " <a href=move || Page::In(project.get(), Section::Keys).path()>"Keys"</a>
                    ", with the groups that the agent needs. Keep it in the variable " <code>"TOOLGATE_KEY"</code> "."
                </p>
            </li>
            <li>
                <h2>"See what it may call"</h2>
                <CodeBlock caption="Bash: list" text=list />
            </li>
            <li>
                <h2>"Call"</h2>
                <CodeBlock caption="Bash: call" text=call />
                <CodeBlock caption="Python" text=python />
                <CodeBlock caption="TypeScript" text=typescript />
            </li>
            <li>
                <h2>"Generate a client"</h2>
                <p>
                    "The " <a href=API_REFERENCE rel="external">"API reference"</a>
                    " is made from " <a href="/openapi.json" rel="external">"the OpenAPI document"</a>
                    ", which every generator reads."
                </p>
            </li>
        </ol>
    }
}
