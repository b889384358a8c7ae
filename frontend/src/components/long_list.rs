//! A list of any length as a table: only the rows in sight are on the page, and further pages are read as they come near.
//!
//! Rows have one height, which the style sheet sets; the space of the others is kept free above and below.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;

use super::list::UNREADABLE;
use super::{Cells, Icon, ProblemPanel, Skeleton, Symbol};
use crate::browser::now_ms;
use crate::paged::{Item, Paged, Status};
use crate::reactive::{condition, effect, part};
use crate::url::UrlParam;

/// Rows that are ready above and below those in sight.
const SPARE: usize = 8;
/// The rows on the page change in steps of so many.
const STEP: usize = 2;
/// Rows that are made at once, as long as frames are of the length they should have; the rest waits for the next frame, so
/// that no task is long.
const AT_ONCE: std::ops::RangeInclusive<usize> = 1..=6;
/// Frames shorter than this have room for a row more, in milliseconds.
const SHORT: i64 = 20;
/// Frames longer than this have far too many rows.
const LONG: i64 = 36;
/// Rows that a list begins with: as many as most windows have room for.
const FIRST: usize = 15;
/// The height of a row until one was measured.
const GUESS: f64 = 64.0;

/// What a list is sorted by when the address says nothing.
const BY_NAME: &str = "name";

/// The first row and the one behind the last.
type Range = (usize, usize);

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
    /// The parameter that says how it is sorted; by name when empty.
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
    let range = RwSignal::new((0, FIRST));
    let total = Memo::new(move |_| list.total.get().max(list.items.with(Vec::len)));
    let has_rows = condition(move || total.get() != 0);
    let is_busy = move || matches!(list.status.get(), Status::Loading);
    let frame = StoredValue::new(None::<AnimationFrameRequestHandle>);
    // Rows before this are made as soon as they were read; what comes in later is made row by row, like what is scrolled to.
    let ready = RwSignal::new(FIRST);
    // How many rows a frame has room for, and when the last one that made rows began.
    let pace = StoredValue::new((2, 0));
    // Looks where the window stands, once a frame, until all rows that are wanted are there.
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
    effect(move || {
        list.items.track();
        columns.track();
        range.track();
        ready.track();
        measure();
    });
    effect(move || {
        let read = list.items.with(Vec::len);
        if range.get().1 > read && list.has_more() && list.status.get() == Status::Ready {
            list.more();
        }
    });
    let rows = move || -> Vec<(usize, Option<Item>)> {
        let (first, last) = range.get();
        let rows = first..last.min(total.get());
        let ready = ready.get();
        let item = |items: &Vec<Item>, at| items.get(at).filter(|_| at < ready).cloned();
        list.items
            .with(|items| rows.map(|at| (at, item(items, at))).collect())
    };
    let row = move |(at, item): (usize, Option<Item>)| {
        let content = match item {
            Some(item) => cells(&item).unwrap_or_else(|| {
                view! { <div role="cell" class="long-waiting muted">{UNREADABLE}</div> }.into_any()
            }),
            None => view! { <div role="cell" class="long-waiting"><span class="skeleton-bar"></span></div> }
                .into_any(),
        };
        view! {
            <div role="row" class="long-row" aria-rowindex=at + 2 style:top=format!("calc({at} * var(--row))")>
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
        columns
            .get()
            .into_iter()
            .enumerate()
            .map(head)
            .collect::<Vec<_>>()
            .into_any()
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
                style:--total=move || total.get().to_string()
            >
                <div role="rowgroup" class="long-head">
                    <div role="row" class="long-row">
                        {heads}
                    </div>
                </div>
                <div role="rowgroup" class="long-body" node_ref=body>
                    {body_rows}
                </div>
            </div>
        </div>
    }
}

/// The rows to have ready of so many, when `above` pixels of them are above the window's upper edge, and the first in sight.
fn in_sight(above: f64, inner: f64, height: f64, total: usize) -> (Range, usize) {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "neither negative nor beyond the rows of a page"
    )]
    let whole = |pixels: f64| (pixels.max(0.0) / height) as usize;
    let seen = whole(above);
    let first = seen.saturating_sub(SPARE) / STEP * STEP;
    let last = first + whole(inner) + 2 * SPARE + STEP;
    ((first.min(total), last.min(total)), seen.min(total))
}

