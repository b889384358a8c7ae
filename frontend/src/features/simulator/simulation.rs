//! Asking the gateway what it would decide, and showing its answer.

use leptos::prelude::*;
use toolgate_api::explain::{DecisionEffect, ExplainRequest, ExplainResponse, ToolExplanation};

use super::explanation::explanation;
use super::question::Question;
use crate::action::Action;
use crate::api::{Ask, Body, in_project};
use crate::components::{ProblemPanel, Skeleton, Tags, many_tools, word};
use crate::language::{t, tf};
use crate::reactive::part;

/// Tools that are asked about at once.
const PAGE: u32 = 100;

/// A question that was asked, and its answer so far.
#[derive(Clone, Copy)]
pub(crate) struct Simulation {
    project: Memo<String>,
    action: Action,
    /// The question, to ask it again.
    question: StoredValue<Question>,
    /// What was asked, to go on with.
    asked: StoredValue<ExplainRequest>,
    granted: RwSignal<Vec<String>>,
    principal: RwSignal<String>,
    items: RwSignal<Vec<ToolExplanation>>,
    next: RwSignal<Option<String>>,
    answered: RwSignal<bool>,
    /// Counts the questions, so that an answer to an earlier one is dropped.
    run: StoredValue<u32>,
}

impl Simulation {
    /// Nothing was asked yet.
    pub(crate) fn new(project: Memo<String>) -> Self {
        Self {
            project,
            action: Action::new(),
            question: StoredValue::new(Question::default()),
            asked: StoredValue::new(ExplainRequest::default()),
            granted: RwSignal::new(Vec::new()),
            principal: RwSignal::new(String::new()),
            items: RwSignal::new(Vec::new()),
            next: RwSignal::new(None),
            answered: RwSignal::new(false),
            run: StoredValue::new(0),
        }
    }

    /// The answer so far, reactively; none before the first part of it.
    pub(crate) fn answer(self) -> Option<Vec<ToolExplanation>> {
        self.answered.get().then(|| self.items.get())
    }

    /// What the caller may ask for, reactively.
    pub(crate) fn granted(self) -> Vec<String> {
        self.granted.get()
    }

    /// Whether an answer is awaited, reactively.
    pub(crate) fn is_busy(self) -> bool {
        self.action.busy.get()
    }

    /// Asks, in place of what was asked before.
    pub(crate) fn ask(self, question: Question) {
        let run = self.run.get_value() + 1;
        self.run.set_value(run);
        self.question.set_value(question.clone());
        self.action.busy.set(false);
        self.items.set(Vec::new());
        self.answered.set(false);
        if question.ask != "held" || !question.session.is_empty() {
            self.send(run, question.request(None));
            return;
        }
        // What they hold is in any answer.
        let mut first = question.request(None);
        first.limit = Some(1);
        self.post(first, move |answer| {
            if self.run.get_value() == run {
                self.send(run, question.request(Some(&answer.granted_groups)));
            }
        });
    }

    fn send(self, run: u32, mut request: ExplainRequest) {
        request.limit = request.tool.is_none().then_some(PAGE);
        self.asked.set_value(request.clone());
        self.post(request, move |answer| {
            if self.run.get_value() == run {
                self.granted.set(answer.granted_groups);
                let who = answer.principal;
                self.principal.set(format!("{}:{}", word(&who.kind), who.id));
                self.items.update(|items| items.extend(answer.items));
                self.next.set(answer.next_cursor);
                self.answered.set(true);
            }
        });
    }

    fn more(self) {
        let mut request = self.asked.get_value();
        request.cursor = self.next.get_untracked();
        self.send(self.run.get_value(), request);
    }

    fn post(self, request: ExplainRequest, then: impl FnOnce(ExplainResponse) + 'static) {
        let path = in_project(&self.project.get_untracked(), &["explain"]);
        self.action
            .send(Ask::post(path, Body::json(&request)), move |answer| {
                if let Some(answer) = self.action.read(&answer) {
                    then(answer);
                }
            });
    }

    /// The answer: what can be called, what is hidden and why.
    pub(crate) fn view(self) -> AnyView {
        let whole = move || {
            if !self.answered.get() {
                let waiting = self
                    .is_busy()
                    .then(|| view! { <Skeleton what=t("the answer") /> });
                return waiting.into_any();
            }
            let (allowed, hidden): (Vec<_>, Vec<_>) = self
                .items
                .get()
                .into_iter()
                .partition(|item| item.effect == DecisionEffect::Allow);
            let more = if self.next.with(Option::is_some) { "+" } else { "" };
            let counts = tf!(
                "{count} of {all} tools can be called",
                count = allowed.len(),
                all = format!("{}{more}", allowed.len() + hidden.len())
            );
            let many = many_tools(allowed.len() as u64);
            let list = |title: &'static str, items: Vec<ToolExplanation>| {
                if items.is_empty() {
                    return ().into_any();
                }
                let heading = format!("{title} ({})", items.len());
                let rows: Vec<_> = items
                    .into_iter()
                    .map(|item| explanation(&self.project.get(), &self.principal.get(), item))
                    .collect();
                view! {
                    <section class="stack-small">
                        <h2>{heading}</h2>
                        <ul class="panel list">{rows}</ul>
                    </section>
                }
                .into_any()
            };
            view! {
                <p class="row simulator-sum">
                    <strong>{counts}</strong>
                    {many}
                    <span class="muted">{t("Granted:")}</span>
                    <Tags names=self.granted.get() />
                </p>
                {list(t("Can be called"), allowed)}
                {list(t("Hidden"), hidden)}
            }
            .into_any()
        };
        view! {
            {self.problem()}
            <div class="stack" role="status">
                {part(whole)}
            </div>
            {self.rest()}
        }
        .into_any()
    }

    /// Why there is no answer.
    pub(crate) fn problem(self) -> AnyView {
        part(move || {
            let again = move |()| self.ask(self.question.get_value());
            let error = self.action.error.get();
            error
                .map(|error| view! { <ProblemPanel error on_retry=again /> })
                .into_any()
        })
    }

    /// The button that asks about more tools, if there are more.
    pub(crate) fn rest(self) -> AnyView {
        part(move || {
            if self.next.with(Option::is_none) || !self.answered.get() {
                return ().into_any();
            }
            view! {
                <p class="more">
                    <button
                        type="button"
                        class="button"
                        disabled=move || self.is_busy()
                        on:click=move |_| self.more()
                    >
                        {t("Show more tools")}
                    </button>
                </p>
            }
            .into_any()
        })
    }
}
