//! A list of any length as a table: only the rows in sight are on the page, and further pages are read as they come near.
//!
//! Rows have one height, which the style sheet sets; the space of the others is kept free above and below.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;

use super::{Cells, Icon, ProblemPanel, Skeleton, Symbol};
use crate::paged::{Item, Paged, Status};
use crate::reactive::{condition, effect, part};
use crate::url::UrlParam;

/// Rows that are ready above and below those in sight.
const SPARE: usize = 12;
/// The rows on the page change in steps of so many.
const STEP: usize = 6;
/// The height of a row until one was measured.
const GUESS: f64 = 60.0;

/// A column of a long list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Column {
    /// Its name in storage.
    pub(crate) key: &'static str,
    /// Its heading.
    pub(crate) title: &'static str,
    /// Its width, as a track of a CSS grid.
    pub(crate) width: &'static str,
    /// What the address says when the list is sorted by it.
    pub(crate) sort: Option<&'static str>,
}

/// The table.
#[component]
pub(crate) fn LongList(
    /// The list.
    list: Paged,
    /// What it lists, in the plural.
    what: &'static str,
    /// The columns that are shown.
    #[prop(into)]
    columns: Signal<Vec<Column>>,
    /// The parameter that says how it is sorted; by the first column when empty.
    sort: UrlParam,
    /// What stands before the heading of the first column.
    #[prop(into)]
    lead: ViewFn,
    /// Makes the cells of a row; the first is a row heading, and each names its column in `data-label`.
    cells: Cells,
    /// What stands in place of a list without items.
    #[prop(into)]
    empty: ViewFn,
) -> impl IntoView {
    let body = NodeRef::<html::Div>::new();
    let height = RwSignal::new(GUESS);
    // The first row on the page and the one behind the last.
    let range = RwSignal::new((0, 5 * STEP));
    let total = Memo::new(move |_| list.total.get().max(list.items.with(Vec::len)));
    let has_rows = condition(move || total.get() != 0);
    let is_busy = move || matches!(list.status.get(), Status::Loading);
    let measure = move || {
        if let Some(body) = body.try_get_untracked().flatten() {
            if let Some(row) = body.first_element_child() {
                let measured = row.get_bounding_client_rect().height();
                if measured > 1.0 && (measured - height.get_untracked()).abs() > 0.01 {
                    height.set(measured);
                }
            }
            let seen = in_sight(
                -body.get_bounding_client_rect().top(),
                window().inner_height().ok().and_then(|inner| inner.as_f64()),
                height.get_untracked(),
            );
            if seen != range.get_untracked() {
                range.set(seen);
            }
        }
    };
    for listener in [
        window_event_listener(ev::scroll, move |_| measure()),
        window_event_listener(ev::resize, move |_| measure()),
    ] {
        on_cleanup(move || listener.remove());
    }
    effect(move || {
        list.items.track();
        columns.track();
        request_animation_frame(measure);
    });
    effect(move || {
        let read = list.items.with(Vec::len);
        if range.get().1 > read && list.has_more() && list.status.get() == Status::Ready {
            list.more();
        }
    });
    let rows = move || -> Vec<(usize, Option<Item>)> {
        let (first, last) = range.get();
        let last = last.min(total.get());
        list.items
            .with(|items| (first.min(last)..last).map(|at| (at, items.get(at).cloned())).collect())
    };
    let space = move |rows: usize| {
        #[expect(clippy::cast_precision_loss, reason = "no list has 2^52 rows")]
        let rows = rows as f64;
        format!("{}px", rows * height.get())
    };
    let above = move || space(range.get().0.min(total.get()));
    let below = move || space(total.get().saturating_sub(range.get().1));
    let row = move |(at, item): (usize, Option<Item>)| {
        let content = match item {
            Some(item) => cells(&item),
            None => view! { <div role="cell" class="long-waiting"><span class="skeleton-bar"></span></div> }.into_any(),
        };
        view! {
            <div role="row" class="long-row" aria-rowindex=at + 2>
                {content}
            </div>
        }
        .into_any()
    };
    let tracks = move || {
        let widths = columns.with(|columns| columns.iter().map(|column| column.width).collect::<Vec<_>>());
        widths.join(" ")
    };
    let heads = part(move || {
        let head = |(at, column): (usize, Column)| {
            view! { <div role="columnheader" aria-sort=move || direction(sort, column)>
                {(at == 0).then(|| lead.run())}
                {sorter(sort, column)}
            </div> }
        };
        columns.get().into_iter().enumerate().map(head).collect::<Vec<_>>().into_any()
    });
    let body_rows = part(move || {
        // Other columns are other rows.
        columns.track();
        let key = |(at, item): &(usize, Option<Item>)| (*at, item.as_ref().map(|item| item.digest));
        view! { <For each=rows key=key children=row.clone() /> }.into_any()
    });
    view! {
        {move || match (list.status.get(), has_rows.get()) {
            (Status::Failed(error), _) => {
                view! {
                    <div class="long-problem">
                        <ProblemPanel error on_retry=move |()| list.retry() />
                    </div>
                }
                    .into_any()
            }
            (Status::Loading, false) => view! { <Skeleton what /> }.into_any(),
            (Status::Ready, false) => empty.run(),
            _ => ().into_any(),
        }}
        <div class="table-wrap" aria-busy=move || is_busy().to_string() hidden=move || !has_rows.get()>
            <div
                role="table"
                class="long table"
                aria-label=what
                aria-rowcount=move || total.get() + 1
                style:--tracks=tracks
                style:--lines=move || columns.with(Vec::len).to_string()
            >
                <div role="rowgroup" class="long-head">
                    <div role="row" class="long-row">
                        {heads}
                    </div>
                </div>
                <div role="rowgroup" class="long-body" node_ref=body style:padding-top=above style:padding-bottom=below>
                    {body_rows}
                </div>
            </div>
        </div>
    }
}

