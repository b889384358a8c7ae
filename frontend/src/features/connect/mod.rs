//! How agents and programs connect: snippets of a tool and a key that exist, which run as they are pasted.

mod call;
mod clients;
mod inspector;
mod mcp;

use leptos::prelude::*;
use toolgate_api::keys::{Key, KeyPage};
use toolgate_api::settings::{ProjectSettings, SessionUse};
use toolgate_api::tools::Tool;

use crate::api::{in_project, with_query};
use crate::components::{
    CodeBlock, EmptyState, Field, ProblemPanel, SearchBox, SectionHead, Select, Skeleton, Symbol, Tabs,
};
use crate::features::keys::{CreateKeyDialog, is_usable};
use crate::language::{marked, t, tf};
use crate::loaded::Loaded;
use crate::paged::{Item, Paged, Status};
use crate::reactive::{When, condition, effect, part, text};
use crate::routes::{API_REFERENCE, Page, PageKind};
use crate::session::{Permission, Session};
use crate::snippets;
use crate::url::{UrlParam, project_in_path};

/// Tools read at once; the others are found by searching, or read page by page.
const READ_AT_ONCE: usize = 100;

/// The views: what the address says, and their names.
const VIEWS: [(&str, &str); 4] = [
    ("rest", marked("REST API")),
    ("mcp", marked("MCP clients")),
    ("inspector", marked("Inspector")),
    ("clients", marked("Connected clients")),
];

/// What the snippets are made from.
#[derive(Clone, Copy)]
struct Example {
    project: Memo<String>,
    session: Session,
    /// The tools by name, as far as they were read, and the chosen one.
    list: Paged,
    tools: Memo<Vec<Tool>>,
    tool: UrlParam,
    /// What the tools are searched for.
    search: UrlParam,
    /// The keys that work; none for users that may not see them.
    keys: Memo<Vec<Key>>,
    key: UrlParam,
    /// Whether the project requires sessions.
    in_session: Memo<bool>,
}

impl Example {
    /// The key that calls, reactively: the chosen one, else the one that serves best.
    fn key(self) -> Option<Key> {
        let chosen = self.key.get();
        self.keys.with(|keys| {
            let named = keys.iter().find(|key| key.id.to_string() == chosen);
            let serves = |key: &&Key| self.best(&key.groups).map_or(0, |(fitness, _)| fitness);
            named.or_else(|| keys.iter().rev().max_by_key(serves)).cloned()
        })
    }

    /// The groups of who calls, reactively: those of the key, else one's own.
    fn granted(self) -> Vec<String> {
        match self.key() {
            Some(key) => key.groups,
            None => {
                let held = self.session.membership(&self.project.get());
                held.map(|held| held.groups).unwrap_or_default()
            }
        }
    }

    /// The chosen tool, or the one that serves best as an example for these groups, and how well.
    fn best(self, granted: &[String]) -> Option<(u8, Tool)> {
        let chosen = self.tool.get();
        self.tools.with(|tools| {
            let named = tools.iter().find(|tool| tool.name == chosen);
            // Of several that serve as well, the first.
            let best = || tools.iter().rev().max_by_key(|tool| call::fitness(tool, granted));
            let tool = named.or_else(best)?;
            Some((call::fitness(tool, granted), tool.clone()))
        })
    }

    /// The tool that is called, reactively.
    fn tool(self) -> Option<Tool> {
        Some(self.best(&self.granted())?.1)
    }

    /// The body of the call, reactively.
    fn body(self) -> String {
        let granted = self.granted();
        self.tool()
            .map(|tool| call::body(&tool, &granted, self.in_session.get()))
            .unwrap_or_default()
    }

    /// The body that begins a session for the call, reactively.
    fn session(self) -> String {
        let granted = self.granted();
        self.tool()
            .map(|tool| call::session(&tool, &granted))
            .unwrap_or_default()
    }
}

/// The snippets.
#[component]
pub(crate) fn ConnectPage() -> impl IntoView {
    let project = project_in_path();
    let view_param = UrlParam::new("view");
    let groups = RwSignal::new(asked_at_first(&project.get_untracked()));
    let view = view_param.signal();
    view! {
        <SectionHead section=PageKind::Connect text=t("Agents speak MCP, programs the REST API: the same tools, decisions and record. A key says who calls; the groups it asks for and the workflow state say what it may call.") />
        <Tabs param=view_param name=t("Ways to connect") choices=&VIEWS />
        {part(move || match view.get().as_str() {
            "mcp" => mcp::configure(project, groups),
            "inspector" => inspector::inspector(project, groups),
            "clients" => mcp::connected(project),
            _ => rest(project),
        })}
    }
}

