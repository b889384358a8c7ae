//! An MCP client in the page: it lists and calls tools as a key or the signed-in person would.
//!
//! Each request is one of the revision without sessions. A key that is entered is sent with the requests of this page and
//! kept nowhere.

use leptos::prelude::*;
use leptos::task::spawn_local;
use serde_json::{Value, json};

use super::clients;
use super::mcp::names;
use crate::api::{ApiError, Ask, Body, parse};
use crate::browser::origin;
use crate::components::{
    Badge, Field, NameInput, NamesOf, ProblemPanel, SchemaForm, Select, TextInput, Tone, json_block, sample,
};
use crate::language::t;
use crate::reactive::{When, condition, part, text};
use crate::session::Session;

const REVISION: &str = "2026-07-28";

/// What the page holds.
#[derive(Clone, Copy)]
struct Inspector {
    project: Memo<String>,
    session: Session,
    key: RwSignal<String>,
    groups: RwSignal<String>,
    tools: RwSignal<Option<Vec<Value>>>,
    chosen: RwSignal<String>,
    result: RwSignal<Option<Value>>,
    error: RwSignal<Option<ApiError>>,
    busy: RwSignal<bool>,
}

/// The inspector.
pub(super) fn inspector(project: Memo<String>, groups: RwSignal<String>) -> AnyView {
    let inspector = Inspector {
        project,
        session: Session::get(),
        key: RwSignal::new(String::new()),
        groups,
        tools: RwSignal::new(None),
        chosen: RwSignal::new(String::new()),
        result: RwSignal::new(None),
        error: RwSignal::new(None),
        busy: RwSignal::new(false),
    };
    inspector.view()
}

/// One message, as the protocol wants it.
fn message(method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": REVISION,
        "io.modelcontextprotocol/clientInfo": {"name": "toolgate-inspector", "version": env!("CARGO_PKG_VERSION")},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}

impl Inspector {
    /// Sends a message; `then` gets its result.
    fn send(self, method: &'static str, params: Value, then: impl FnOnce(Value) + 'static) {
        if self.busy.get_untracked() {
            return;
        }
        let address = clients::address(
            &self.project.get_untracked(),
            &names(&self.groups.get_untracked()),
        );
        let path = address.strip_prefix(&origin()).unwrap_or(&address).to_owned();
        let mut ask = Ask::post(path, Body::json(&message(method, params.clone())))
            .header("mcp-protocol-version", REVISION)
            .header("mcp-method", method)
            .taking_refusals();
        if let Some(name) = params["name"].as_str() {
            ask = ask.header("mcp-name", name);
            for (header, value) in self.mirrored(&params["arguments"]) {
                ask = ask.header(&header, value);
            }
        }
        let key = self.key.get_untracked().trim().to_owned();
        let is_own = key.is_empty();
        if !is_own {
            ask = ask.header("authorization", format!("Bearer {key}"));
        }
        self.busy.set(true);
        self.error.set(None);
        self.result.set(None);
        spawn_local(async move {
            let answer = ask.send().await.and_then(|answer| parse(&answer.text));
            // The page may be gone.
            if self.busy.try_set(false).is_some() {
                return;
            }
            match answer {
                Ok(mut answer) if answer["error"].is_null() => then(answer["result"].take()),
                Ok(answer) => self.result.set(Some(answer)),
                Err(error) => {
                    // A wrong key does not end the person's own sign-in.
                    if is_own {
                        self.session.observe(&error);
                    }
                    self.error.set(Some(error));
                }
            }
        });
    }

    /// The headers that repeat arguments, where the schema of the chosen tool asks for them.
    fn mirrored(self, arguments: &Value) -> Vec<(String, String)> {
        let chosen = self.chosen.get_untracked();
        let tools = self.tools.get_untracked().unwrap_or_default();
        let tool = tools.iter().find(|tool| tool["name"] == *chosen);
        let schema = tool.map(|tool| tool["inputSchema"].clone()).unwrap_or_default();
        let properties = schema["properties"].as_object().into_iter().flatten();
        let header = |(name, schema): (&String, &Value)| {
            let header = schema["x-mcp-header"].as_str()?;
            let value = match &arguments[name] {
                Value::String(text) if text.chars().all(|c| c.is_ascii_graphic()) => text.clone(),
                Value::Number(number) => number.to_string(),
                Value::Bool(truth) => truth.to_string(),
                _ => return None,
            };
            Some((format!("mcp-param-{header}"), value))
        };
        properties.filter_map(header).collect()
    }