/// The rows to have ready when `above` pixels of the rows are above the window's upper edge.
fn in_sight(above: f64, inner: Option<f64>, height: f64) -> (usize, usize) {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "neither negative nor beyond the rows of a page"
    )]
    let whole = |pixels: f64| (pixels.max(0.0) / height) as usize;
    let first = whole(above).saturating_sub(SPARE) / STEP * STEP;
    (first, first + whole(inner.unwrap_or(1000.0)) + 2 * SPARE + STEP)
}

/// How a column is sorted, as `aria-sort` says it; nothing for one that cannot be.
fn direction(sort: UrlParam, column: Column) -> Option<&'static str> {
    let key = column.sort?;
    let now = sort.get();
    Some(if now == key || (now.is_empty() && key == "name") {
        "ascending"
    } else if now.strip_prefix('-') == Some(key) {
        "descending"
    } else {
        "none"
    })
}

/// The heading of a column, which sorts by it where that is possible.
fn sorter(sort: UrlParam, column: Column) -> AnyView {
    let Some(key) = column.sort else {
        return column.title.into_any();
    };
    let press = move |_| {
        let ascending = untrack(|| direction(sort, column)) == Some("ascending");
        sort.push(&if ascending { format!("-{key}") } else { key.to_owned() });
    };
    let mark = part(move || match direction(sort, column) {
        Some("ascending") => view! { <span class="sort-up"><Icon symbol=Symbol::ChevronDown /></span> }.into_any(),
        Some("descending") => view! { <Icon symbol=Symbol::ChevronDown /> }.into_any(),
        _ => ().into_any(),
    });
    view! {
        <button type="button" class="sorter" on:click=press>
            {column.title}
            {mark}
        </button>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::{SPARE, STEP, in_sight};

    #[test]
    fn only_what_is_near_is_on_the_page() {
        assert_eq!(in_sight(-200.0, Some(600.0), 60.0), (0, 10 + 2 * SPARE + STEP));
        let (first, last) = in_sight(60_000.0, Some(600.0), 60.0);
        assert!(first <= 1000 - SPARE && first > 1000 - SPARE - STEP, "{first}");
        assert!(last >= 1010 + SPARE, "{last}");
        assert_eq!(first % STEP, 0);
    }
}
