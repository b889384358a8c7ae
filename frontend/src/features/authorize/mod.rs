//! Asks whether an MCP client is let in: where it leads a person who adds this server to it.

use std::collections::BTreeSet;

use leptos::prelude::*;
use toolgate_api::connections::{Consent, ConsentDecision, ConsentGiven, ConsentOffer};

use crate::action::Action;
use crate::api::{Ask, Body, with_query};
use crate::browser;
use crate::components::{EmptyState, Field, PageHeading, Select, Skeleton, Symbol, fact, facts};
use crate::language::{marked, t, tf};
use crate::loaded::Loaded;
use crate::reactive::{When, condition, effect, part};
use crate::session::Session;

/// Life times to choose from, in seconds.
const LIVES: [(&str, &str); 4] = [
    ("", marked("Until it is revoked")),
    ("86400", marked("1 day")),
    ("2592000", marked("30 days")),
    ("31536000", marked("1 year")),
];
/// How the groups are limited.
const LIMITS: [(&str, &str); 2] = [
    ("chosen", marked("Only the groups that are checked")),
    (
        "held",
        marked("Every group that I hold, also those that I get later"),
    ),
];

/// The page.
#[component]
pub(crate) fn AuthorizePage() -> impl IntoView {
    let search = window().location().search().unwrap_or_default();
    let request = StoredValue::new(search.trim_start_matches('?').to_owned());
    let has_request = request.with_value(|request| !request.is_empty());
    let consent = Loaded::new(move || {
        request.with_value(|request| match request.is_empty() {
            true => String::new(),
            false => with_query("/auth/consent".to_owned(), &[("request", request)]),
        })
    });
    // A client that asks in a wrong way is answered at its own address.
    effect(move || {
        if let Some(Consent {
            redirect_to: Some(to),
            ..
        }) = consent.read::<Consent>()
        {
            browser::leave_to(&to);
        }
    });
    if !has_request {
        return view! {
            <div class="page-head">
                <PageHeading text=t("Connect a client") />
            </div>
            <EmptyState
                symbol=Symbol::Plug
                title=t("No client asks for anything")
                text=t("Add the address of a project's MCP endpoint to your client. The client leads you here.")
            />
        }
        .into_any();
    }
    view! {
        {consent.problem()}
        {part(move || match (consent.read::<Consent>(), consent.error.get()) {
            (Some(Consent { offer: Some(offer), .. }), _) => view! { <Question offer request /> }.into_any(),
            (None, Some(_)) => view! { <PageHeading text=t("The client cannot be connected") /> }.into_any(),
            _ => view! { <Skeleton what=t("what the client asks for") rows=4 /> }.into_any(),
        })}
    }
    .into_any()
}

/// Who asks for what, and the two answers.
#[component]
fn Question(
    /// What is asked for.
    offer: ConsentOffer,
    /// The client's request.
    request: StoredValue<String>,
) -> impl IntoView {
    let session = Session::get();
    let action = Action::new();
    let limit = RwSignal::new(LIMITS[0].0.to_owned());
    let life = RwSignal::new(String::new());
    let is_chosen = condition(move || limit.with(|limit| limit == "chosen"));
    // Everything that is named, but not every group there will ever be.
    let checked: BTreeSet<String> = offer
        .groups
        .iter()
        .filter(|group| *group != "*")
        .cloned()
        .collect();
    let checked = RwSignal::new(checked);
    let decide = move |allow: bool| {
        let decision = ConsentDecision {
            request: request.get_value(),
            allow,
            groups: (allow && is_chosen.get_untracked())
                .then(|| checked.get_untracked().into_iter().collect()),
            expires_in_s: life.get_untracked().parse().ok().filter(|_| allow),
        };
        action.send(Ask::post("/auth/consent", Body::json(&decision)), move |answer| {
            if let Some(given) = action.read::<ConsentGiven>(&answer) {
                browser::leave_to(&given.redirect_to);
            }
        });
    };
    let options = |all: &[(&str, &'static str)]| {
        let all = all
            .iter()
            .map(|(key, text)| ((*key).to_owned(), t(text).to_owned()));
        Signal::stored(all.collect::<Vec<_>>())
    };
    let (limits, lives) = (options(&LIMITS), options(&LIVES));
    let me = session.me().map(|me| me.name).unwrap_or_default();
    let origin = match offer.client_host {
        Some(host) => tf!("It is known by the address of its metadata at {host}.", host),
        None => {
            t("It registered itself: its name is what it says, and nothing about it is verified.").to_owned()
        }
    };
    let answered = match offer.redirect_is_local {
        true => tf!("{host}: a program on this computer", host = offer.redirect_host),
        false => offer.redirect_host,
    };
    let groups = offer.groups;
    let has_groups = !groups.is_empty();
    let boxes = StoredValue::new(groups);
    view! {
        <div class="page-head">
            <div>
                <PageHeading text=tf!("Connect {client}?", client = offer.client_name) />
                <p class="muted">
                    {t("It will call tools for you, as far as you may call them. Allow it only if you have just started this yourself.")}
                </p>
            </div>
        </div>
        <div class="stack-small">
            {facts(
                vec![
                    fact(t("Client"), offer.client_name.clone()),
                    fact(t("Origin"), origin),
                    fact(t("Answered at"), answered),
                    fact(t("Project"), format!("{} ({})", offer.project_name, offer.project_id)),
                    fact(t("You"), me),
                ],
            )}
            <form
                class="form"
                on:submit=move |event| {
                    event.prevent_default();
                    decide(true);
                }
            >
                <Field id="consent-limit" label=t("Groups") help=t("What the client may ask for. You can change it later under Connections.")>
                    <Select
                        id="consent-limit"
                        value=limit
                        options=limits
                        on_change=move |chosen| limit.set(chosen)
                    />
                </Field>
                <When test=move || is_chosen.get()>
                    <fieldset class="stack-small">
                        <legend class="muted">
                            {if has_groups { t("The groups that you hold") } else { t("You hold no groups: the client can call nothing yet.") }}
                        </legend>
                        {boxes
                            .with_value(|groups| {
                                groups.iter().map(|group| group_box(group.clone(), checked)).collect::<Vec<_>>()
                            })}
                    </fieldset>
                </When>
                <Field id="consent-life" label=t("Ends")>
                    <Select
                        id="consent-life"
                        value=life
                        options=lives
                        on_change=move |chosen| life.set(chosen)
                    />
                </Field>
                {action.outcome()}
                <div class="row">
                    <button type="submit" class="button button-primary" disabled=move || action.busy.get()>
                        {t("Allow")}
                    </button>
                    <button
                        type="button"
                        class="button"
                        disabled=move || action.busy.get()
                        on:click=move |_| decide(false)
                    >
                        {t("Refuse")}
                    </button>
                </div>
            </form>
        </div>
    }
}

fn group_box(group: String, checked: RwSignal<BTreeSet<String>>) -> AnyView {
    let label = match group.as_str() {
        "*" => t("* (every group, also later ones)").to_owned(),
        name => name.to_owned(),
    };
    let name = group.clone();
    view! {
        <label class="check">
            <input
                type="checkbox"
                prop:checked=move || checked.with(|checked| checked.contains(&name))
                on:change=move |event| {
                    let is_checked = event_target_checked(&event);
                    checked
                        .update(|checked| {
                            if is_checked {
                                checked.insert(group.clone());
                            } else {
                                checked.remove(&group);
                            }
                        });
                }
            />
            {label}
        </label>
    }
    .into_any()
}
