//! The page of a project's tools.

use leptos::prelude::*;
use toolgate_api::tools::Tool;

use super::empty::{NoMatch, NoTools};
use super::filters::Filters;
use super::table::ToolTable;
use crate::api::tools::{ToolFilter, list_tools};
use crate::components::{More, ProblemPanel, SectionHead, Skeleton};
use crate::paged::{Paged, Status};
use crate::routes::{Page, Section};
use crate::session::{Need, Session};
use crate::url::{UrlParam, project_in_path};

/// What the list depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Key {
    project: String,
    filter: ToolFilter,
}

/// The tools of the project in the address.
#[component]
pub(crate) fn ToolsPage() -> impl IntoView {
    let project = project_in_path();
    let session = Session::get();
    let [q, group, state, type_] = ["q", "group", "state", "type"].map(UrlParam::new);
    let path = Memo::new(move |_| Page::In(project.get(), Section::Tools).path());
    let key = Memo::new(move |_| Key {
        project: project.get(),
        filter: ToolFilter {
            q: q.get().trim().to_owned(),
            group: group.get(),
            state: state.get(),
            type_: type_.get(),
        },
    });
    let list: Paged<Key, Tool> = Paged::new(key, |key: Key, cursor| async move {
        let page = list_tools(&key.project, &key.filter, cursor).await?;
        Ok((page.items, page.next_cursor))
    });

    // Tools of another project are never shown, not even while the right ones are on their way.
    let shown = Memo::new(move |_| list.shown.get().filter(|shown| shown.project == project.get()));
    let is_empty = Memo::new(move |_| list.items.with(Vec::is_empty));
    let has_rows = Memo::new(move |_| shown.get().is_some() && !is_empty.get());
    let is_filterable = Memo::new(move |_| has_rows.get() || !key.get().filter.is_empty());
    let is_busy = move || matches!(list.status.get(), Status::Loading | Status::LoadingMore);
    let count = move || match (list.status.get(), shown.get()) {
        (Status::Ready, Some(_)) => told_count(list.items.with(Vec::len), list.has_more()),
        _ => String::new(),
    };

    view! {
        <SectionHead section=Section::Tools text="What agents may call, as far as their groups and the workflow state permit.">
            <p class="count" role="status">
                {count}
            </p>
            <Show when=move || session.may(&project.get(), Need::Edit)>
                <a class="button button-primary" href=move || Page::In(project.get(), Section::Upload).path()>
                    "Upload"
                </a>
            </Show>
        </SectionHead>
        <Show when=move || is_filterable.get()>
            <Filters q group state type_ />
        </Show>
        {move || match (list.status.get(), shown.get(), is_empty.get()) {
            (Status::Failed(error), _, _) => {
                view! { <ProblemPanel error on_retry=move |()| list.retry() /> }.into_any()
            }
            (Status::Ready, Some(shown), true) if shown.filter.is_empty() => {
                view! { <NoTools project=shown.project /> }.into_any()
            }
            (Status::Ready, Some(shown), true) => view! { <NoMatch q=shown.filter.q all=path /> }.into_any(),
            (Status::Loading, None, _) | (Status::Loading, _, true) => {
                view! { <Skeleton what="tools" /> }.into_any()
            }
            _ => ().into_any(),
        }}
        <Show when=move || has_rows.get()>
            <div class="table-wrap" aria-busy=move || is_busy().to_string()>
                <ToolTable project tools=list.items />
            </div>
            <More list what="tools" />
        </Show>
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
