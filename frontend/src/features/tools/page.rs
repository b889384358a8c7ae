//! The page of a project's tools.

use std::sync::Arc;

use leptos::prelude::*;

use super::empty::{NoMatch, NoTools};
use super::filters::Filters;
use super::row::tool_row;
use crate::api::{in_project, with_query};
use crate::components::{Cells, List, SectionHead};
use crate::paged::{Item, Paged, Status};
use crate::reactive::{When, condition, effect, text_memo};
use crate::routes::{Page, Section};
use crate::session::{Need, Session};
use crate::url::{UrlParam, project_in_path};

/// The tools of the project in the address.
#[component]
pub(crate) fn ToolsPage() -> impl IntoView {
    let project = project_in_path();
    let session = Session::get();
    let [q, group, state, type_] = ["q", "group", "state", "type"].map(UrlParam::new);
    let path = text_memo(move || Page::In(project.get(), Section::Tools).path());
    let all = text_memo(move || in_project(&project.get(), &["tools"]));
    let address = text_memo(move || {
        let query = [
            ("q", q.get().trim().to_owned()),
            ("group", group.get()),
            ("state", state.get()),
            ("type", type_.get()),
        ];
        with_query(
            all.get(),
            &query.each_ref().map(|(name, value)| (*name, value.as_str())),
        )
    });
    let list = Paged::new(move || address.get());
    // Tools of another project are never shown, not even while the right ones are on their way.
    effect(move || {
        all.track();
        list.items.set(Vec::new());
    });
    let is_filtered = condition(move || address.get() != all.get());
    let is_filterable = condition(move || is_filtered.get() || !list.is_empty());
    let count = move || match list.status.get() {
        Status::Ready => told_count(list.items.with(Vec::len), list.has_more()),
        _ => String::new(),
    };
    let cells: Cells = Arc::new(move |item: &Item| tool_row(&project.get_untracked(), item));
    let empty = move || {
        if is_filtered.get_untracked() {
            view! { <NoMatch q=q.get_untracked() all=path /> }.into_any()
        } else {
            view! { <NoTools project=project.get_untracked() /> }.into_any()
        }
    };
    view! {
        <SectionHead section=Section::Tools text="What agents may call, as far as their groups and the workflow state permit.">
            <p class="count" role="status">
                {count}
            </p>
            <When test=move || session.may(&project.get(), Need::Edit)>
                <a class="button button-primary" href=move || Page::In(project.get(), Section::Upload).path()>
                    "Upload"
                </a>
            </When>
        </SectionHead>
        <When test=move || is_filterable.get()>
            <Filters q group state type_ />
        </When>
        <List list what="tools" columns=&["Tool", "Type", "Groups", "States", "Revision"] cells empty />
    }
}

fn told_count(count: usize, more: bool) -> String {
    match (count, more) {
        (0, _) => String::new(),
        (_, true) => format!("First {count} tools"),
        (1, false) => "1 tool".to_owned(),
        (_, false) => format!("{count} tools"),
    }
}

#[cfg(test)]
mod tests {
    use super::told_count;

    #[test]
    fn tells_whether_the_count_is_the_whole() {
        assert_eq!(told_count(1, false), "1 tool");
        assert_eq!(told_count(12, false), "12 tools");
        assert_eq!(told_count(50, true), "First 50 tools");
    }
}
