//! The caller of a walk: a key or person with what it holds, or anyone with the groups that are chosen.

use leptos::prelude::*;
use toolgate_api::explain::{DecisionTest, TestOutcome, ToolExplanation};

use super::picked::Picked;
use crate::candidates::principals;
use crate::components::{Choices, NamesOf, Pick, Tags};
use crate::features::simulator::{Question, Simulation};
use crate::features::tools::Exact;
use crate::language::t;
use crate::reactive::{When, condition, effect, part};
use crate::session::{Permission, Session};
use crate::url::UrlParam;

/// Whom the walk is about, in the address, and what the gateway would decide for it in the current state.
#[derive(Clone, Copy)]
pub(super) struct Caller {
    project: Memo<String>,
    who: UrlParam,
    groups: UrlParam,
    at: UrlParam,
    simulation: Simulation,
}

impl Caller {
    /// Of the page that is being built.
    pub(super) fn new(project: Memo<String>, picked: Picked) -> Self {
        let [who, groups, at] = ["who", "groups", "at"].map(UrlParam::new);
        let caller = Self {
            project,
            who,
            groups,
            at,
            simulation: Simulation::new(project),
        };
        effect(move || {
            let (principal, groups, state) = (who.get(), groups.get(), picked.here.get());
            if caller.is_chosen() && !state.is_empty() {
                caller.simulation.ask(Question {
                    ask: if groups.is_empty() { "held" } else { "these" }.to_owned(),
                    principal,
                    groups,
                    state,
                    // Where a project requires sessions, a walk is one.
                    within: "yes".to_owned(),
                    ..Question::default()
                });
            }
        });
        caller
    }

    /// Whether the walk is about one, reactively.
    pub(super) fn is_chosen(self) -> bool {
        !self.who.get().is_empty() || !self.groups.get().is_empty()
    }

    /// Each tool that it can call in the current state, with the state that its success leads to; none before the answer.
    pub(super) fn callable(self) -> Option<Vec<(String, String)>> {
        // Chosen groups without a caller are those of one who holds them.
        let is_anyone = self.who.get().is_empty();
        let tools = self.simulation.answer()?.into_iter();
        let tools = tools.filter(|tool| can_call(tool, is_anyone));
        Some(tools.map(|tool| (tool.tool, tool.state.after)).collect())
    }

    /// What went wrong, and the button that asks about more tools.
    pub(super) fn rest(self) -> AnyView {
        view! {
            {self.simulation.problem()}
            {self.simulation.rest()}
        }
        .into_any()
    }

    /// The fields, and what the caller holds.
    pub(super) fn view(self) -> AnyView {
        let session = Session::get();
        let project = self.project;
        let states =
            Choices::names(move || crate::api::in_project(&project.get(), &["states"]) + "?limit=200");
        let callers = principals(project);
        let may_choose = condition(move || session.may(&project.get(), Permission::ReadAccess));
        view! {
            <div class="filters">
                <When test=may_choose>
                    <Pick id="walk-who" label=t("Caller") param=self.who choices=callers />
                </When>
                <Exact id="walk-groups" label=t("With the groups") param=self.groups names=NamesOf::Groups many=true />
                <Pick id="walk-state" label=t("In the state") param=self.at choices=states />
                <When test=move || self.is_chosen()>
                    <button
                        type="button"
                        class="button button-quiet"
                        on:click=move |_| {
                            self.who.replace("");
                            self.groups.replace("");
                        }
                    >
                        {t("Every tool")}
                    </button>
                </When>
            </div>
            {part(move || {
                if self.who.get().is_empty() {
                    return ().into_any();
                }
                view! {
                    <p class="row">
                        <span class="muted">{t("Granted:")}</span>
                        <Tags names=self.simulation.granted() />
                    </p>
                }
                    .into_any()
            })}
        }
        .into_any()
    }
}

/// Whether a call would be admitted; of anyone, whether it would be if the caller held the groups.
fn can_call(tool: &ToolExplanation, is_anyone: bool) -> bool {
    tool.tests.iter().all(|test| match (test.test, test.outcome) {
        (DecisionTest::Execution, _) => true,
        (DecisionTest::Grant, TestOutcome::Failed) => is_anyone,
        (_, TestOutcome::Passed | TestOutcome::Unknown) => true,
        (_, TestOutcome::Failed) => false,
        (_, TestOutcome::NotReached) => test.would_pass != Some(false),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::can_call;

    #[test]
    fn anyone_holds_the_groups_that_are_chosen() {
        let passed = json!({"test": "exists", "outcome": "passed"});
        let not_held = json!({"test": "grant", "outcome": "failed"});
        let closed = json!({"test": "state", "outcome": "not_reached", "would_pass": false});
        let open = json!({"test": "state", "outcome": "not_reached", "would_pass": true});
        let unreachable = json!({"test": "execution", "outcome": "failed"});
        let can = |tests: &[&Value], is_anyone| {
            let tool = json!({
                "tool": "t", "effect": "deny", "summary": "", "tests": tests,
                "state": {"before": "a", "after": "b"}
            });
            can_call(&serde_json::from_value(tool).expect("an explanation"), is_anyone)
        };
        for (tests, one, anyone) in [
            (vec![&passed, &unreachable], true, true),
            (vec![&not_held, &open], false, true),
            (vec![&not_held, &closed], false, false),
        ] {
            assert_eq!(
                [can(&tests, false), can(&tests, true)],
                [one, anyone],
                "{tests:?}"
            );
        }
    }
}
