//! What to do when there is no project yet.

use leptos::prelude::*;

use crate::components::{CodeBlock, Icon, Symbol};
use crate::session::Session;
use crate::snippets;

/// Shows an administrator how to create a project, and everyone else whom to ask.
#[component]
pub(super) fn CreateHint() -> impl IntoView {
    let me = Session::get().me();
    let may_create = me.as_ref().is_some_and(|me| me.system_admin);
    let token = snippets::token(me.as_ref().map_or("admin", |me| me.name.as_str()));
    let create = snippets::create_project();
    view! {
        <div class="empty">
            <span class="empty-mark">
                <Icon symbol=Symbol::Empty />
            </span>
            <h2>"There is no project yet"</h2>
            {if may_create {
                view! {
                    <p class="muted">"A project holds tools, the keys of the agents that call them, and the record of every call."</p>
                    <ol class="steps">
                        <li>
                            <h3>"Get a token"</h3>
                            <CodeBlock caption="Bash: token" text=token />
                        </li>
                        <li>
                            <h3>"Create the project, then reload this page"</h3>
                            <CodeBlock caption="Bash: project" text=create />
                        </li>
                    </ol>
                }
                    .into_any()
            } else {
                view! { <p class="muted">"Ask an administrator to make you a member of a project."</p> }.into_any()
            }}
        </div>
    }
}
