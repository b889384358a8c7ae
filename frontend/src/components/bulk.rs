//! Doing one thing to several rows of a list: choosing them, a question, one request each, and what came of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use leptos::prelude::*;
use leptos::task::spawn_local;

use super::{Confirm, Toasts};
use crate::action::Action;
use crate::api::{ApiError, Ask};
use crate::language::{t, tf};
use crate::paged::{Item, Paged};
use crate::reactive::{When, condition};
use crate::words::counted;

/// The id and the name of a row.
type Named = (String, String);

/// Names a row; nothing for one to which it cannot be done.
type NameOf = dyn Fn(&Item) -> Option<Named> + Send + Sync;

/// What can be done to several rows.
#[derive(Clone)]
pub(crate) struct Deed {
    /// The verb of the button, for example `Revoke`.
    pub(crate) verb: &'static str,
    /// One of the rows, for example `key`.
    pub(crate) one: &'static str,
    /// What it means, in a sentence or two.
    pub(crate) means: &'static str,
    /// Which rows, and their names.
    pub(crate) of: Arc<NameOf>,
    /// The request for an id.
    pub(crate) ask: Arc<dyn Fn(&str) -> Ask + Send + Sync>,
}

/// The rows that are chosen: their ids and names.
#[derive(Clone, Copy)]
pub(crate) struct Chosen(RwSignal<BTreeMap<String, String>>);

impl Chosen {
    pub(super) fn new() -> Self {
        Self(RwSignal::new(BTreeMap::new()))
    }

    /// Whether no row is chosen, reactively.
    pub(super) fn is_empty(self) -> bool {
        self.0.with(BTreeMap::is_empty)
    }

    /// The box of a row that chooses it.
    pub(super) fn check(self, id: String, name: String) -> AnyView {
        let label = tf!("Select {name}", name);
        let here = id.clone();
        view! {
            <input
                type="checkbox"
                aria-label=label
                prop:checked=move || self.0.with(|chosen| chosen.contains_key(&here))
                on:change=move |event| {
                    let is_chosen = event_target_checked(&event);
                    self.0.update(|chosen| {
                        if is_chosen {
                            chosen.insert(id.clone(), name.clone());
                        } else {
                            chosen.remove(&id);
                        }
                    });
                }
            />
        }
        .into_any()
    }

    /// The box that chooses every row that is shown.
    pub(super) fn check_all(self, list: Paged, deed: &Deed) -> AnyView {
        let of = Arc::clone(&deed.of);
        view! {
            <input
                type="checkbox"
                aria-label=t("Select all that are shown")
                prop:checked=move || {
                    let count = list.items.with(|items| items.iter().filter_map(|item| of(item)).count());
                    count > 0 && self.0.with(BTreeMap::len) == count
                }
                on:change={
                    let of = Arc::clone(&deed.of);
                    move |event| {
                        let all = list.items.with_untracked(|items| items.iter().filter_map(|item| of(item)).collect());
                        self.0.set(if event_target_checked(&event) { all } else { BTreeMap::new() });
                    }
                }
            />
        }
        .into_any()
    }
}

/// The bar that is shown while rows are chosen.
#[component]
pub(crate) fn BulkBar(
    /// The list.
    list: Paged,
    /// What is done.
    deed: Deed,
    /// To which rows.
    chosen: Chosen,
) -> impl IntoView {
    let asking = RwSignal::new(false);
    let action = Action::new();
    let toasts = Toasts::get();
    let count = Memo::new(move |_| chosen.0.with(BTreeMap::len));
    let has_some = condition(move || count.get() > 0);
    let Deed {
        verb,
        one,
        means,
        ask,
        ..
    } = deed;
    let carry_out = move |()| {
        let rows = chosen.0.get_untracked();
        let ask = Arc::clone(&ask);
        action.busy.set(true);
        spawn_local(async move {
            let mut failed: Vec<(String, String, ApiError)> = Vec::new();
            let all = rows.len();
            for (id, name) in rows {
                if let Err(error) = ask(&id).send().await {
                    failed.push((id, name, error));
                }
            }
            // The page may be gone.
            if action.busy.try_set(false).is_some() {
                return;
            }
            let done = all - failed.len();
            asking.set(false);
            list.reload();
            let left = failed.iter().map(|(id, name, _)| (id.clone(), name.clone()));
            chosen.0.set(left.collect());
            match failed.first() {
                Some((_, name, error)) => {
                    let text = tf!(
                        "{verb}: {done} of {count} done; {name} was not",
                        verb,
                        done,
                        count = counted(all, one),
                        name,
                    );
                    toasts.failed(&text, error);
                }
                None => toasts.done(tf!("{verb}: {count} done.", verb, count = counted(done, one))),
            }
        });
    };
    view! {
        <When test=has_some>
            <div class="selection-bar row row-spread" role="status">
                <span>{move || tf!("{count} selected", count = counted(count.get(), one))}</span>
                <span class="row">
                    <button type="button" class="button button-quiet" on:click=move |_| chosen.0.set(BTreeMap::new())>
                        {t("Clear the selection")}
                    </button>
                    <button type="button" class="button button-danger" on:click=move |_| asking.set(true)>
                        {verb}
                    </button>
                </span>
            </div>
        </When>
        <Confirm
            open=asking
            title=Signal::derive(move || tf!("{verb} {count}?", verb, count = counted(count.get(), one)))
            verb=Signal::derive(move || tf!("{verb} {count}", verb, count = counted(count.get(), one)))
            action
            on_confirm=carry_out
        >
            <p>{means}</p>
            <ul class="list">
                {move || {
                    chosen.0.with(|chosen| chosen.values().map(|name| view! { <li>{name.clone()}</li> }).collect::<Vec<_>>())
                }}
            </ul>
        </Confirm>
    }
}
