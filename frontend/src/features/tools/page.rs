//! The page of a project's tools.

use leptos::prelude::*;
use leptos_router::hooks::{use_params_map, use_query_map};
use toolgate_api::tools::Tool;

use super::empty::{NoMatch, NoTools};
use super::search::SearchBox;
use super::table::ToolTable;
use crate::api;
use crate::components::{PageHeading, ProblemPanel, Skeleton};
use crate::paged::{Paged, Status};
use crate::routes::Page;

/// What the list depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Key {
    project: String,
    q: String,
}

/// The tools of the project in the address.
#[component]
pub(crate) fn ToolsPage() -> impl IntoView {
    let params = use_params_map();
    let query = use_query_map();
    let project = Memo::new(move |_| params.with(|params| params.get("project_id")).unwrap_or_default());
    let q = Memo::new(move |_| {
        query
            .with(|query| query.get("q"))
            .unwrap_or_default()
            .trim()
            .to_owned()
    });
    let path = Memo::new(move |_| {
        Page::Tools {
            project: project.get(),
        }
        .path()
    });
    let key = Memo::new(move |_| Key {
        project: project.get(),
        q: q.get(),
    });
    let list: Paged<Key, Tool> = Paged::new(key, |key: Key, cursor| async move {
        let page = api::list_tools(&key.project, &key.q, cursor).await?;
        Ok((page.items, page.next_cursor))
    });

    // Tools of another project are never shown, not even while the right ones are on their way.
    let shown = Memo::new(move |_| list.shown.get().filter(|shown| shown.project == project.get()));
    let is_empty = Memo::new(move |_| list.items.with(Vec::is_empty));
    let has_rows = Memo::new(move |_| shown.get().is_some() && !is_empty.get());
    let searchable = Memo::new(move |_| has_rows.get() || !q.get().is_empty());
    let is_busy = move || matches!(list.status.get(), Status::Loading | Status::LoadingMore);
    let count = move || match (list.status.get(), shown.get()) {
        (Status::Ready, Some(_)) => told_count(list.items.with(Vec::len), list.has_more()),
        _ => String::new(),
    };

    view! {
        <div class="page-head">
            <div>
                <PageHeading text="Tools" />
                <p class="muted">"What agents may call, as far as their groups and the workflow state permit."</p>
            </div>
            <div class="page-actions">
                <p class="count" role="status">
                    {count}
                </p>
                <Show when=move || searchable.get()>
                    <SearchBox path q />
                </Show>
            </div>
        </div>
        {move || match (list.status.get(), shown.get(), is_empty.get()) {
            (Status::Failed(error), _, _) => {
                view! { <ProblemPanel error on_retry=move |()| list.retry() /> }.into_any()
            }
            (Status::Ready, Some(shown), true) if shown.q.is_empty() => {
                view! { <NoTools project=shown.project /> }.into_any()
            }
            (Status::Ready, Some(shown), true) => view! { <NoMatch q=shown.q all=path /> }.into_any(),
            (Status::Loading, None, _) | (Status::Loading, _, true) => {
                view! { <Skeleton what="tools" /> }.into_any()
            }
            _ => ().into_any(),
        }}
        <Show when=move || has_rows.get()>
            <div class="table-wrap" aria-busy=move || is_busy().to_string()>
                <ToolTable tools=list.items />
            </div>
            <Show when=move || list.has_more()>
                <p class="more">
                    <button
                        type="button"
                        class="button"
                        aria-disabled=move || is_busy().to_string()
                        on:click=move |_| {
                            if !matches!(list.status.get_untracked(), Status::Loading | Status::LoadingMore) {
                                list.more();
                            }
                        }
                    >
                        {move || if is_busy() { "Loading…" } else { "Show more tools" }}
                    </button>
                </p>
            </Show>
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
