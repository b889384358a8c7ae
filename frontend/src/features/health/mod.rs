//! How the server does: whether it takes requests, and what the figures are.

use leptos::prelude::*;

use crate::components::{Badge, CodeBlock, PageHeading, Tone};
use crate::loaded::Loaded;
use crate::reactive::{When, part};

/// Readiness and the metrics as they are scraped.
#[component]
pub(crate) fn HealthPage() -> impl IntoView {
    let ready = Loaded::new(|| "/readyz".to_owned());
    let metrics = Loaded::new(|| "/metrics".to_owned());
    let text = Signal::derive(move || metrics.answer.get().map(|answer| answer.text).unwrap_or_default());
    view! {
        <div class="page-head">
            <div>
                <PageHeading text="Health" />
                <p class="muted">"Whether this server takes requests, and the figures that Prometheus reads."</p>
            </div>
            <div class="page-actions">
                <button
                    type="button"
                    class="button"
                    on:click=move |_| {
                        ready.reload();
                        metrics.reload();
                    }
                >
                    "Refresh"
                </button>
            </div>
        </div>
        <div class="stack">
            {ready.placeholder("the readiness")}
            <p>{part(move || ready.is_there().then(|| view! { <Badge tone=Tone::Good text="ready" /> }).into_any())}</p>
            {metrics.placeholder("the figures")}
            <When test=move || metrics.is_there()>
                <CodeBlock caption="/metrics" text />
            </When>
        </div>
    }
}
