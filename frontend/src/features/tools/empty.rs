//! What is shown in place of a list without tools: the next step, ready to copy.

use leptos::prelude::*;

use crate::components::{CodeBlock, Icon, Symbol};
use crate::routes::{Page, PageKind};
use crate::session::{Permission, Session};
use crate::snippets;

/// The project has no tools: shows how to upload the first one.
#[component]
pub(super) fn NoTools(
    /// The project's id.
    project: String,
) -> impl IntoView {
    let session = Session::get();
    let may_upload = session.may(&project, Permission::EditDefinitions);
    let name = session.me().map_or_else(|| "admin".to_owned(), |me| me.name);
    let token = snippets::token("TOOLGATE_TOKEN", &name);
    let upload = snippets::upload_tool(&project);
    let import = Page::of_project(project, PageKind::NewImport).path();
    view! {
        <div class="empty">
            <span class="empty-mark">
                <Icon symbol=Symbol::Empty />
            </span>
            <h2>"This project has no tools yet"</h2>
            {if may_upload {
                view! {
                    <p class="muted">
                        "A tool is a YAML file: its name, what it does, its parameters, and how it is executed. Upload one, and agents with the right group can call it at once."
                    </p>
                    <p>
                        <a class="button" href=import>
                            "Import a description of an API"
                        </a>
                    </p>
                    <ol class="steps">
                        <li>
                            <h3>"Save a definition"</h3>
                            <CodeBlock caption="tool.yaml" text=snippets::EXAMPLE_TOOL />
                        </li>
                        <li>
                            <h3>"Get a token"</h3>
                            <CodeBlock caption="Bash: token" text=token />
                        </li>
                        <li>
                            <h3>"Upload the definition"</h3>
                            <p class="muted">
                                "Add " <code>"?dry_run=true"</code>
                                " to the address to see the verdict and the difference without storing anything."
                            </p>
                            <CodeBlock caption="Bash: upload" text=upload />
                        </li>
                    </ol>
                }
                    .into_any()
            } else {
                view! {
                    <p class="muted">"Tools that you may see appear here as soon as an owner or an editor of the project uploads them."</p>
                }
                    .into_any()
            }}
        </div>
    }
}

/// Nothing matches the query.
#[component]
pub(super) fn NoMatch(
    /// The query.
    q: String,
    /// The path of the page without a query.
    all: Memo<String>,
) -> impl IntoView {
    view! {
        <div class="empty" role="status">
            <span class="empty-mark">
                <Icon symbol=Symbol::Search />
            </span>
            <h2>"No tool matches “" <span class="mono">{q}</span> "”"</h2>
            <p class="muted">"Names and descriptions are searched. Try a shorter word."</p>
            <p>
                <a class="button" href=all>
                    "Show all tools"
                </a>
            </p>
        </div>
    }
}
