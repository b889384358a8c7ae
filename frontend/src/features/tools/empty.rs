//! What is shown in place of a list without tools: the next step.

use leptos::prelude::*;

use crate::components::{Icon, Symbol};
use crate::language::t;
use crate::routes::{Page, PageKind};
use crate::session::{Permission, Session};

/// The project has no tools: leads to where the first one is made.
#[component]
pub(super) fn NoTools(
    /// The project's id.
    project: String,
) -> impl IntoView {
    let session = Session::get();
    let may_upload = session.may(&project, Permission::EditDefinitions);
    let [new_tool, import, upload] = [PageKind::NewTool, PageKind::NewImport, PageKind::Upload]
        .map(|kind| Page::of_project(project.clone(), kind).path());
    view! {
        <div class="empty">
            <span class="empty-mark">
                <Icon symbol=Symbol::Empty />
            </span>
            <h2>{t("This project has no tools yet")}</h2>
            {if may_upload {
                view! {
                    <p class="muted">
                        {t("Paste a request that works, test it and save it. Agents with the right group can call it at once.")}
                    </p>
                    <div class="empty-actions">
                        <a class="button button-primary" href=new_tool>
                            {t("New tool")}
                        </a>
                        <a class="button" href=import>
                            {t("Import a description of an API")}
                        </a>
                        <a class="button" href=upload>
                            {t("Upload definitions")}
                        </a>
                    </div>
                }
                    .into_any()
            } else {
                view! {
                    <p class="muted">{t("Tools that you may see appear here as soon as an owner or an editor of the project uploads them.")}</p>
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
            <h2>{t("No tool matches “")} <span class="mono">{q}</span> {t("”")}</h2>
            <p class="muted">{t("Names and descriptions are searched. Try a shorter word.")}</p>
            <p>
                <a class="button" href=all>
                    {t("Show all tools")}
                </a>
            </p>
        </div>
    }
}
