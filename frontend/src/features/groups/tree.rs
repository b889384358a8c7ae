//! The groups by their hierarchy.

use std::collections::BTreeSet;

use leptos::prelude::*;
use toolgate_api::groups::{Group, GroupPage};

use super::cost::{cost, legend};
use crate::browser::encode;
use crate::components::{Badge, EmptyState, Icon, Symbol, TimeAgo, Tone, table};
use crate::language::{marked, t, tf};
use crate::loaded::Loaded;
use crate::reactive::part;
use crate::routes::{Page, PageKind};
use crate::words::counted;

const COLUMNS: [&str; 6] = [
    marked("Group"),
    marked("Open"),
    marked("Tools"),
    marked("Tokens"),
    marked("Held by"),
    marked("Used"),
];

/// The tree as a table, each child below its parent.
#[component]
pub(super) fn Tree(
    /// The project's id.
    project: Memo<String>,
    /// The groups.
    list: Loaded,
    /// Shows one of them.
    open: Callback<String>,
) -> impl IntoView {
    let folded = RwSignal::new(BTreeSet::new());
    part(move || {
        let Some(mut page) = list.read::<GroupPage>() else {
            return ().into_any();
        };
        if page.items.is_empty() {
            return view! {
                <EmptyState
                    symbol=Symbol::Group
                    title=t("No groups")
                    text=t("A tool names the groups it belongs to; agents call only tools of groups they were granted.")
                />
            }
            .into_any();
        }
        // By whole names, `a-b` would be between `a` and `a/b`.
        page.items
            .sort_by(|one, other| one.name.split('/').cmp(other.name.split('/')));
        let cut = page.next_cursor.is_some();
        let rows: Vec<_> = page
            .items
            .into_iter()
            .map(|group| row(&project.get_untracked(), group, folded, open))
            .collect();
        view! {
            <div class="stack">
                {cut.then(|| view! { <p class="note">{t("The first 200 groups are shown; search to narrow them down.")}</p> })}
                {table(t("Groups"), &COLUMNS.map(t), rows)}
                {legend()}
            </div>
        }
        .into_any()
    })
}

/// The names of the groups above one, from the nearest.
fn above(name: &str) -> impl Iterator<Item = &str> {
    name.rmatch_indices('/').map(|(at, _)| &name[..at])
}

fn row(project: &str, group: Group, folded: RwSignal<BTreeSet<String>>, open: Callback<String>) -> AnyView {
    let depth = above(&group.name).count();
    let tools =
        Page::of_project(project.to_owned(), PageKind::Tools).path() + "?group=" + &encode(&group.name);
    let [name, below, hidden] = [(); 3].map(|()| group.name.clone());
    let is_hidden = move || folded.with(|folded| above(&hidden).any(|parent| folded.contains(parent)));
    let status = if group.open {
        view! { <span><Badge tone=Tone::Good text=t("open") /></span> }.into_any()
    } else {
        let why = group.closed_by.map(|by| by.reason);
        view! {
            <span>
                <Badge tone=Tone::Bad text=t("closed") />
                <span class="muted">" " {why}</span>
            </span>
        }
        .into_any()
    };
    let with_children = (group.tools_with_children > group.tools)
        .then(|| tf!(" ({count} with children)", count = group.tools_with_children));
    let fold = (!group.children.is_empty()).then(|| {
        let label = tf!("Children of {group}", group = below);
        let name = below.clone();
        let is_open = move || !folded.with(|folded| folded.contains(&below));
        view! {
            <button
                type="button"
                class="fold"
                aria-label=label
                aria-expanded=move || is_open().to_string()
                on:click=move |_| {
                    folded.update(|folded| {
                        if !folded.remove(&name) {
                            folded.insert(name.clone());
                        }
                    });
                }
            >
                <Icon symbol=Symbol::ChevronDown />
            </button>
        }
    });
    let usage = match group.usage {
        Some(usage) => view! {
            {tf!("{calls}, {refused} refused, ", calls = counted(usage.counts.calls, "call"), refused = usage.counts.denials)}
            <TimeAgo at=usage.last_at />
        }
        .into_any(),
        None => view! { <span class="muted">{t("Never")}</span> }.into_any(),
    };
    view! {
        <tr role="row" hidden=is_hidden>
            <th scope="row" role="rowheader">
                <span class=format!("tree-name depth-{}", depth.min(4))>
                    {fold}
                    <button type="button" class="fault-place" data-row="" on:click=move |_| open.run(name.clone())>
                        {group.name}
                    </button>
                    {(!group.declared).then(|| view! { <Badge text=t("not declared") /> })}
                </span>
                <span class="muted tool-description">{group.description}</span>
                {group.condition.map(|condition| view! { <code class="muted">{t("when ")} {condition}</code> })}
            </th>
            <td role="cell" data-label=t("Open")>{status}</td>
            <td role="cell" data-label=t("Tools")>
                <span>
                    <a href=tools>{group.tools}</a>
                    {with_children}
                </span>
            </td>
            <td role="cell" data-label=t("Tokens")>{cost(group.listed_tools, group.tokens)}</td>
            <td role="cell" data-label=t("Held by")>{group.holder_count}</td>
            <td role="cell" data-label=t("Used")>
                <span>{usage}</span>
            </td>
        </tr>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::above;

    #[test]
    fn parents_are_listed_from_the_nearest() {
        assert_eq!(above("a/b/c").collect::<Vec<_>>(), ["a/b", "a"]);
        assert_eq!(above("a").count(), 0);
    }
}
