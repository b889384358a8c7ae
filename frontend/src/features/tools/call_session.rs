//! In which session a tool is tried, if in any.

use leptos::prelude::*;
use serde_json::Value;
use toolgate_api::sessions::{Session as Run, SessionPage};
use toolgate_api::settings::{ProjectSettings, SessionUse};

use crate::action::Action;
use crate::api::{Ask, Body, in_project, object, with_query};
use crate::components::{Field, Select, word};
use crate::language::{t, tf};
use crate::loaded::Loaded;
use crate::reactive::{When, condition};
use crate::session::Session;

/// The choice.
#[derive(Clone, Copy)]
pub(super) struct CallSession {
    project: Memo<String>,
    /// Whether the project requires one.
    required: Memo<bool>,
    chosen: RwSignal<String>,
    own: Loaded,
    begin: Action,
}

impl CallSession {
    /// None is chosen yet.
    pub(super) fn new(project: Memo<String>) -> Self {
        let account = Session::get();
        let settings = Loaded::new(move || account.settings_path(&project.get()));
        let required = condition(move || {
            let settings = settings.read::<ProjectSettings>();
            settings.is_some_and(|settings| settings.sessions == SessionUse::Required)
        });
        let own = Loaded::new(move || {
            let Some(me) = account.me() else {
                return String::new();
            };
            let principal = format!("{}:{}", word(&me.kind), me.id);
            let path = in_project(&project.get(), &["sessions"]);
            with_query(path, &[("living", "true"), ("principal", &principal)])
        });
        Self {
            project,
            required,
            chosen: RwSignal::new(String::new()),
            own,
            begin: Action::new(),
        }
    }

    /// The session's id; empty for none.
    pub(super) fn id(self) -> String {
        self.chosen.get()
    }

    /// Whether the request may, and shall, name a state itself.
    pub(super) fn names_state(self) -> bool {
        !self.required.get() && self.chosen.with(String::is_empty)
    }

    /// Begins one with groups, and chooses it.
    fn begin(self, group: Option<Value>) {
        let body = object(group.map(|group| ("group", group)).into_iter().collect());
        let path = in_project(&self.project.get_untracked(), &["sessions"]);
        let ask = Ask::post(path, Body::Json(body.to_string()));
        self.begin.send(ask, move |answer| {
            if let Some(run) = self.begin.read::<Run>(&answer) {
                self.chosen.set(run.id.to_string());
                self.own.reload();
            }
        });
    }

    /// The field; `group` are the groups that a new session asks for.
    pub(super) fn view(self, group: impl Fn() -> Option<Value> + Send + Sync + 'static) -> AnyView {
        let options = Signal::derive(move || {
            let none = if self.required.get() {
                t("None yet")
            } else {
                t("None: the request names the state")
            };
            let mut all = vec![(String::new(), none.to_owned())];
            let runs = self.own.read::<SessionPage>().map(|page| page.items);
            all.extend(runs.into_iter().flatten().map(|run| {
                let id = run.id.to_string();
                let name = run.label.unwrap_or_else(|| id.clone());
                (id, tf!("{name} (in {state})", name, state = run.state))
            }));
            let chosen = self.chosen.get();
            if all.iter().all(|(known, _)| *known != chosen) {
                all.push((chosen.clone(), chosen));
            }
            all
        });
        let missing = move || self.required.get() && self.chosen.with(String::is_empty);
        view! {
            <Field id="call-session" label=t("Session") help=t("A session brings its groups and its state; a success moves it.")>
                <Select
                    id="call-session"
                    value=self.chosen
                    options
                    on_change=move |id: String| self.chosen.set(id)
                />
            </Field>
            <div class="row">
                <button
                    type="button"
                    class="button button-small"
                    disabled=move || self.begin.busy.get()
                    on:click=move |_| self.begin(group())
                >
                    {t("Begin a session")}
                </button>
                <When test=missing>
                    <span class="note">
                        {t("This project requires sessions: a call without one is refused. Begin one, or choose one of yours.")}
                    </span>
                </When>
            </div>
            {self.begin.outcome()}
        }
        .into_any()
    }

    /// After a call, which may have moved the session.
    pub(super) fn refresh(self) {
        if !self.chosen.with_untracked(String::is_empty) {
            self.own.reload();
        }
    }
}