    fn list(self) {
        self.tools.set(None);
        self.send("tools/list", json!({}), move |mut result| {
            let tools = result["tools"]
                .as_array_mut()
                .map(std::mem::take)
                .unwrap_or_default();
            let first = tools
                .first()
                .and_then(|tool| tool["name"].as_str())
                .unwrap_or_default();
            self.chosen.set(first.to_owned());
            self.tools.set(Some(tools));
        });
    }

    fn tool(self) -> Option<Value> {
        let chosen = self.chosen.get();
        self.tools.with(|tools| {
            tools
                .as_ref()?
                .iter()
                .find(|tool| tool["name"] == *chosen)
                .cloned()
        })
    }

    fn view(self) -> AnyView {
        let has_tools = condition(move || {
            self.tools
                .with(|tools| tools.as_ref().is_some_and(|tools| !tools.is_empty()))
        });
        let is_empty = condition(move || self.tools.with(|tools| tools.as_ref().is_some_and(Vec::is_empty)));
        let options = Signal::derive(move || {
            let name = |tool: &Value| tool["name"].as_str().unwrap_or_default().to_owned();
            let tools = self.tools.get().unwrap_or_default();
            tools
                .iter()
                .map(|tool| (name(tool), name(tool)))
                .collect::<Vec<_>>()
        });
        view! {
            <div class="stack">
                <p class="muted">{t("This page speaks MCP to the server, as a client would. What it calls runs, and is on the record.")}</p>
                <form
                    class="columns"
                    on:submit=move |event| {
                        event.prevent_default();
                        self.list();
                    }
                >
                    <Field id="inspector-key" label=t("Key") help=t("Empty: as yourself. It is sent with these requests and kept nowhere.")>
                        <TextInput id="inspector-key" value=self.key kind="password" />
                    </Field>
                    <Field id="inspector-groups" label=t("Groups") help=t("Separated by commas; * for every group. Empty: default.")>
                        <NameInput id="inspector-groups" value=self.groups of=NamesOf::Groups many=true />
                    </Field>
                    <div>
                        <button type="submit" class="button button-primary" disabled=move || self.busy.get()>
                            {t("List tools")}
                        </button>
                    </div>
                </form>
                <When test=move || is_empty.get()>
                    <p class="note" role="status">{t("No tool is open to this caller with these groups.")}</p>
                </When>
                <When test=move || has_tools.get()>
                    <Field id="inspector-tool" label=t("Tool")>
                        <Select
                            id="inspector-tool"
                            value=text(move || self.chosen.get())
                            options
                            on_change=move |name: String| {
                                self.result.set(None);
                                self.chosen.set(name);
                            }
                        />
                    </Field>
                    {part(move || self.tool().map(|tool| self.call(&tool)).into_any())}
                </When>
                {part(move || self.error.get().map(|error| view! { <ProblemPanel error /> }).into_any())}
                {part(move || self.result.get().map(|result| outcome(&result)).into_any())}
            </div>
        }
        .into_any()
    }

    /// The form of one tool.
    fn call(self, tool: &Value) -> AnyView {
        let schema = tool["inputSchema"].clone();
        let form = SchemaForm::new(schema.clone(), sample(&schema), "inspector");
        let name = tool["name"].clone();
        let description = tool["description"].as_str().unwrap_or_default().to_owned();
        let call = move |event: leptos::ev::SubmitEvent| {
            event.prevent_default();
            let params = json!({"name": name, "arguments": form.value.get_untracked()});
            self.send("tools/call", params, move |result| self.result.set(Some(result)));
        };
        view! {
            <form class="panel stack" on:submit=call>
                <p>{description}</p>
                {form.view()}
                <div>
                    <button type="submit" class="button button-primary" disabled=move || self.busy.get()>
                        {t("Call the tool")}
                    </button>
                </div>
            </form>
            {json_block(t("As it is listed"), tool)}
        }
        .into_any()
    }
}

/// A result, or what the protocol refused.
fn outcome(result: &Value) -> AnyView {
    let is_error = result["isError"] == true || !result["error"].is_null();
    let (tone, text) = if is_error {
        (Tone::Bad, t("refused or failed"))
    } else {
        (Tone::Good, t("succeeded"))
    };
    view! {
        <div class="stack-small" role="status">
            <div><Badge tone text /></div>
            {json_block(t("Result"), result)}
        </div>
    }
    .into_any()
}
