//! Adding servers: by the document that MCP clients use, or by a form. What would be added is looked at first.

use leptos::prelude::*;
use toolgate_api::mcp_servers::{McpServer, McpServersAdded};

use super::connection::{target, transport_name};
use super::form::ServerForm;
use crate::action::Action;
use crate::api::{Ask, Body, in_project, json_of, object, with_query};
use crate::components::{Badge, Editor, EditorHandle, Faults, Field, Tabs, TextInput, Toasts};
use crate::language::{marked, t, tf};
use crate::reactive::{When, condition, effect, part};
use crate::routes::{Page, PageKind};
use crate::url::{Navigator, UrlParam};
use crate::words::counted;

const WAYS: [(&str, &str); 2] = [("", marked("Document")), ("form", marked("Form"))];

const EXAMPLE: &str = r#"{
  "mcpServers": {
    "docs": {
      "url": "https://docs.example.com/mcp",
      "headers": {"Authorization": "Bearer ${secret:DOCS_TOKEN}"}
    },
    "time": {"command": "uvx", "args": ["mcp-server-time"]}
  }
}
"#;

/// The page while servers are added.
#[component]
pub(super) fn Add(
    /// The project's id.
    project: Memo<String>,
) -> impl IntoView {
    let by = UrlParam::new("by");
    let is_form = condition(move || by.get() == "form");
    let text = RwSignal::new(String::new());
    let name = RwSignal::new(String::new());
    let form = ServerForm::new();
    let replace = RwSignal::new(false);
    let found = RwSignal::new(None::<Vec<McpServer>>);
    let handle = EditorHandle::new();
    let action = Action::new();
    let toasts = Toasts::get();
    let navigator = Navigator::new();
    // What was found is about what was written then.
    effect(move || {
        by.signal().track();
        text.track();
        name.track();
        form.track();
        replace.track();
        found.set(None);
        action.error.set(None);
    });
    let body = move || {
        if !is_form.get_untracked() {
            // JSON is YAML too.
            return Body::Yaml(text.get_untracked());
        }
        let name = name.get_untracked();
        let server = object(vec![(name.trim(), json_of(&form.definition()))]);
        Body::json(&object(vec![("mcpServers", server)]))
    };
    let send = move |dry_run: bool| {
        let word = |is_set: bool| if is_set { "true" } else { "" };
        let query = [
            ("dry_run", word(dry_run)),
            ("replace", word(replace.get_untracked())),
        ];
        let path = in_project(&project.get_untracked(), &["mcp-servers"]);
        action.send(Ask::post(with_query(path, &query), body()), move |answer| {
            let Some(added) = action.read::<McpServersAdded>(&answer) else {
                return;
            };
            if dry_run {
                found.set(Some(added.items));
                return;
            }
            let mut names: Vec<String> = added.items.into_iter().map(|server| server.stored.name).collect();
            toasts.done(tf!("Added {names}.", names = names.join(", ")));
            let project = project.get_untracked();
            let next = match names.pop().filter(|_| names.is_empty()) {
                Some(name) => with_query(Page::mcp_server(project, name).path(), &[("tab", "import")]),
                None => Page::of_project(project, PageKind::McpServers).path(),
            };
            navigator.go(&next);
        });
    };
    let is_given = move || {
        if is_form.get() {
            form.is_ready() && name.with(|name| !name.trim().is_empty())
        } else {
            text.with(|text| !text.trim().is_empty())
        }
    };
    let input = move || {
        if is_form.get() {
            return view! {
                <Field id="server-name" label=t("Name") help=t("Lower-case letters, digits and hyphens. The source of its tools is mcp:name.")>
                    <TextInput id="server-name" value=name mono=true placeholder="weather" max="63" />
                </Field>
                {form.view(action)}
            }
            .into_any();
        }
        view! {
            <p class="muted">
                {t("Paste what an MCP client has in its settings: mcpServers, servers or context_servers, as JSON or YAML.")}
            </p>
            <Editor name=t("Document of servers") value=text handle rows=12 />
            <When test=move || text.with(String::is_empty)>
                <div>
                    <button type="button" class="button button-quiet" on:click=move |_| text.set(EXAMPLE.to_owned())>
                        {t("Start from an example")}
                    </button>
                </div>
            </When>
        }
        .into_any()
    };
    view! {
        <Tabs param=by name=t("How servers are added") choices=&WAYS />
        <div class="stack">
            <section class="panel stack" aria-label=t("Add servers")>
                {part(input)}
                <label class="check">
                    <input
                        type="checkbox"
                        prop:checked=move || replace.get()
                        on:change=move |event| replace.set(event_target_checked(&event))
                    />
                    {t("Replace servers of the same names")}
                </label>
                <div class="row">
                    <button
                        type="button"
                        class="button"
                        disabled=move || !is_given() || action.busy.get()
                        on:click=move |_| send(true)
                    >
                        {t("See what would be added")}
                    </button>
                    <span class="muted" role="status">
                        {move || action.busy.get().then_some(t("Checking…"))}
                    </span>
                </div>
            </section>
            {part(move || {
                if is_form.get() { action.outcome() } else { action.refusal(handle) }
            })}
            {part(move || found.with(|found| found.as_ref().map(|found| outlook(found, handle))).into_any())}
            <When test=move || found.with(Option::is_some)>
                <div>
                    <button
                        type="button"
                        class="button button-primary"
                        disabled=move || action.busy.get()
                        on:click=move |_| send(false)
                    >
                        {move || tf!("Add {servers}", servers = counted(found.with(|found| found.as_ref().map_or(0, Vec::len)), "server"))}
                    </button>
                </div>
            </When>
        </div>
    }
}

/// What would be added, with what to look at.
fn outlook(found: &[McpServer], handle: EditorHandle) -> AnyView {
    let items: Vec<_> = found
        .iter()
        .map(|server| {
            let definition = &server.stored.definition;
            let again = (server.stored.revision > 1).then(|| view! { <Badge text=t("replaced") /> });
            let warnings = (!server.warnings.is_empty())
                .then(|| view! { <Faults faults=server.warnings.clone() handle /> });
            view! {
                <li class="stack-small">
                    <div class="row">
                        <strong class="tool-name">{server.stored.name.clone()}</strong>
                        <span>{transport_name(server.transport)}</span>
                        {again}
                    </div>
                    <code class="break">{target(definition)}</code>
                    {warnings}
                </li>
            }
        })
        .collect();
    view! {
        <section class="panel stack" aria-label=t("What would be added")>
            <h2>{t("What would be added")}</h2>
            <ul class="operations">{items}</ul>
        </section>
    }
    .into_any()
}