/// The groups that a client asks for until others are chosen: all of one's own, for who does not hold the default group.
fn asked_at_first(project: &str) -> String {
    let held = Session::get().membership(project);
    let held = held.map(|held| held.groups).unwrap_or_default();
    match held.iter().any(|group| group == "default" || group == "*") {
        true => String::new(),
        false => held.join(", "),
    }
}

/// The snippets of the REST API.
fn rest(project: Memo<String>) -> AnyView {
    let session = Session::get();
    let may_manage_keys = condition(move || session.may(&project.get(), Permission::ManageKeys));
    let search = UrlParam::new("q");
    let list = Paged::sized(
        move || {
            let query = [("enabled", "true"), ("q", &search.get())];
            with_query(in_project(&project.get(), &["tools"]), &query)
        },
        READ_AT_ONCE,
    );
    let tool = UrlParam::new("tool");
    let known = Loaded::new(move || {
        if may_manage_keys.get() {
            with_query(in_project(&project.get(), &["keys"]), &[("limit", "200")])
        } else {
            String::new()
        }
    });
    let settings = Loaded::new(move || session.settings_path(&project.get()));
    let example = Example {
        project,
        session,
        list,
        tools: Memo::new(move |_| {
            list.items
                .with(|items| items.iter().filter_map(Item::read).collect())
        }),
        tool,
        search,
        keys: Memo::new(move |_| {
            let all = known.read::<KeyPage>().map(|page| page.items).unwrap_or_default();
            all.into_iter().filter(is_usable).collect()
        }),
        key: UrlParam::new("key"),
        in_session: condition(move || {
            let settings = settings.read::<ProjectSettings>();
            settings.is_some_and(|settings| settings.sessions == SessionUse::Required)
        }),
    };
    // A link may name a tool that is on a later page.
    effect(move || {
        let name = tool.get();
        let is_read = name.is_empty()
            || example
                .tools
                .with(|tools| tools.iter().any(|tool| tool.name == name));
        if !is_read && list.status.get() == Status::Ready && list.has_more() {
            list.more();
        }
    });
    let is_listed = condition(move || list.shown.with(|shown| !shown.is_empty()));
    let is_known = condition(move || is_listed.get() && (!may_manage_keys.get() || known.is_known()));
    view! {
        {part(move || match list.status.get() {
            Status::Failed(error) => view! { <ProblemPanel error on_retry=move |()| list.retry() /> }.into_any(),
            Status::Loading if !is_listed.get() => view! { <Skeleton what=t("the tools") rows=4 /> }.into_any(),
            _ => ().into_any(),
        })}
        {known.problem()}
        <When test=move || is_known.get()>{steps(example, may_manage_keys, known)}</When>
    }
    .into_any()
}

fn steps(example: Example, may_manage_keys: Memo<bool>, known: Loaded) -> AnyView {
    let project = example.project;
    let has_tool = condition(move || example.tools.with(|tools| !tools.is_empty()));
    let is_searched = condition(move || !example.search.get().is_empty());
    let may_search = condition(move || is_searched.get() || example.list.total.get() > READ_AT_ONCE);
    let list = text(move || snippets::list(&project.get()));
    let begin = text(move || snippets::begin_session(&project.get(), &example.session()));
    let call = text(move || snippets::call_by_key(&project.get(), &example.body()));
    let python = text(move || snippets::python_call(&project.get(), &example.body()));
    let typescript = text(move || snippets::typescript_call(&project.get(), &example.body()));
    view! {
        <ol class="steps steps-wide">
            <li>
                <h2>{t("Say who calls")}</h2>
                {part(move || if may_manage_keys.get() { by_key(example, known) } else { by_sign_in(example) })}
            </li>
            <li>
                <h2>{t("See what it may call")}</h2>
                <CodeBlock caption=t("Bash: list") text=list />
            </li>
            <li>
                <h2>{t("Call")}</h2>
                <When test=may_search>
                    <SearchBox param=example.search name=t("Search tools") placeholder=t("Search names and descriptions") />
                </When>
                <Show
                    when=move || has_tool.get()
                    fallback=move || if is_searched.get() { no_match() } else { no_tool(example) }
                >
                    {which_tool(example)}
                    <When test=move || example.in_session.get()>
                        <p>{t("This project requires a session for every call. It keeps the groups and the workflow state.")}</p>
                        <CodeBlock caption=t("Bash: session") text=begin />
                    </When>
                    <CodeBlock caption=t("Bash: call") text=call />
                    <CodeBlock caption=t("Python") text=python />
                    <CodeBlock caption=t("TypeScript") text=typescript />
                </Show>
            </li>
            <li>
                <h2>{t("Generate a client")}</h2>
                <p>
                    {t("The ")} <a href=API_REFERENCE rel="external">{t("API reference")}</a>
                    {t(" is made from ")} <a href="/openapi.json" rel="external">{t("the OpenAPI document")}</a>
                    {t(", which every generator reads.")}
                </p>
            </li>
        </ol>
    }
    .into_any()
}

