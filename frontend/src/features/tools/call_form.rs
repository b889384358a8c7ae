//! Trying a tool: a form made from its schema, the answer, and the same call as a program.

use leptos::prelude::*;
use serde_json::Value;
use toolgate_api::calls::CallError;
use toolgate_api::tools::Tool;

use super::call_session::CallSession;
use crate::action::Action;
use crate::api::{Ask, Body, in_project, object, parse, read_json, with_query};
use crate::browser::{origin, recall, remember};
use crate::components::{
    Badge, CodeBlock, Field, NameInput, NamesOf, SchemaForm, Tone, has_secret, json_block, sample,
};
use crate::held_groups::asked_for;
use crate::language::{found, t, tf};
use crate::reactive::{When, part, text};
use crate::remedies::{Refusal, remedies};
use crate::routes::{Page, PageKind};
use crate::session::Session;
use crate::snippets;

/// The longest that a call is waited for: as long as a tool may run.
const LONGEST_CALL_MS: u32 = 600_000;

/// The form, the button and the answer. The call is a real one, decided and recorded like any other.
#[component]
pub(super) fn CallForm(
    /// The project's id.
    project: Memo<String>,
    /// The tool.
    tool: Tool,
) -> impl IntoView {
    let session = Session::get();
    let kept_under = {
        let who = untrack(|| session.me()).map(|me| me.id).unwrap_or_default();
        StoredValue::new(format!("input {who} {}/{}", project.get_untracked(), tool.name))
    };
    // A form with a secret in it is not remembered.
    let is_kept = !has_secret(&tool.parameters);
    let last = kept_under.with_value(|key| recall(key)).filter(|_| is_kept);
    let last = last.and_then(|last| parse(&last).ok()).unwrap_or_default();
    let arguments = Some(&last["arguments"]).filter(|arguments| arguments.is_object());
    let arguments = arguments.cloned().unwrap_or_else(|| sample(&tool.parameters));
    let form = SchemaForm::new(tool.parameters, arguments, "arg");
    let word =
        |key: &str, otherwise: String| RwSignal::new(last[key].as_str().map_or(otherwise, str::to_owned));
    let held = untrack(|| session.membership(&project.get())).map(|held| held.groups);
    let group = word(
        "group",
        asked_for(&tool.group, &held.unwrap_or_default()).join(", "),
    );
    let state = word("state", String::new());
    let action = Action::new();
    let answer = RwSignal::new(None::<Value>);
    let parts = RwSignal::new(Vec::<Value>::new());
    let name = StoredValue::new(tool.name);
    let run_in = CallSession::new(project);
    let request = move || {
        let mut request = object(vec![
            ("tool", name.get_value().into()),
            ("arguments", form.value.get()),
        ]);
        let in_session = run_in.id();
        if !in_session.is_empty() {
            request["session_id"] = in_session.into();
            return request;
        }
        if let Some(group) = names(&group.get()) {
            request["group"] = group;
        }
        if run_in.names_state() && !state.get().is_empty() {
            request["state"] = state.get().into();
        }
        request
    };
    let run = move |_| {
        let path = in_project(&project.get_untracked(), &["calls"]);
        answer.set(None);
        parts.set(Vec::new());
        if is_kept {
            let input = object(vec![
                ("arguments", form.value.get_untracked()),
                ("group", group.get_untracked().into()),
                ("state", state.get_untracked().into()),
            ]);
            kept_under.with_value(|key| remember(key, Some(&input.to_string())));
        }
        let ask = Ask::post(path, Body::Json(untrack(request).to_string())).within(LONGEST_CALL_MS);
        let on_part = move |part| {
            // The page may be gone.
            parts.try_update(|parts| parts.push(part));
        };
        action.send_for_parts(ask, on_part, move |response| {
            answer.set(parse(&response.text).ok());
            run_in.refresh();
        });
    };
    let why = move || {
        let query = [
            ("tool", name.get_value()),
            ("group", group.get()),
            ("state", state.get()),
            ("session", run_in.id()),
        ];
        let path = Page::of_project(project.get(), PageKind::Simulator).path();
        with_query(
            path,
            &query.each_ref().map(|(name, value)| (*name, value.as_str())),
        )
    };
    let body = move || format!("{:#}", request());
    let programs = move || {
        let arguments = move || name.with_value(|name| snippets::mcp_call(name, form.value.get()));
        [
            ("curl", text(move || snippets::call(&project.get(), &body()))),
            (t("MCP: the message tools/call"), text(arguments)),
            (
                "TypeScript",
                text(move || snippets::typescript_call(&project.get(), &body())),
            ),
            (
                "Python",
                text(move || snippets::python_call(&project.get(), &body())),
            ),
        ]
        .into_iter()
        .map(|(caption, text)| view! { <CodeBlock caption text /> })
        .collect::<Vec<_>>()
    };
    view! {
        <div class="stack">
            <section class="panel stack">
                <h2>{t("Try it")}</h2>
                {form.view()}
                <details>
                    <summary>{t("Arguments as JSON")}</summary>
                    {form.as_json(t("Arguments as JSON"))}
                </details>
                <div class="columns">
                    <Field id="call-group" label=t("Groups") help=t("Separated by commas; empty asks for the group default.")>
                        <NameInput id="call-group" value=group of=NamesOf::Groups many=true />
                    </Field>
                    <When test=move || run_in.names_state()>
                        <Field id="call-state" label=t("State") help=t("Empty is undefined.")>
                            <NameInput id="call-state" value=state of=NamesOf::States placeholder="undefined" max="128" />
                        </Field>
                    </When>
                </div>
                {run_in.view(move || names(&group.get_untracked()))}
                <div class="row">
                    <button
                        type="button"
                        class="button button-primary"
                        aria-disabled=move || action.busy.get().to_string()
                        on:click=run
                    >
                        {move || if action.busy.get() { t("Calling…") } else { t("Call the tool") }}
                    </button>
                    <span class="muted">{t("A real call: it is decided, executed and recorded.")}</span>
                </div>
                {action.outcome()}
                <When test=move || action.error.with(Option::is_some)>
                    <p>
                        <a href=why>{t("Look at the decision in the simulator")}</a>
                    </p>
                </When>
            </section>
            <When test=move || answer.with(Option::is_none) && !parts.with(Vec::is_empty)>
                <section class="panel" role="log" aria-label=t("Parts of the answer")>
                    <CodeBlock caption=t("The answer so far") text=text(move || parts.with(|parts| joined(parts))) />
                </section>
            </When>
            {part(move || {
                let may_audit = session.may_see(&project.get(), PageKind::Records);
                answer.with(|answer| answer.as_ref().map(|answer| outcome(answer, &project.get(), &name.get_value(), may_audit))).into_any()
            })}
            <details class="panel">
                <summary>{t("The same call as a program")}</summary>
                <div class="stack">
                    {programs()}
                    <p class="muted">
                        {t("A client of the Model Context Protocol sends the message tools/call to ")}
                        <code class="break">{move || format!("{}{}", origin(), in_project(&project.get(), &["mcp"]))}</code>
                        ". "
                        <a href=move || Page::of_project(project.get(), PageKind::Connect).path()>{t("How clients connect")}</a>
                    </p>
                </div>
            </details>
        </div>
    }
}

