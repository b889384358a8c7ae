//! Stored expectations: who may call what, checked before every change.

use leptos::prelude::*;
use serde_json::json;
use toolgate_api::explain::DecisionEffect;
use toolgate_api::policy_tests::{PolicyTestResult, PolicyTestRun, StoredPolicyTest};

use crate::action::Action;
use crate::api::{Ask, Body, in_project, parse};
use crate::components::{
    Badge, Cells, Confirm, Editor, EditorHandle, EmptyState, List, SectionHead, Symbol, Toasts, Tone, word,
};
use crate::language::{t, tf};
use crate::paged::{Item, Paged};
use crate::reactive::{When, condition, effect};
use crate::routes::PageKind;
use crate::session::{Permission, Session};
use crate::url::{UrlParam, project_in_path};

/// Two tests to start from.
const EXAMPLE: &str = "\
- name: agents-read
  granted: [knowledge]
  group: [knowledge]
  tool: read-page
  expect: {effect: allow}
- name: agents-do-not-write
  granted: [knowledge]
  group: [write]
  tool: read-page
  expect: {effect: deny, code: insufficient_tool_groups}
";

/// All tests, running them, and adding to them.
#[component]
pub(crate) fn PolicyTestsPage() -> impl IntoView {
    let project = project_in_path();
    let session = Session::get();
    let list = Paged::new(move || in_project(&project.get(), &["policy-tests"]));
    let results = RwSignal::new(None::<PolicyTestRun>);
    let text = RwSignal::new(String::new());
    let handle = EditorHandle::new();
    let action = Action::new();
    let running = Action::new();
    let toasts = Toasts::get();
    let may_change = condition(move || session.may(&project.get(), Permission::ManagePolicy));
    let run = move |_| {
        let path = in_project(&project.get_untracked(), &["policy-tests", "run"]);
        running.send(Ask::post(path, Body::None), move |answer| {
            results.set(running.read(&answer));
        });
    };
    let upload = move |_| {
        let path = in_project(&project.get_untracked(), &["policy-tests"]);
        action.send(Ask::post(path, Body::Yaml(text.get_untracked())), move |_| {
            toasts.done(t("The tests are stored, and guard every change from now on."));
            text.set(String::new());
            list.reload();
        });
    };
    let removing = Action::new();
    let asking = RwSignal::new(false);
    let asked = RwSignal::new(String::new());
    let ask_removal = Callback::new(move |name: String| {
        asked.set(name);
        removing.error.set(None);
        asking.set(true);
    });
    let remove = move |()| {
        let name = asked.get_untracked();
        let path = in_project(&project.get_untracked(), &["policy-tests", &name]);
        removing.send(Ask::delete(path).if_match("*"), move |_| {
            asking.set(false);
            toasts.done(tf!("{name} was removed.", name));
            list.reload();
        });
    };
    // JSON is YAML too, and what the server stores is found nowhere else as text.
    let edit = Callback::new(move |name: String| {
        let path = in_project(&project.get_untracked(), &["policy-tests", &name]);
        running.send(Ask::get(path), move |answer| {
            let stored = parse(&answer.text).unwrap_or_default();
            text.set(serde_json::to_string_pretty(&json!([stored["test"]])).unwrap_or_default());
            handle.jump(1, 1);
        });
    });
    // An address with a name comes from a change that the test refused.
    let wanted = UrlParam::new("test");
    effect(move || {
        let name = wanted.get();
        if !name.is_empty() {
            edit.run(name);
            wanted.replace("");
        }
    });
    let cells: Cells = std::sync::Arc::new(move |item: &Item| {
        let test = item.read::<StoredPolicyTest>();
        test.map(|test| row(test, results, may_change.get_untracked(), edit, ask_removal))
    });
    let empty = move || {
        view! {
            <EmptyState
                symbol=Symbol::Check
                title=t("No policy tests yet")
                text=t("Write down who must and who must not be able to call what. A change that would break it is refused, and shows which expectation it breaks.")
            >
                <When test=move || may_change.get()>
                    <button type="button" class="button button-primary" on:click=move |_| text.set(EXAMPLE.to_owned())>
                        {t("Start from an example")}
                    </button>
                </When>
            </EmptyState>
        }
    };
    let verdict = move || {
        results.get().map(|run| {
            let (tone, text) = if run.failed == 0 {
                (Tone::Good, tf!("All {count} hold", count = run.passed))
            } else {
                (
                    Tone::Bad,
                    tf!(
                        "{failed} of {all} fail",
                        failed = run.failed,
                        all = run.passed + run.failed
                    ),
                )
            };
            view! { <Badge tone text /> }
        })
    };
    view! {
        <SectionHead section=PageKind::PolicyTests text=t("Expectations that guard every change of tools, groups and permissions.")>
            <span role="status">{verdict}</span>
            <button type="button" class="button button-primary" disabled=move || running.busy.get() on:click=run>
                {t("Run all")}
            </button>
        </SectionHead>
        {running.outcome()}
        <div class="stack">
            <List list what=t("policy tests") columns=[t("Test"), t("Who"), t("Asks"), t("Expected"), t("Result")] cells empty />
            <When test=move || may_change.get()>
                <section class="panel stack">
                    <h2>{t("Add or replace")}</h2>
                    <p class="muted">{t("A list in YAML; keep it in your repository and upload it from CI as well.")}</p>
                    <Editor name=t("Policy tests as YAML") value=text handle rows=12 />
                    {action.refusal(handle)}
                    <div class="row">
                        <button
                            type="button"
                            class="button button-primary"
                            disabled=move || action.busy.get() || text.with(|text| text.trim().is_empty())
                            on:click=upload
                        >
                            {t("Store")}
                        </button>
                    </div>
                </section>
            </When>
        </div>
        <Confirm
            open=asking
            title=Signal::derive(move || tf!("Remove {name}?", name = asked.get()))
            verb=t("Remove the test")
            action=removing
            on_confirm=remove
        >
            <p>{t("Changes are no longer checked against it. It cannot be restored; upload it again instead.")}</p>
        </Confirm>
    }
}

