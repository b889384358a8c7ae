//! The page of the groups: the tree, and the matrix of tools and groups.

use leptos::prelude::*;

use super::detail::GroupDetail;
use super::matrix::Matrix;
use super::tree::Tree;
use crate::api::{in_project, with_query};
use crate::components::{Dialog, Field, SearchBox, SectionHead, Tabs, TextInput};
use crate::language::{marked, t};
use crate::loaded::Loaded;
use crate::reactive::{When, part};
use crate::routes::PageKind;
use crate::session::{Permission, Session};
use crate::url::{UrlParam, project_in_path};

const VIEWS: [(&str, &str); 2] = [("tree", marked("Tree")), ("matrix", marked("Tools and groups"))];

/// All groups one may know of.
#[component]
pub(crate) fn GroupsPage() -> impl IntoView {
    let project = project_in_path();
    let session = Session::get();
    let [chosen, view, q] = ["group", "view", "q"].map(UrlParam::new);
    let list = Loaded::new(move || {
        if view.get() == "matrix" {
            return String::new();
        }
        let query = [("limit", "200"), ("q", &q.get())];
        with_query(in_project(&project.get(), &["groups"]), &query)
    });
    let open = Callback::new(move |name: String| chosen.push(&name));
    let declaring = RwSignal::new(false);
    let name = RwSignal::new(String::new());
    view! {
        <SectionHead section=PageKind::Groups text=t("A grant of a group covers its children: knowledge covers knowledge/read.")>
            <When test=move || session.may(&project.get(), Permission::ManagePolicy)>
                <button type="button" class="button button-primary" on:click=move |_| declaring.set(true)>
                    {t("Declare a group")}
                </button>
            </When>
        </SectionHead>
        <Tabs param=view name=t("Views of the groups") choices=&VIEWS />
        {part(move || {
            if view.get() == "matrix" {
                return view! { <Matrix project /> }.into_any();
            }
            view! {
                <div class="filters">
                    <SearchBox param=q name=t("Search groups") placeholder=t("Search by name or description") />
                </div>
                {list.placeholder(t("groups"))}
                <Tree project list open />
            }
                .into_any()
        })}
        <Dialog open=declaring title=t("Declare a group")>
            <form on:submit=move |event| {
                event.prevent_default();
                declaring.set(false);
                chosen.push(name.get_untracked().trim());
                name.set(String::new());
            }>
                <div class="dialog-body">
                    <Field id="new-group" label=t("Name") help=t("A / makes it a child of the part before it.") guide="groups-and-states#names">
                        <TextInput id="new-group" value=name mono=true placeholder="knowledge/read" max="128" />
                    </Field>
                </div>
                <footer class="dialog-foot">
                    <button
                        type="submit"
                        class="button button-primary"
                        disabled=move || name.with(|name| name.trim().is_empty())
                    >
                        {t("Go on")}
                    </button>
                </footer>
            </form>
        </Dialog>
        <GroupDetail project chosen on_changed=move |()| list.reload() />
    }
}
