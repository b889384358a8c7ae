//! The columns of the list of sessions.

use leptos::prelude::*;
use toolgate_api::sessions::Session;

use crate::browser::now_ms;
use crate::components::{Badge, Tags, TimeAgo, Tone};
use crate::language::{marked, t};

/// The headings.
pub(super) const COLUMNS: [&str; 5] = [
    marked("Session"),
    marked("Who"),
    marked("State"),
    marked("Groups"),
    marked("Last move"),
];

/// Whether a session can still be used, in a word.
pub(super) fn status(session: &Session) -> (Tone, &'static str) {
    if session.ended_at.is_some() {
        (Tone::Plain, t("ended"))
    } else if session.expires_at.timestamp_millis() <= now_ms() {
        (Tone::Note, t("expired"))
    } else {
        (Tone::Good, t("running"))
    }
}

/// The cells of a session; `open` shows it whole.
pub(super) fn row(session: Session, open: Callback<String>) -> AnyView {
    let (tone, text) = status(&session);
    let id = session.id.to_string();
    let name = session.label.unwrap_or_else(|| id.clone());
    view! {
        <th scope="row" role="rowheader">
            <button type="button" class="fault-place" data-row="" on:click=move |_| open.run(id.clone())>
                {name}
            </button>
            " "
            <Badge tone text />
        </th>
        <td role="cell" data-label=t("Who")>{session.principal_name}</td>
        <td role="cell" data-label=t("State")>
            <span class="tag tag-accent">{session.state}</span>
        </td>
        <td role="cell" data-label=t("Groups")>
            <Tags names=session.requested_groups />
        </td>
        <td role="cell" data-label=t("Last move")>
            <TimeAgo at=session.moved_at />
        </td>
    }
    .into_any()
}