fn row(
    stored: StoredPolicyTest,
    results: RwSignal<Option<PolicyTestRun>>,
    may_change: bool,
    edit: Callback<String>,
    remove: Callback<String>,
) -> AnyView {
    let test = stored.test;
    let name = test.name.clone();
    let who = match (test.principal, test.granted) {
        (Some(principal), _) => principal,
        (None, Some(groups)) => tf!("a caller with {groups}", groups = groups.join(", ")),
        (None, None) => String::new(),
    };
    let asks = test
        .group
        .map_or_else(|| "default".to_owned(), |groups| groups.join(", "));
    let state = test.state.map(|state| tf!(" in {state}", state));
    let (tone, expected) = match test.expect.effect {
        DecisionEffect::Allow => (Tone::Good, t("allowed")),
        DecisionEffect::Deny => (Tone::Bad, t("refused")),
    };
    let code = test.expect.code.map(|code| word(&code));
    let found = {
        let name = name.clone();
        move || {
            let run = results.get()?;
            let result = run.results.into_iter().find(|result| result.name == name)?;
            Some(outcome(result))
        }
    };
    let deeds = [
        (t("Edit"), tf!("Edit {name}", name), edit),
        (t("Remove"), tf!("Remove {name}", name), remove),
    ];
    let buttons = deeds.map(|(verb, label, act)| {
        let target = name.clone();
        view! {
            <button
                type="button"
                class="button button-small"
                aria-label=label
                on:click=move |_| act.run(target.clone())
            >
                {verb}
            </button>
        }
        .into_any()
    });
    let buttons: Vec<_> = buttons.into_iter().collect();
    view! {
        <th scope="row" role="rowheader">
            <span class="tool-name">{name}</span>
            <span class="muted">{test.note}</span>
        </th>
        <td role="cell" data-label=t("Who")>{who}</td>
        <td role="cell" data-label=t("Asks")>
            <span class="mono">{test.tool}</span>
            <span class="muted">{t(" with ")} {asks} {state}</span>
        </td>
        <td role="cell" data-label=t("Expected")>
            <Badge tone text=expected />
            " "
            {code.map(|code| view! { <code>{code}</code> })}
        </td>
        <td role="cell" data-label=t("Result")>
            <span class="row">
                {found}
                {may_change.then_some(buttons)}
            </span>
        </td>
    }
    .into_any()
}

fn outcome(result: PolicyTestResult) -> AnyView {
    if result.passed {
        return view! { <Badge tone=Tone::Good text=t("holds") /> }.into_any();
    }
    view! {
        <Badge tone=Tone::Bad text=t("fails") />
        <span class="muted">{result.found.summary}</span>
    }
    .into_any()
}
