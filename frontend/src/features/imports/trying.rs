//! Trying one of the tools that an import has made, where they were made.

use leptos::prelude::*;
use toolgate_api::tools::Tool;

use crate::api::in_project;
use crate::features::tools::CallForm;
use crate::loaded::Loaded;
use crate::reactive::{effect, part};
use crate::routes::Page;

/// The form that calls a tool; of one that is disabled, the way to enable it.
#[component]
pub(super) fn Trying(
    /// The project's id.
    project: Memo<String>,
    /// The tool's name.
    name: String,
    /// Counts what was changed: the tool is read again.
    changes: RwSignal<u32>,
    /// Enables it.
    #[prop(into)]
    on_enable: Callback<String>,
) -> impl IntoView {
    let name = StoredValue::new(name);
    let loaded = Loaded::new(move || in_project(&project.get(), &["tools", &name.get_value()]));
    let begun = changes.get_untracked();
    effect(move || {
        if changes.get() != begun {
            loaded.reload();
        }
    });
    let tool = Memo::new(move |_| loaded.read::<Tool>());
    let href = Page::Tool(project.get_untracked(), name.get_value()).path();
    let content = move || {
        let Some(tool) = tool.get() else {
            return ().into_any();
        };
        if tool.enabled {
            return view! { <CallForm project tool /> }.into_any();
        }
        view! {
            <div class="panel row">
                <p>"Calls of a disabled tool are refused."</p>
                <button type="button" class="button" on:click=move |_| on_enable.run(name.get_value())>
                    "Enable it"
                </button>
            </div>
        }
        .into_any()
    };
    view! {
        <section class="stack" aria-label=format!("Try {}", name.get_value())>
            <h2>"Try " <a class="mono" href=href>{name.get_value()}</a></h2>
            {loaded.placeholder("the tool")}
            {part(content)}
        </section>
    }
}
