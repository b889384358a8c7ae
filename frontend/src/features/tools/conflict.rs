//! Another edit was saved meanwhile: what it changed, what you changed, and both together where that is possible.

use leptos::prelude::*;
use serde_json::Value;

use super::merge::{diff, merge};
use crate::api::Answer;
use crate::components::Diff;
use crate::language::{t, tf};

/// The two changes of one definition.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Conflict {
    /// What both began from.
    pub(super) base: String,
    /// The definition as this person wants it.
    pub(super) mine: String,
    /// The definition as it is stored now.
    pub(super) theirs: Answer,
    /// The newest revision, as the API describes it.
    pub(super) newest: Value,
}

/// What to do about it.
#[derive(Clone, Copy)]
pub(super) struct Ways {
    /// Goes on with this text, on top of theirs.
    pub(super) take: Callback<String>,
    /// Saves mine, on top of theirs.
    pub(super) save_mine: Callback<()>,
}

/// The three views and the three ways on.
pub(super) fn conflict_view(conflict: Conflict, ways: Ways) -> AnyView {
    let Conflict {
        base,
        mine,
        theirs,
        newest,
    } = conflict;
    let author = newest["author"].as_str().unwrap_or(t("Another user")).to_owned();
    let note = newest["note"]
        .as_str()
        .map(|note| tf!(" Their note: “{note}”.", note));
    let summary = tf!(
        "{author} saved revision {revision} while you were editing.",
        author,
        revision = newest["revision"]
    );
    let theirs = theirs.text;
    let merged = merge(&base, &mine, &theirs);
    let together = match &merged {
        Some(merged) => {
            let text = diff(&theirs, merged);
            view! { <Diff text /> }.into_any()
        }
        None => view! { <p class="muted">{t("Both change the same lines in different ways, so you have to choose.")}</p> }
            .into_any(),
    };
    let section = |title: &'static str, content: AnyView| {
        view! {
            <details class="panel" open>
                <summary>{title}</summary>
                {content}
            </details>
        }
        .into_any()
    };
    let use_both = merged.map(|merged| {
        view! {
            <button type="button" class="button button-primary" on:click=move |_| ways.take.run(merged.clone())>
                {t("Use both together")}
            </button>
        }
    });
    let (they, you) = (diff(&base, &theirs), diff(&base, &mine));
    view! {
        <section class="stack" aria-label=t("Conflict")>
            <p class="note">
                <strong>{summary}</strong>
                {note}
                {t(" Nothing was saved; your draft is kept.")}
            </p>
            <div class="row">
                {use_both}
                <button type="button" class="button" on:click=move |_| ways.save_mine.run(())>
                    {t("Save mine on top")}
                </button>
                <button type="button" class="button" on:click=move |_| ways.take.run(theirs.clone())>
                    {t("Take theirs")}
                </button>
            </div>
            {section(t("What they changed"), view! { <Diff text=they /> }.into_any())}
            {section(t("What you changed"), view! { <Diff text=you /> }.into_any())}
            {section(t("Both together, compared with theirs"), together)}
        </section>
    }
    .into_any()
}
