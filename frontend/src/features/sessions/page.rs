//! The sessions of a project.

use std::sync::Arc;

use leptos::prelude::*;
use toolgate_api::sessions::Session;
use toolgate_api::settings::{ProjectSettings, SessionUse};

use super::columns::{COLUMNS, row, status};
use super::detail::SessionDetail;
use super::live::live;
use crate::api::{Ask, PAGE_SIZE, in_project, with_query};
use crate::components::{
    Cells, Choices, Deed, EmptyState, List, Pick, SearchBox, SectionHead, Select, Symbol, TimeRange,
    TimeRangePicker, Tone,
};
use crate::language::{marked, t, tf};
use crate::loaded::Loaded;
use crate::paged::{Item, Paged};
use crate::reactive::{part, text_memo};
use crate::routes::PageKind;
use crate::session::{Permission, Session as Account};
use crate::url::{UrlParam, project_in_path};

const LIVING: [(&str, &str); 3] = [
    ("", marked("All sessions")),
    ("true", marked("Running")),
    ("false", marked("Ended or expired")),
];

/// All sessions, newest first.
#[component]
pub(crate) fn SessionsPage() -> impl IntoView {
    let project = project_in_path();
    let [state, living, chosen, q] = ["state", "living", "session", "q"].map(UrlParam::new);
    let range = TimeRange::new("");
    let address = text_memo(move || {
        let (state, living, q) = (state.get(), living.get(), q.get());
        let [(since, from), (until, to)] = range.query();
        with_query(
            in_project(&project.get(), &["sessions"]),
            &[
                ("state", state.as_str()),
                ("living", &living),
                ("q", &q),
                (since, &from),
                (until, &to),
            ],
        )
    });
    let states = Choices::names(move || in_project(&project.get(), &["states"]) + "?limit=200");
    let list = Paged::new(move || address.get());
    let account = Account::get();
    let settings = Loaded::new(move || account.settings_path(&project.get()));
    let rule = move || {
        settings
            .read::<ProjectSettings>()
            .and_then(|settings| rule(&settings))
    };
    let stream = text_memo(move || {
        let project = project.get();
        if account.may(&project, Permission::ReadAudit) {
            in_project(&project, &["audit", "stream"])
        } else {
            String::new()
        }
    });
    // A person who has scrolled down the list keeps the place.
    let news = live(stream, move || {
        if list.items.with_untracked(Vec::len) <= PAGE_SIZE {
            list.reload();
        }
    });
    let open = Callback::new(move |id: String| chosen.push(&id));
    let cells: Cells = Arc::new(move |item: &Item| item.read::<Session>().map(|session| row(session, open)));
    let empty = move || {
        view! {
            <EmptyState
                symbol=Symbol::Session
                title=t("No sessions")
                text=t("An agent opens a session to let the gateway keep its workflow state. Calls in it move the state, and only as the tools define.")
            />
        }
    };
    let bulk = Deed {
        verb: t("End"),
        one: "session",
        means: t("No call can be made in them any more. Their records stay."),
        of: Arc::new(|item: &Item| {
            let session = item.read::<Session>()?;
            let (id, is_running) = (session.id.to_string(), status(&session).0 == Tone::Good);
            is_running.then(|| (id.clone(), session.label.unwrap_or(id)))
        }),
        ask: Arc::new(move |id: &str| {
            Ask::delete(in_project(&project.get_untracked(), &["sessions", id])).if_match("*")
        }),
    };
    let options = Signal::stored(
        LIVING
            .map(|(key, text)| (key.to_owned(), t(text).to_owned()))
            .to_vec(),
    );
    view! {
        <SectionHead section=PageKind::Sessions text=t("Each is one workflow run of one caller. The gateway keeps its state, checks it at every call, and moves it after a success.")>
            {news.badge()}
            <button type="button" class="button" on:click=move |_| list.reload()>
                {t("Refresh")}
            </button>
        </SectionHead>
        {part(move || rule().map(|text| view! { <p class="note">{text}</p> }).into_any())}
        <div class="filters">
            <SearchBox param=q name=t("Search sessions") placeholder=t("Search by label or caller") />
            <Select
                id="session-living"
                name=t("Which sessions")
                value=living.signal()
                options
                on_change=move |key: String| living.push(&key)
            />
            <Pick id="session-state" label=t("In state") param=state choices=states />
            <TimeRangePicker range />
        </div>
        <List list what=t("sessions") columns=COLUMNS.map(t) cells empty bulk />
        <SessionDetail project chosen on_ended=move |()| list.reload() />
    }
}

/// What the project's settings say about sessions, if anything.
fn rule(settings: &ProjectSettings) -> Option<String> {
    let required = settings.sessions == SessionUse::Required;
    let begin = match (&settings.start_states, required) {
        (Some(states), _) => tf!(
            "A new session begins in {states}.",
            states = states.join(t(" or "))
        ),
        (None, true) => t("A new session begins in undefined.").to_owned(),
        (None, false) => return None,
    };
    let lead = if required {
        t("This project requires sessions: requests about tools that name none are refused. ")
    } else {
        ""
    };
    Some(format!("{lead}{begin}"))
}