/// The key: one that is there, or a new one.
fn by_key(example: Example, known: Loaded) -> AnyView {
    let making = RwSignal::new(false);
    let key = Memo::new(move |_| example.key());
    let options = Signal::derive(move || {
        let keys = example.keys.get().into_iter();
        keys.map(|key| {
            (
                key.id.to_string(),
                format!("{} ({}…): {}", key.name, key.prefix, key.groups.join(", ")),
            )
        })
        .collect()
    });
    let chosen = text(move || key.get().map(|key| key.id.to_string()).unwrap_or_default());
    let groups = text(move || match example.tool() {
        Some(tool) if !tool.group.is_empty() => tool.group.join(", "),
        _ => "default".to_owned(),
    });
    let keep = text(move || {
        key.get()
            .map(|key| snippets::keep_key(&key.prefix))
            .unwrap_or_default()
    });
    let has_key = condition(move || key.with(Option::is_some));
    view! {
        <div class="stack-small">
            <When test=move || has_key.get()>
                <Field id="connect-key" label=t("Key") help=t("Its secret was shown when it was made. If it is lost, make another key, or rotate this one.")>
                    <Select
                        id="connect-key"
                        value=chosen
                        options
                        on_change=move |id: String| example.key.push(&id)
                    />
                </Field>
                <CodeBlock caption=t("Bash: key") text=keep />
            </When>
            <When test=move || !has_key.get()>
                <p>{t("This project has no key that works yet.")}</p>
            </When>
            <div>
                <button type="button" class="button" on:click=move |_| making.set(true)>
                    {t("New key")}
                </button>
            </div>
        </div>
        <CreateKeyDialog
            project=example.project
            open=making
            groups
            on_created=move |id: String| {
                example.key.replace(&id);
                known.reload();
            }
        />
    }
    .into_any()
}

/// A sign-in instead of a key, for users that may not create one.
fn by_sign_in(example: Example) -> AnyView {
    let name = example.session.me().map(|me| me.name).unwrap_or_default();
    view! {
        <p>{t("An agent calls with a key, which an owner of this project makes. To try it yourself, sign in:")}</p>
        <CodeBlock caption=t("Bash: sign in") text=snippets::token("TOOLGATE_KEY", &name) />
    }
    .into_any()
}

fn which_tool(example: Example) -> AnyView {
    let options = Signal::derive(move || {
        let tools = example.tools.get().into_iter();
        tools.map(|tool| (tool.name.clone(), tool.name)).collect()
    });
    let chosen = text(move || example.tool().map(|tool| tool.name).unwrap_or_default());
    let is_refused = condition(move || {
        let granted = example.granted();
        example
            .tool()
            .is_some_and(|tool| call::group_for(&tool, &granted).is_none())
    });
    let list = example.list;
    let is_reading = condition(move || list.status.get() == Status::LoadingMore);
    let count = move || {
        tf!(
            "{count} of {all} tools",
            count = example.tools.with(Vec::len),
            all = list.total.get()
        )
    };
    view! {
        <div class="stack-small">
            <Field id="connect-tool" label=t("Tool")>
                <Select
                    id="connect-tool"
                    value=chosen
                    options
                    on_change=move |name: String| example.tool.push(&name)
                />
            </Field>
            <When test=move || list.has_more()>
                <div class="row">
                    <button
                        type="button"
                        class="button button-small"
                        aria-disabled=move || is_reading.get().to_string()
                        on:click=move |_| {
                            if list.status.get_untracked() == Status::Ready {
                                list.more();
                            }
                        }
                    >
                        {t("List more tools")}
                    </button>
                    <span class="muted">{count}</span>
                </div>
            </When>
            <When test=move || is_refused.get()>
                <p class="note">{t("The caller holds no group of this tool, so this call is refused. Choose another tool or key.")}</p>
            </When>
        </div>
    }
    .into_any()
}

fn no_match() -> AnyView {
    view! { <p class="note">{t("No tool matches the search.")}</p> }.into_any()
}

fn no_tool(example: Example) -> AnyView {
    let project = example.project;
    let may_edit = condition(move || example.session.may_see(&project.get(), PageKind::Upload));
    view! {
        <EmptyState
            symbol=Symbol::Tool
            title=t("There is no tool to call yet")
            text=t("As soon as there is one, the call to copy is here, in Bash, Python and TypeScript.")
        >
            <When test=move || may_edit.get()>
                <a class="button" href=move || Page::of_project(project.get(), PageKind::Upload).path()>
                    {t("Upload a tool")}
                </a>
            </When>
        </EmptyState>
    }
    .into_any()
}
