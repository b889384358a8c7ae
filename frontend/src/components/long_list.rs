//! A list of any length as a table: only the rows in sight are on the page, and further pages are read as they come near.
//!
//! Rows have one height, which the style sheet sets; the space of the others is kept free above and below. They are made
//! of markup, and their maker listens to what happens in them: a listener for each would take longer than the row.

mod column;
mod reach;
mod rows;

use leptos::ev;
use leptos::html;
use leptos::prelude::*;

use self::reach::{in_sight, made_until, paced, toward};
use self::rows::Rows;
use super::{Icon, ProblemPanel, Skeleton, Symbol};
use crate::browser::now_ms;
use crate::language::t;
use crate::paged::{Paged, Status};
use crate::reactive::{condition, effect, part};
use crate::url::UrlParam;

pub(crate) use self::column::Column;
pub(crate) use self::rows::RowMarkup;

/// Rows that a list begins with: as many as most windows have room for.
const FIRST: usize = 15;
/// The height of a row until one was measured.
const GUESS: f64 = 64.0;

/// What a list is sorted by when the address says nothing.
const BY_NAME: &str = "name";

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
    /// The parameter that says how it is sorted; by name when empty.
    sort: UrlParam,
    /// What is before the heading of the first column.
    #[prop(into)]
    lead: ViewFn,
    /// Makes the cells of a row; the first is a row heading, and each names its column in `data-label`.
    cells: RowMarkup,
    /// What is shown in place of a list without items.
    #[prop(into)]
    empty: ViewFn,
) -> impl IntoView {
    let body = NodeRef::<html::Div>::new();
    let range = RwSignal::new((0, FIRST));
    let total = Memo::new(move |_| list.total.get().max(list.items.with(Vec::len)));
    let has_rows = condition(move || total.get() != 0);
    let is_busy = move || matches!(list.status.get(), Status::Loading);
    let frame = StoredValue::new(None::<AnimationFrameRequestHandle>);
    // Rows before this are made as soon as they were read; what comes in later is made row by row, like what is scrolled to.
    let ready = RwSignal::new(FIRST);
    // How many rows a frame has room for, and when the last one that made rows began.
    let pace = StoredValue::new((2, 0));
    // Looks where the window is, once a frame, until all rows that are wanted are there.
    let look = Callback::new(move |()| {
        frame.set_value(None);
        let Some(body) = body.get_untracked() else {
            return;
        };
        let row = body
            .first_element_child()
            .map(|row| row.get_bounding_client_rect().height());
        let inner = window().inner_height().ok().and_then(|inner| inner.as_f64());
        let total = total.get_untracked();
        if total == 0 {
            return;
        }
        let (wanted, seen) = in_sight(
            -body.get_bounding_client_rect().top(),
            inner.unwrap_or(1000.0),
            row.filter(|height| *height > 1.0).unwrap_or(GUESS),
            total,
        );
        let now = range.get_untracked();
        let (at_once, before) = pace.get_value();
        let read = list.items.with_untracked(Vec::len);
        let next = toward(now, wanted, seen, at_once);
        let next_ready = made_until(ready.get_untracked(), next, read, at_once);
        let began = now_ms();
        if next == now && next_ready == ready.get_untracked() {
            pace.set_value((at_once, 0));
        } else {
            pace.set_value((paced(at_once, began - before), began));
            if next != now {
                range.set(next);
            }
            if next_ready != ready.get_untracked() {
                ready.set(next_ready);
            }
        }
    });
    let measure = move || {
        if frame.try_with_value(Option::is_none) == Some(true) {
            let again = request_animation_frame_with_handle(move || {
                look.try_run(());
            });
            frame.set_value(again.ok());
        }
    };
    for listener in [
        window_event_listener(ev::scroll, move |_| measure()),
        window_event_listener(ev::resize, move |_| measure()),
    ] {
        on_cleanup(move || listener.remove());
    }
    let rows = StoredValue::new(Rows::default());
    effect(move || {
        let (first, last) = range.get();
        let (last, ready) = (last.min(total.get()), ready.get());
        let columns = columns.get();
        let Some(body) = body.get() else {
            return;
        };
        list.items.with(|items| {
            let item = |at: usize| items.get(at).filter(|_| at < ready);
            let wanted: Vec<_> = (first..last).map(item).collect();
            untrack(|| rows.update_value(|rows| rows.show(&body, first, &wanted, columns, &cells)));
        });
        measure();
    });
    effect(move || {
        let read = list.items.with(Vec::len);
        if range.get().1 > read && list.has_more() && list.status.get() == Status::Ready {
            list.more();
        }
    });
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
        columns
            .get()
            .into_iter()
            .enumerate()
            .map(head)
            .collect::<Vec<_>>()
            .into_any()
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
                style:--total=move || total.get().to_string()
            >
                <div role="rowgroup" class="long-head">
                    <div role="row" class="long-row">
                        {heads}
                    </div>
                </div>
                <div role="rowgroup" class="long-body" node_ref=body></div>
            </div>
        </div>
    }
}

/// How a column is sorted, as `aria-sort` says it; nothing for one that cannot be.
fn direction(sort: UrlParam, column: Column) -> Option<&'static str> {
    let key = column.sort?;
    let now = sort.get();
    Some(if now == key || (now.is_empty() && key == BY_NAME) {
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
        return t(column.title).into_any();
    };
    let press = move |_| {
        let ascending = untrack(|| direction(sort, column)) == Some("ascending");
        let next = match (ascending, key) {
            (true, _) => format!("-{key}"),
            (false, BY_NAME) => String::new(),
            (false, _) => key.to_owned(),
        };
        sort.push(&next);
    };
    let mark = part(move || match direction(sort, column) {
        Some("ascending") => {
            view! { <span class="sort-up"><Icon symbol=Symbol::ChevronDown /></span> }.into_any()
        }
        Some("descending") => view! { <Icon symbol=Symbol::ChevronDown /> }.into_any(),
        _ => ().into_any(),
    });
    view! {
        <button type="button" class="sorter" on:click=press>
            {t(column.title)}
            {mark}
        </button>
    }
    .into_any()
}
