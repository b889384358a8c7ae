//! A list of the API as a table: waiting, failed, empty, rows, and more of them.
//!
//! On narrow screens the style sheet turns each row into a card, so the roles are written out: browsers drop a table's
//! meaning when its display changes.

use std::sync::Arc;

use leptos::prelude::*;

use super::bulk::{Chosen, Deed};
use super::{ProblemPanel, Skeleton, after_paint};
use crate::browser;
use crate::language::{marked, t, tf};
use crate::paged::{Item, Paged, Status};
use crate::rare_parts::rare_part;
use crate::reactive::{When, condition, part};
use crate::url::UrlParam;

/// Makes the cells of one row; none when the item does not fit the contract.
pub(crate) type Cells = Arc<dyn Fn(&Item) -> Option<AnyView> + Send + Sync>;

/// What a row says that cannot be shown, instead of staying blank.
pub(super) const UNREADABLE: &str =
    marked("This entry cannot be shown: the page is older than the server. Reload it.");

/// The parameter of the address with the id of the item that is marked: what a link is about.
pub(crate) const SHOWN: &str = "show";

/// The table of a list.
#[component]
pub(crate) fn List(
    /// The list.
    list: Paged,
    /// What it lists, in the plural.
    what: &'static str,
    /// The headings of the columns.
    #[prop(into)]
    columns: Vec<&'static str>,
    /// Makes the cells of a row; the first is a row heading, and each names its column in `data-label`.
    cells: Cells,
    /// What can be done to several rows at once.
    #[prop(optional, into)]
    bulk: Option<Deed>,
    /// Whether the page offers the whole list as a file already.
    #[prop(optional)]
    is_exported: bool,
    /// What is shown in place of a list without items.
    #[prop(into)]
    empty: ViewFn,
) -> impl IntoView {
    let is_busy = move || matches!(list.status.get(), Status::Loading | Status::LoadingMore);
    let has_rows = condition(move || !list.is_empty());
    let heads = columns
        .iter()
        .map(|title| view! { <th scope="col" role="columnheader">{*title}</th> })
        .collect::<Vec<_>>();
    let width = columns.len();
    let chosen = Chosen::new();
    let exporting = RwSignal::new(false);
    // The button is here; what it does is loaded when it is pressed.
    let csv = move || {
        part(move || match exporting.get() {
            true => rare_part(None, move |parts| (parts.list_csv)(list, what)),
            false => view! {
                <button
                    type="button"
                    class="button button-quiet button-small"
                    aria-label=tf!("CSV of all {what}", what)
                    on:click=move |_| exporting.set(true)
                >
                    {t("CSV")}
                </button>
            }
            .into_any(),
        })
    };
    let shown = UrlParam::new(SHOWN).signal();
    let checks = bulk.clone();
    let row = move |item: Item| {
        let cells = cells(&item).unwrap_or_else(|| {
            view! { <td role="cell" colspan=width class="muted">{t(UNREADABLE)}</td> }.into_any()
        });
        let check = checks.as_ref().map(|deed| {
            let check = (deed.of)(&item).map(|(id, name)| chosen.check(id, name));
            view! {
                <td role="cell" class="list-check" data-label=t("Select")>
                    {check}
                </td>
            }
        });
        let is_shown = shown.with_untracked(|id| item.has_id(id));
        if is_shown {
            after_paint(|| browser::show("shown"));
        }
        view! {
            <tr role="row" id=is_shown.then_some("shown") aria-current=is_shown.then_some("true")>
                {check} {cells}
            </tr>
        }
    };
    let has_chosen = condition(move || !chosen.is_empty());
    let was_chosen =
        Memo::new(move |before: Option<&bool>| has_chosen.get() || before.is_some_and(|before| *before));
    let bar = bulk.clone().map(|deed| {
        part(move || match was_chosen.get() {
            true => {
                let deed = deed.clone();
                rare_part(None, move |parts| (parts.bulk)(list, deed.clone(), chosen))
            }
            false => ().into_any(),
        })
    });
    let check_all = bulk.map(|deed| {
        view! {
            <th scope="col" role="columnheader" class="list-check">
                {chosen.check_all(list, &deed)}
            </th>
        }
    });
    view! {
        {move || match (list.status.get(), has_rows.get()) {
            (Status::Failed(error), _) => {
                view! { <ProblemPanel error on_retry=move |()| list.retry() /> }.into_any()
            }
            (Status::Loading, false) => view! { <Skeleton what /> }.into_any(),
            (Status::Ready, false) => empty.run(),
            _ => ().into_any(),
        }}
        {bar}
        <div class="table-wrap" aria-busy=move || is_busy().to_string() hidden=move || !has_rows.get()>
            <table class="table" role="table">
                <caption class="visually-hidden">{what}</caption>
                <thead role="rowgroup">
                    <tr role="row">{check_all} {heads}</tr>
                </thead>
                <tbody role="rowgroup">
                    <For each=move || list.items.get() key=|item| item.digest children=row />
                </tbody>
            </table>
        </div>
        <When test=move || has_rows.get() && !is_exported>
            <p class="list-foot">{csv()}</p>
        </When>
        <When test=move || list.has_more()>
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
                    {move || if is_busy() { t("Loading…").to_owned() } else { tf!("Show more {what}", what) }}
                </button>
            </p>
        </When>
    }
}
