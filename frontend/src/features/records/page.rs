//! The page of the record.

use leptos::prelude::*;

use super::choose::Columns;
use super::columns::{PAGE, cells, headings};
use super::detail::RecordDetail;
use super::filters::{Filters, RecordFilter};
use super::integrity::Integrity;
use super::live::{LiveList, follow, following};
use super::scope::Scope;
use super::tail::Tail;
use super::views::Views;
use crate::api::in_project;
use crate::components::{EmptyState, List, SectionHead, Symbol};
use crate::language::t;
use crate::paged::Paged;
use crate::reactive::part;
use crate::routes::PageKind;
use crate::url::{UrlParam, project_in_path};

/// Every decision and call, newest first, or as they happen.
#[component]
pub(crate) fn RecordsPage() -> impl IntoView {
    let project = project_in_path();
    let scope = Scope::Project(project);
    let filter = RecordFilter::new();
    let live = UrlParam::new("live");
    let chosen = UrlParam::new("record");
    let is_live = Signal::derive(move || live.get() == "1");
    let list = Paged::sized(move || filter.address(scope.list()), PAGE);
    let tail = Tail::new(
        is_live,
        Memo::new(move |_| filter.address(in_project(&project.get(), &["audit", "stream"]))),
    );
    // What came before the stream was connected is in the list, and so is all of it once one no longer follows.
    Effect::new(move |before: Option<(bool, bool)>| {
        let now = (is_live.get(), tail.connected.get());
        let began = |before: (bool, bool)| !before.1 && now.1 && !tail.paused.get_untracked();
        if before.is_some_and(|before| began(before) || (before.0 && !now.0)) {
            list.reload();
        }
        now
    });
    let open = Callback::new(move |id: String| chosen.push(&id));
    let columns = Columns::new();
    let export = move |format: &str| {
        let address = filter.address(in_project(&project.get(), &["audit", "export"]));
        let join = if address.contains('?') { '&' } else { '?' };
        format!("{address}{join}format={format}")
    };
    let empty = move || {
        view! {
            <EmptyState
                symbol=Symbol::Record
                title=t("Nothing recorded")
                text=t("Every call and every refusal appears here, as soon as the first one is made. With filters, only what matches them.")
            />
        }
    };
    view! {
        <SectionHead section=PageKind::Records text=t("Every decision and every call, allowed or not, in a chain that shows tampering.")>
            {part(move || if is_live.get() { following(tail, live) } else { follow(live) })}
            <Views project filter columns />
            {columns.menu()}
            <a class="button" rel="external" download href=move || export("jsonl")>
                {t("Export JSONL")}
            </a>
            <a class="button" rel="external" download href=move || export("csv")>
                {t("Export CSV")}
            </a>
        </SectionHead>
        <Integrity project />
        <Filters filter scope />
        {move || {
            let columns = columns.shown();
            if is_live.get() {
                view! { <LiveList tail list columns open /> }.into_any()
            } else {
                let heads = headings(&columns);
                view! { <List list what=t("records") columns=heads cells=cells(columns, open) is_exported=true empty /> }
                    .into_any()
            }
        }}
        <RecordDetail scope chosen />
    }
}
