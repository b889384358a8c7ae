//! The page of a project's tools.

use std::sync::Arc;

use leptos::ev;
use leptos::prelude::*;
use toolgate_api::tools::Tool;
use wasm_bindgen::JsCast;

use super::bulk::Bulk;
use super::columns::{ColumnMenu, hidden, shown};
use super::empty::{NoMatch, NoTools};
use super::filters::{Filters, ToolFilter};
use super::row::tool_row;
use super::selection::Selection;
use crate::api::{in_project, with_query};
use crate::components::{LongList, Markup, Menu, RowMarkup, SectionHead, Toasts};
use crate::language::t;
use crate::paged::{Item, Paged, Status};
use crate::reactive::{When, condition, effect, part, text_memo};
use crate::routes::{Page, PageKind};
use crate::session::{Permission, Session};
use crate::url::project_in_path;
use crate::words::counted;

/// Tools that are read at once.
const PAGE: usize = 125;

/// What the list can be downloaded as.
const FORMATS: [(&str, &str); 3] = [("csv", "CSV"), ("yaml", "YAML"), ("jsonl", "JSON Lines")];

/// The tools of the project in the address.
#[component]
pub(crate) fn ToolsPage() -> impl IntoView {
    let project = project_in_path();
    let session = Session::get();
    let filter = ToolFilter::new();
    let path = text_memo(move || Page::of_project(project.get(), PageKind::Tools).path());
    let all = text_memo(move || in_project(&project.get(), &["tools"]));
    let matching = text_memo(move || filter.address(&project.get(), &[]));
    let list = Paged::sized(
        move || with_query(matching.get(), &[("view", "summary"), ("sort", filter.order())]),
        PAGE,
    );
    Toasts::get().on_undo(move || list.reload());
    let selection = Selection::new();
    let hidden = hidden();
    let may_read = condition(move || session.may(&project.get(), Permission::ReadDefinitions));
    let may_edit = condition(move || session.may(&project.get(), Permission::EditDefinitions));
    // Tools of another project are never shown, not even while the right ones are on their way.
    effect(move || {
        all.track();
        list.items.set(Vec::new());
        list.total.set(0);
    });
    // The selection covers what is shown: another filter clears it.
    effect(move || {
        matching.track();
        selection.clear();
    });
    // Only a list that is known to be empty needs no filters: nothing moves when the first page arrives.
    let is_filterable =
        condition(move || filter.is_set() || list.total.get() != 0 || list.status.get() != Status::Ready);
    let count = move || match list.status.get() {
        Status::Ready | Status::LoadingMore => told_count(list.total.get()),
        _ => String::new(),
    };
    let cells: RowMarkup = Arc::new(move |item: &Item, row: &mut Markup| {
        let is_selected = |name: &str| untrack(|| selection.has(name));
        let selected: Option<&dyn Fn(&str) -> bool> = may_edit.get_untracked().then_some(&is_selected);
        tool_row(
            &project.get_untracked(),
            item,
            &hidden.get_untracked(),
            selected,
            row,
        )
    });
    effect(move || selection.show());
    let select_shown = move |_| {
        let read = list.items.with_untracked(Vec::len);
        if untrack(|| selection.count(list.total.get())) >= read {
            selection.clear();
        } else {
            list.items.with_untracked(|items| {
                selection.add(items.iter().filter_map(Item::read::<Tool>).map(|tool| tool.name));
            });
        }
    };
    let lead = move || {
        may_edit.get().then(|| {
            view! {
                <input
                    type="checkbox"
                    class="select-row"
                    aria-label=t("Select all tools that are listed")
                    prop:checked=move || {
                        let read = list.items.with(Vec::len);
                        read != 0 && selection.count(list.total.get()) >= read
                    }
                    on:change=select_shown
                />
            }
        })
    };
    let empty = move || {
        if filter.is_set() {
            view! { <NoMatch q=filter.q().get_untracked() all=path /> }.into_any()
        } else {
            view! { <NoTools project=project.get_untracked() /> }.into_any()
        }
    };
    let exports = move || {
        FORMATS
            .iter()
            .filter(|(format, _)| *format != "yaml" || may_read.get())
            .map(|(format, title)| {
                let href = filter.address(&project.get(), &[("format", format)]);
                view! {
                    <a class="menu-item" rel="external" download href=href>
                        {*title}
                    </a>
                }
            })
            .collect::<Vec<_>>()
    };
    // `x` on the link of a row selects it.
    let on_key = move |event: ev::KeyboardEvent| {
        if event.key() == "x"
            && !event.ctrl_key()
            && !event.meta_key()
            && may_edit.get_untracked()
            && let Some(name) = told_by(&event, "data-row")
        {
            selection.toggle(&name);
        }
    };
    let on_change = move |event: ev::Event| {
        if let Some(name) = told_by(&event, "data-select") {
            selection.toggle(&name);
        }
    };
    view! {
        <SectionHead section=PageKind::Tools text=t("What agents may call, as far as groups and state permit.")>
            <p class="count" role="status">
                {count}
            </p>
            <When test=move || is_filterable.get()>
                <ColumnMenu hidden />
                <Menu id="tool-export" name=t("Export") face=|| t("Export") class="menu-end">
                    <div class="menu-section">{part(move || exports().into_any())}</div>
                </Menu>
            </When>
            <When test=move || may_edit.get()>
                <a class="button" href=move || Page::of_project(project.get(), PageKind::NewImport).path()>
                    {t("Import")}
                </a>
                <a class="button button-primary" href=move || Page::of_project(project.get(), PageKind::NewTool).path()>
                    {t("New tool")}
                </a>
            </When>
        </SectionHead>
        <When test=move || is_filterable.get()>
            <Filters filter />
        </When>
        <When test=move || filter.has_unknown()>
            <p class="note filters">{t("The address names an unknown order or filter; it is ignored.")}</p>
        </When>
        <div on:keydown=on_key on:change=on_change>
            <LongList
                list
                what=t("tools")
                columns=Signal::derive(move || shown(hidden))
                sort=filter.sort
                lead
                cells
                empty
            />
        </div>
        <Bulk project filter list selection />
    }
}

/// What an attribute of the element says that something happened in.
fn told_by(event: &web_sys::Event, attribute: &str) -> Option<String> {
    let element = event.target()?.dyn_into::<web_sys::Element>().ok()?;
    element.get_attribute(attribute)
}

fn told_count(count: usize) -> String {
    match count {
        0 => String::new(),
        _ => counted(count, "tool"),
    }
}

#[cfg(test)]
mod tests {
    use super::told_count;

    #[test]
    fn tells_how_many_there_are() {
        assert_eq!(told_count(0), "");
        assert_eq!(told_count(1), "1 tool");
        assert_eq!(told_count(12), "12 tools");
    }
}
