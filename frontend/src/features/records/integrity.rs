//! Whether the record is as it was written.

use leptos::prelude::*;
use toolgate_api::audit::{AuditIntegrity, IntegrityStatus};

use crate::api::in_project;
use crate::components::{Badge, TimeAgo, Tone};
use crate::language::{t, tf};
use crate::loaded::Loaded;
use crate::reactive::part;

/// What the last verification of the chain found, in one line.
#[component]
pub(super) fn Integrity(
    /// The project's id.
    project: Memo<String>,
) -> impl IntoView {
    let loaded = Loaded::new(move || in_project(&project.get(), &["audit", "integrity"]));
    // The place is kept, so that nothing below moves when the answer comes.
    view! { <div class="row integrity">{part(move || loaded.read().map(summary).into_any())}</div> }
}

fn summary(integrity: AuditIntegrity) -> AnyView {
    let (tone, text) = match integrity.status {
        IntegrityStatus::Intact => (Tone::Good, t("chain intact")),
        IntegrityStatus::Broken => (Tone::Bad, t("chain broken")),
        IntegrityStatus::Unchecked => (Tone::Note, t("chain not checked yet")),
    };
    let fault = integrity.first_fault.map(|fault| {
        view! {
            <span role="alert">
                {tf!(
                    "Entry {position} of chain {chain} {reason}. The entries before it are as they were written.",
                    position = fault.position,
                    chain = fault.chain,
                    reason = fault.reason,
                )}
                {fault.record_id.map(|id| view! { {t(" Record ")} <code>{id.to_string()}</code> })}
            </span>
        }
    });
    let checked = integrity.checked_at.map(
        |at| view! { <span class="muted">{integrity.entries} {t(" entries, checked ")} <TimeAgo at /></span> },
    );
    view! {
        <Badge tone text />
        {fault}
        {checked}
    }
    .into_any()
}