/// How many rows the next frame has room for, when the last one took so many milliseconds.
fn paced(at_once: usize, took: i64) -> usize {
    let next = match took {
        ..SHORT => at_once + 1,
        SHORT..=LONG => at_once,
        // After a pause nothing is known.
        1000.. => return at_once,
        _ => at_once / 2,
    };
    next.clamp(*AT_ONCE.start(), *AT_ONCE.end())
}

/// The next step from the rows that are there to those that are wanted: what is there stays, and a few are added, from the
/// first in sight on when nothing is there.
fn toward(now: Range, wanted: Range, seen: usize, at_once: usize) -> Range {
    let (mut first, mut last) = (now.0.max(wanted.0), now.1.min(wanted.1));
    if first >= last {
        (first, last) = (seen, seen);
    }
    let below = (wanted.1 - last).min(at_once);
    let above = (first - wanted.0).min(at_once - below);
    (first - above, last + below)
}

/// Where the rows end that may be made in the next frame, of those that were read: no more than so many are new in the range.
fn made_until(ready: usize, range: Range, read: usize, at_once: usize) -> usize {
    let last = range.1.min(read);
    if ready >= last {
        ready
    } else {
        (ready.max(range.0) + at_once).min(last)
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
        return column.title.into_any();
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
            {column.title}
            {mark}
        </button>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::{AT_ONCE, LONG, SHORT, SPARE, STEP, in_sight, made_until, paced, toward};

    #[test]
    fn only_what_is_near_is_wanted() {
        assert_eq!(
            in_sight(-200.0, 600.0, 60.0, 10_000),
            ((0, 10 + 2 * SPARE + STEP), 0)
        );
        let ((first, last), seen) = in_sight(60_000.0, 600.0, 60.0, 10_000);
        assert!(first <= 1000 - SPARE && first > 1000 - SPARE - STEP, "{first}");
        assert!(last >= 1010 + SPARE, "{last}");
        assert_eq!((first % STEP, seen), (0, 1000));
        assert_eq!(in_sight(0.0, 600.0, 60.0, 3), ((0, 3), 0));
        assert_eq!(in_sight(60_000.0, 600.0, 60.0, 3), ((3, 3), 3));
    }

    #[test]
    fn what_was_read_is_made_row_by_row() {
        // Nothing was read yet, or everything is made.
        assert_eq!(made_until(15, (0, 30), 0, 3), 15);
        assert_eq!(made_until(30, (0, 30), 200, 3), 30);
        assert_eq!(made_until(40, (0, 30), 200, 3), 40);
        // Rows that were waiting, at the place that is seen.
        assert_eq!(made_until(15, (0, 30), 200, 3), 18);
        assert_eq!(made_until(15, (100, 130), 200, 3), 103);
        assert_eq!(made_until(103, (100, 130), 104, 3), 104);
    }

    #[test]
    fn slow_frames_get_fewer_rows() {
        let (least, most) = AT_ONCE.into_inner();
        assert_eq!(paced(3, SHORT - 1), 4);
        assert_eq!(paced(3, SHORT), 3);
        assert_eq!(paced(3, LONG), 3);
        assert_eq!(paced(4, LONG + 1), 2);
        assert_eq!(paced(3, i64::MAX), 3);
        assert_eq!((paced(least, LONG + 1), paced(most, 0)), (least, most));
    }

    #[test]
    fn what_is_wanted_is_reached_in_small_steps() {
        for (start, wanted, seen) in [
            ((0, 30), (0, 30), 0),
            ((0, 0), (0, 30), 0),
            ((0, 30), (4, 34), 12),
            ((0, 30), (500, 540), 508),
            ((500, 540), (0, 3), 0),
        ] {
            let (mut now, mut steps) = (start, 0);
            while now != wanted {
                let next = toward(now, wanted, seen, 3);
                let kept = now.1.min(next.1).saturating_sub(now.0.max(next.0));
                assert!(next.1 - next.0 - kept <= 3, "{now:?} to {next:?}");
                assert!(next.0 <= seen && seen < next.1, "{now:?} to {next:?}");
                assert_ne!(next, now);
                (now, steps) = (next, steps + 1);
                assert!(steps < 30);
            }
        }
    }
}
