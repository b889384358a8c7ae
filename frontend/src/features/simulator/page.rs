//! The page of the simulator.

use leptos::prelude::*;
use toolgate_api::auth::PrincipalKind;
use toolgate_api::permissions::PermissionMatrix;
use toolgate_api::settings::{ProjectSettings, SessionUse};

use super::question::{ASKS, NAMES, Question};
use super::simulation::Simulation;
use crate::api::in_project;
use crate::components::{Field, NameInput, NamesOf, SectionHead, Select, TextInput};
use crate::language::{marked, t};
use crate::loaded::Loaded;
use crate::reactive::{When, condition, effect};
use crate::routes::PageKind;
use crate::session::{Permission, Session};
use crate::url::{Navigator, UrlParam, project_in_path};

/// Where a call would be made, in a project that requires sessions.
const WITHIN: [(&str, &str); 2] = [
    ("", marked("Without a session")),
    ("yes", marked("In a session in this state")),
];

/// The question, and the answer for every tool.
#[component]
pub(crate) fn SimulatorPage() -> impl IntoView {
    let project = project_in_path();
    let account = Session::get();
    let navigator = Navigator::new();
    let params = NAMES.map(UrlParam::new);
    // The question is in the address, so that an answer can be shared as a link.
    let question = Memo::new(move |_| Question::of(params.map(UrlParam::get)));
    let fields = NAMES.map(|_| RwSignal::new(String::new()));
    effect(move || {
        let asked = question.get();
        let values = [
            asked.principal,
            asked.ask,
            asked.groups,
            asked.state,
            asked.tool,
            asked.session,
            asked.time,
            asked.within,
        ];
        for (field, value) in fields.into_iter().zip(values) {
            field.set(value);
        }
    });
    let [principal, ask, group, state, tool, session, time, within] = fields;
    let settings = Loaded::new(move || account.settings_path(&project.get()));
    let required = condition(move || {
        let settings = settings.read::<ProjectSettings>();
        settings.is_some_and(|settings| settings.sessions == SessionUse::Required)
    });
    let may_ask_about_others = condition(move || account.may(&project.get(), Permission::ReadAccess));
    let people = Loaded::new(move || {
        if may_ask_about_others.get() {
            in_project(&project.get(), &["permissions"]) + "?limit=200"
        } else {
            String::new()
        }
    });
    let simulation = Simulation::new(project);
    effect(move || {
        project.track();
        simulation.ask(question.get());
    });
    let submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        if ask.get_untracked() != "these" {
            group.set(String::new());
        }
        let before = question.get_untracked();
        let values = fields.map(|field| field.get_untracked().trim().to_owned());
        let changes: Vec<_> = NAMES.into_iter().zip(values.iter().map(String::as_str)).collect();
        navigator.set(&changes, true);
        if before == Question::of(values.clone()) {
            simulation.ask(before);
        }
    };
    let who = Signal::derive(move || {
        let mut all = vec![(String::new(), t("Myself").to_owned())];
        if let Some(matrix) = people.read::<PermissionMatrix>() {
            all.extend(matrix.items.into_iter().map(|row| {
                let kind = match row.kind {
                    PrincipalKind::User => t("user"),
                    PrincipalKind::ServiceKey => t("service key"),
                    PrincipalKind::External => t("external"),
                };
                (row.principal, format!("{} ({kind})", row.name))
            }));
        }
        let chosen = principal.get();
        if all.iter().all(|(known, _)| *known != chosen) {
            all.push((chosen.clone(), chosen));
        }
        all
    });
    let asks = Signal::stored(
        ASKS.map(|(key, text)| (key.to_owned(), t(text).to_owned()))
            .to_vec(),
    );
    let withins = Signal::stored(
        WITHIN
            .map(|(key, text)| (key.to_owned(), t(text).to_owned()))
            .to_vec(),
    );
    let in_session = move || !session.with(String::is_empty);
    view! {
        <SectionHead section=PageKind::Simulator text=t("What would they see in this state with these groups, and why? The answer is the gateway's own decision; nothing runs and nothing moves.") />
        <form class="panel columns" on:submit=submit>
            <When test=in_session>
                <p class="note row">
                    <span>
                        {t("In the session ")} <code>{session}</code>
                        {t(": its principal, its groups and its state count.")}
                    </span>
                    <button type="button" class="button button-small" on:click=move |_| session.set(String::new())>
                        {t("Ask without it")}
                    </button>
                </p>
            </When>
            <When test=move || !in_session()>
                <Field id="simulate-who" label=t("Who")>
                    <Select
                        id="simulate-who"
                        value=principal
                        options=who
                        on_change=move |chosen: String| principal.set(chosen)
                    />
                </Field>
                <Field id="simulate-ask" label=t("Asks for")>
                    <Select id="simulate-ask" value=ask options=asks on_change=move |chosen: String| ask.set(chosen) />
                </Field>
                <When test=move || ask.get() == "these">
                    <Field id="simulate-group" label=t("Groups") help=t("Separated by commas; * is every group.")>
                        <NameInput id="simulate-group" value=group of=NamesOf::Groups many=true placeholder="knowledge" />
                    </Field>
                </When>
                <Field id="simulate-state" label=t("In the state") help=t("Empty is undefined.")>
                    <NameInput id="simulate-state" value=state of=NamesOf::States placeholder="undefined" max="128" />
                </Field>
                <When test=move || required.get()>
                    <Field
                        id="simulate-within"
                        label=t("Called")
                        help=t("This project requires sessions: it refuses what is called outside one.")
                    >
                        <Select
                            id="simulate-within"
                            value=within
                            options=withins
                            on_change=move |chosen: String| within.set(chosen)
                        />
                    </Field>
                </When>
            </When>
            <Field id="simulate-tool" label=t("About the tool") help=t("Empty: about every tool.")>
                <NameInput id="simulate-tool" value=tool of=NamesOf::Tools max="128" />
            </Field>
            <Field
                id="simulate-time"
                label=t("At the time")
                help=t("In RFC 3339, for conditions and grants that end. Empty is now.")
                error=text_of(time)
            >
                <TextInput id="simulate-time" value=time mono=true placeholder="2026-12-31T18:00:00Z" max="40" />
            </Field>
            <div class="row">
                <button type="submit" class="button button-primary" disabled=move || simulation.is_busy()>
                    {t("Show")}
                </button>
            </div>
        </form>
        {people.problem()}
        {simulation.view()}
    }
}

/// What is wrong with a time.
fn text_of(time: RwSignal<String>) -> Signal<Option<String>> {
    Signal::derive(move || {
        let wrong = time.with(|time| !time.trim().is_empty() && super::parse_time(time).is_none());
        wrong.then(|| t("This is not a valid time. Use the form 2026-12-31T18:00:00Z.").to_owned())
    })
}
