//! The project as one file.

use leptos::prelude::*;

use crate::api::in_project;
use crate::language::t;
use crate::reactive::{When, condition};
use crate::routes::{Page, PageKind};
use crate::session::{Permission, Session};

/// The section with the ways to export and to import; for those who see who holds what.
#[component]
pub(super) fn Transfer(
    /// The project's id.
    project: Memo<String>,
) -> impl IntoView {
    let session = Session::get();
    let may_export = condition(move || session.may(&project.get(), Permission::ReadAccess));
    let may_import = condition(move || session.may(&project.get(), Permission::ManageAccess));
    let import = move || Page::of_project(project.get(), PageKind::Upload).path() + "?view=project";
    view! {
        <When test=may_export>
            <section class="panel stack" aria-labelledby="transfer-title">
                <h2 id="transfer-title">{t("Export and import")}</h2>
                <p class="muted">
                    {t("One YAML file with settings, limits, groups, states, tools, MCP servers, guides, grants of users and policy tests. Secrets are named in it, without their values; keys are not in it. An import shows what it would change before it changes anything. ")}
                    <a href="/help/projects#export-as-one-file" rel="external" target="_blank" aria-label=t("Learn more about exporting a project")>
                        {t("Learn more")}
                    </a>
                </p>
                <div class="row">
                    <a class="button" rel="external" download href=move || in_project(&project.get(), &["export"])>
                        {t("Export")}
                    </a>
                    <When test=may_import>
                        <a class="button" href=import>
                            {t("Import a file")}
                        </a>
                    </When>
                </div>
            </section>
        </When>
    }
}
