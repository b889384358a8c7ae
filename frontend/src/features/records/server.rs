//! The page of the server's own record.

use leptos::prelude::*;

use super::columns::{OF_SERVER, PAGE, cells, headings, named};
use super::detail::RecordDetail;
use super::filters::{Filters, RecordFilter};
use super::scope::Scope;
use crate::components::{EmptyState, List, SectionHead, Symbol};
use crate::language::t;
use crate::paged::Paged;
use crate::routes::PageKind;
use crate::url::UrlParam;

/// What concerns no single project, newest first.
#[component]
pub(crate) fn ServerRecordsPage() -> impl IntoView {
    let filter = RecordFilter::new();
    let chosen = UrlParam::new("record");
    let scope = Scope::Server;
    let list = Paged::sized(move || filter.address(scope.list()), PAGE);
    let columns = named(OF_SERVER);
    let heads = headings(&columns);
    let cells = cells(columns, Callback::new(move |id: String| chosen.push(&id)));
    let empty = || {
        view! {
            <EmptyState
                symbol=Symbol::Record
                title=t("Nothing recorded")
                text=t("Changes of users, projects and server settings appear here. With filters, only what matches them.")
            />
        }
    };
    view! {
        <SectionHead
            section=PageKind::ServerRecords
            text=t("Changes that belong to no single project: users, passwords, projects, and the settings of the server.")
        />
        <Filters filter scope />
        <List list what=t("records") columns=heads cells empty />
        <RecordDetail scope chosen />
    }
}
