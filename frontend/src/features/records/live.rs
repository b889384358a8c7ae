//! The record as it is written, above what was there before.

use std::sync::Arc;

use leptos::prelude::*;
use toolgate_api::audit::AuditRecord;

use super::columns::{Column, headings, row};
use super::tail::Tail;
use crate::components::{Badge, Icon, Symbol, Tone, table};
use crate::language::{t, tf};
use crate::paged::{Item, Paged};
use crate::reactive::{When, part};
use crate::url::UrlParam;

/// The button that begins to follow.
pub(super) fn follow(live: UrlParam) -> AnyView {
    button(Symbol::Play, t("Follow live"), move || live.push("1"))
}

/// The buttons while one follows.
pub(super) fn following(tail: Tail, live: UrlParam) -> AnyView {
    view! {
        {part(move || {
            if tail.paused.get() {
                button(Symbol::Play, t("Resume"), move || tail.resume())
            } else {
                button(Symbol::Pause, t("Pause"), move || tail.pause())
            }
        })}
        {button(Symbol::Close, t("Stop following"), move || live.push(""))}
    }
    .into_any()
}

fn button(symbol: Symbol, text: &'static str, press: impl Fn() + 'static) -> AnyView {
    view! {
        <button type="button" class="button" on:click=move |_| press()>
            <Icon symbol />
            {text}
        </button>
    }
    .into_any()
}

/// What came, newest first, and what the list had before.
#[component]
pub(super) fn LiveList(
    /// What comes.
    tail: Tail,
    /// What was there.
    list: Paged,
    /// The columns that are shown.
    columns: Vec<Column>,
    /// Shows one of them.
    open: Callback<String>,
) -> impl IntoView {
    let before = Memo::new(move |_| {
        let items = list.items.get();
        let read = items.iter().filter_map(Item::read::<AuditRecord>);
        read.map(Arc::new).collect::<Vec<_>>()
    });
    let records = move || {
        let mut all = tail.records.get();
        let came = all.len();
        before.with(|before| {
            for record in before {
                if all[..came].iter().all(|known| known.id != record.id) {
                    all.push(Arc::clone(record));
                }
            }
        });
        all
    };
    let status = move || {
        let (tone, text) = match (tail.paused.get(), tail.connected.get()) {
            (true, _) => (Tone::Accent, t("paused")),
            (false, true) => (Tone::Good, t("live")),
            (false, false) => (Tone::Note, t("connecting")),
        };
        view! { <Badge tone text /> }.into_any()
    };
    let words = move || {
        if tail.paused.get() {
            t("The list is paused; new records are held back.")
        } else {
            t("New records appear at the top.")
        }
    };
    let heads = headings(&columns);
    let rows = view! {
        <For
            each=records
            key=|record| (record.id, record.outcome)
            children=move |record| view! { <tr role="row">{row(record.as_ref().clone(), &columns, open)}</tr> }
        />
    };
    view! {
        <div class="stack-small">
            <div class="row">
                <p class="row" role="status">
                    {part(status)}
                    <span class="muted">{words}</span>
                </p>
                <When test=move || tail.news.get() != 0>
                    <button type="button" class="button button-small button-primary" on:click=move |_| tail.resume()>
                        {move || tf!("{count} new", count = tail.news.get())}
                    </button>
                </When>
            </div>
            {table(t("Records as they are written"), &heads, rows)}
        </div>
    }
}