/// Parts as they are read: texts follow each other, other values have a line of their own.
fn joined(parts: &[Value]) -> String {
    let mut all = String::new();
    for part in parts {
        match part {
            Value::String(text) => all.push_str(text),
            other => {
                if !all.is_empty() && !all.ends_with('\n') {
                    all.push('\n');
                }
                all.push_str(&other.to_string());
                all.push('\n');
            }
        }
    }
    all
}

/// Names separated by commas; nothing at all is absent, which asks for `default`.
fn names(text: &str) -> Option<Value> {
    let names: Vec<&str> = text
        .split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty())
        .collect();
    (!names.is_empty()).then(|| names.into())
}

/// How the call ended, and where its record is.
fn outcome(answer: &Value, project: &str, tool: &str, may_audit: bool) -> AnyView {
    let word = |key: &str| answer[key].as_str().unwrap_or_default().to_owned();
    let status = word("status");
    let tone = if status == "succeeded" {
        Tone::Good
    } else {
        Tone::Bad
    };
    let [before, after] =
        ["before", "after"].map(|key| answer["state"][key].as_str().unwrap_or_default().to_owned());
    let state = if before == after {
        tf!("in state {before}", before)
    } else {
        tf!("State: {before} → {after}", before, after)
    };
    let error = answer.get("error").map(|error| {
        let word = |key: &str| error[key].as_str().unwrap_or_default().to_owned();
        let lifted_by = read_json::<CallError>(&error.to_string()).ok().map(|error| {
            let refusal = Refusal {
                project: project.to_owned(),
                code: Some(error.code),
                tool: tool.to_owned(),
                remedy: error.remedy,
                ..Refusal::default()
            };
            remedies(&refusal, None)
        });
        view! {
            <p>
                <code>{word("code")}</code>
                ": "
                {word("message")}
                " "
                <span class="muted">{word("upstream_message")}</span>
            </p>
            {lifted_by}
        }
    });
    let result = answer.get("result").map(|result| json_block(t("Result"), result));
    let id = word("call_id");
    let record = if may_audit {
        let href = with_query(
            Page::of_project(project.to_owned(), PageKind::Records).path(),
            &[("record", &id)],
        );
        view! { <a href=href>{t("Record ")} <code>{id}</code></a> }.into_any()
    } else {
        view! { <span class="muted">{t("Record ")} <code>{id}</code></span> }.into_any()
    };
    view! {
        <section class="panel stack" role="status">
            <div class="row">
                <Badge tone=Tone::Good text=t("allowed") />
                <Badge tone text=found(&status).unwrap_or(&status) />
                <span class="muted">{format!("{} ms", answer["duration_ms"])}</span>
                <span>{state}</span>
            </div>
            {error}
            {result}
            <p>{record}</p>
        </section>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{joined, names};

    #[test]
    fn texts_follow_each_other_and_other_values_have_a_line() {
        let parts = [json!("Knock "), json!("knock"), json!({"n": 1}), json!("end")];
        assert_eq!(joined(&parts), "Knock knock\n{\"n\":1}\nend");
    }

    #[test]
    fn nothing_is_absent_and_names_are_trimmed() {
        assert_eq!(names(" , "), None);
        assert_eq!(names("a, b/c ,"), Some(json!(["a", "b/c"])));
    }
}
