//! The form of a server: how it is reached, and with what.

use std::collections::BTreeMap;

use leptos::prelude::*;
use toolgate_api::mcp_servers::{
    McpChangePolicy, McpClientStyle, McpElicitation, McpInstance, McpOAuthClient, McpServerDefinition,
    McpTransport,
};

use super::connection::transport_name;
use super::offers::{OfferForm, offers_view};
use crate::action::Action;
use crate::components::{Field, Select, TextArea, TextInput};
use crate::form_texts::{entries, fault, lines, words};
use crate::language::{marked, t};
use crate::reactive::{When, condition};

/// The ways to reach a server, by their names in the API.
const TRANSPORTS: [(&str, McpTransport); 3] = [
    ("streamable_http", McpTransport::StreamableHttp),
    ("sse", McpTransport::Sse),
    ("stdio", McpTransport::Stdio),
];

/// What becomes of calls of a changed tool.
const POLICIES: [(&str, &str); 2] = [
    (
        "serve",
        marked("They are sent; callers see the approved definition"),
    ),
    ("refuse", marked("They are refused until the change is approved")),
];

/// Whose calls one connection or process serves.
const INSTANCES: [(&str, &str); 2] = [
    ("shared", marked("All callers share one")),
    (
        "session",
        marked("One for each session, or for each principal without a session"),
    ),
];

/// What is filled in.
#[derive(Clone, Copy)]
pub(super) struct ServerForm {
    transport: RwSignal<String>,
    url: RwSignal<String>,
    headers: RwSignal<String>,
    token_url: RwSignal<String>,
    client_id: RwSignal<String>,
    client_secret: RwSignal<String>,
    scopes: RwSignal<String>,
    /// What of the OAuth client has no field, and stays as it is.
    unshown: StoredValue<(Option<String>, McpClientStyle)>,
    /// The groups that open its resources and its prompts, and whether there are any.
    resources: OfferForm,
    prompts: OfferForm,
    /// The account provider whose accounts callers use it with.
    account: RwSignal<String>,
    command: RwSignal<String>,
    args: RwSignal<String>,
    env: RwSignal<String>,
    description: RwSignal<String>,
    timeout: RwSignal<String>,
    concurrent: RwSignal<String>,
    idle: RwSignal<String>,
    refresh: RwSignal<String>,
    on_change: RwSignal<String>,
    instance: RwSignal<String>,
    instances: RwSignal<String>,
    enabled: RwSignal<bool>,
    network: RwSignal<bool>,
    asks: RwSignal<bool>,
}

impl ServerForm {
    /// Nothing is filled in.
    pub(super) fn new() -> Self {
        let form = Self {
            transport: RwSignal::new(String::new()),
            url: RwSignal::new(String::new()),
            headers: RwSignal::new(String::new()),
            token_url: RwSignal::new(String::new()),
            client_id: RwSignal::new(String::new()),
            client_secret: RwSignal::new(String::new()),
            scopes: RwSignal::new(String::new()),
            unshown: StoredValue::default(),
            resources: OfferForm::new(),
            prompts: OfferForm::new(),
            account: RwSignal::new(String::new()),
            command: RwSignal::new(String::new()),
            args: RwSignal::new(String::new()),
            env: RwSignal::new(String::new()),
            description: RwSignal::new(String::new()),
            timeout: RwSignal::new(String::new()),
            concurrent: RwSignal::new(String::new()),
            idle: RwSignal::new(String::new()),
            refresh: RwSignal::new(String::new()),
            on_change: RwSignal::new(POLICIES[0].0.to_owned()),
            instance: RwSignal::new(INSTANCES[0].0.to_owned()),
            instances: RwSignal::new(String::new()),
            enabled: RwSignal::new(true),
            network: RwSignal::new(false),
            asks: RwSignal::new(true),
        };
        form.transport.set(TRANSPORTS[0].0.to_owned());
        form
    }

    /// Fills it in.
    pub(super) fn show(self, definition: McpServerDefinition) {
        let transport = definition.transport();
        let name = TRANSPORTS.iter().find(|(_, other)| *other == transport);
        self.transport.set(name.map_or("", |(name, _)| name).to_owned());
        self.url.set(definition.url.unwrap_or_default());
        self.headers.set(lines(&definition.headers, ": "));
        if let Some(client) = definition.oauth {
            self.token_url.set(client.token_url);
            self.client_id.set(client.client_id);
            self.client_secret.set(client.client_secret);
            self.scopes.set(client.scopes.join(" "));
            self.unshown.set_value((client.audience, client.auth_style));
        }
        self.account.set(definition.account.unwrap_or_default());
        self.command.set(definition.command.unwrap_or_default());
        self.args.set(definition.args.join("\n"));
        self.env.set(lines(&definition.env, "="));
        self.description.set(definition.description.unwrap_or_default());
        let number = |number: Option<u32>| number.map(|number| number.to_string()).unwrap_or_default();
        self.timeout.set(number(definition.timeout_ms));
        self.concurrent.set(number(definition.max_concurrent));
        self.idle.set(number(definition.idle_stop_s));
        self.refresh.set(number(definition.refresh_s));
        let refuses = definition.on_change == McpChangePolicy::Refuse;
        self.on_change.set(POLICIES[usize::from(refuses)].0.to_owned());
        let is_apart = definition.instance == McpInstance::Session;
        self.instance.set(INSTANCES[usize::from(is_apart)].0.to_owned());
        self.instances.set(number(definition.max_instances));
        self.resources.show(definition.resources);
        self.prompts.show(definition.prompts);
        self.enabled.set(definition.enabled);
        self.network.set(definition.network);
        self.asks.set(definition.elicitation == McpElicitation::Pass);
    }

    /// Whether each session has an instance of its own.
    fn is_apart(self) -> bool {
        self.instance.with(|instance| instance == INSTANCES[1].0)
    }

    fn is_stdio(self) -> bool {
        self.transport.with(|transport| transport == TRANSPORTS[2].0)
    }

    /// Whether it says where the server is, reactively.
    pub(super) fn is_ready(self) -> bool {
        let place = if self.is_stdio() { self.command } else { self.url };
        place.with(|place| !place.trim().is_empty())
    }

    /// Notices every change.
    pub(super) fn track(self) {
        let texts = [
            self.transport,
            self.url,
            self.headers,
            self.token_url,
            self.client_id,
            self.client_secret,
            self.scopes,
            self.account,
            self.command,
            self.args,
            self.env,
            self.description,
            self.timeout,
            self.concurrent,
            self.idle,
            self.on_change,
            self.instance,
            self.instances,
            self.resources.groups,
            self.prompts.groups,
        ];
        texts.iter().for_each(RwSignal::track);
        self.enabled.track();
        self.network.track();
        self.asks.track();
    }

    /// The server as it is filled in. What belongs to another way to reach servers is left out.
    pub(super) fn definition(self) -> McpServerDefinition {
        untrack(|| {
            let is_stdio = self.is_stdio();
            let text = |field: RwSignal<String>, is_meant: bool| {
                let text = field.get().trim().to_owned();
                Some(text).filter(|text| is_meant && !text.is_empty())
            };
            let entries = |field: RwSignal<String>, sign: char, is_meant: bool| {
                field.with(|text| {
                    if is_meant {
                        entries(text, sign)
                    } else {
                        BTreeMap::new()
                    }
                })
            };
            let transport = self.transport.get();
            let transport = TRANSPORTS.iter().find(|(name, _)| *name == transport);
            // That of an address is evident.
            let transport = transport.map(|(_, transport)| *transport);
            // What is no number is beyond what the server takes, and it says so.
            let number = |field: RwSignal<String>| {
                let text = text(field, true)?;
                Some(text.parse().unwrap_or(u32::MAX))
            };
            let mut definition = McpServerDefinition {
                transport: transport.filter(|transport| *transport == McpTransport::Sse),
                command: text(self.command, is_stdio),
                args: self
                    .args
                    .with(|args| if is_stdio { words(args) } else { Vec::new() }),
                env: entries(self.env, '=', is_stdio),
                url: text(self.url, !is_stdio),
                headers: entries(self.headers, ':', !is_stdio),
                oauth: text(self.token_url, !is_stdio).map(|token_url| self.client(token_url)),
                account: text(self.account, !is_stdio),
                description: text(self.description, true),
                enabled: self.enabled.get(),
                network: is_stdio && self.network.get(),
                timeout_ms: number(self.timeout),
                max_concurrent: number(self.concurrent),
                idle_stop_s: number(self.idle),
                refresh_s: number(self.refresh),
                on_change: McpChangePolicy::Serve,
                instance: McpInstance::Shared,
                max_instances: None,
                elicitation: match self.asks.get() {
                    true => McpElicitation::Pass,
                    false => McpElicitation::Refuse,
                },
                resources: self.resources.offer(),
                prompts: self.prompts.offer(),
            };
            if self.is_apart() {
                definition.instance = McpInstance::Session;
                definition.max_instances = number(self.instances);
            }
            if self.on_change.with(|policy| policy == POLICIES[1].0) {
                definition.on_change = McpChangePolicy::Refuse;
            }
            definition
        })
    }

    fn client(self, token_url: String) -> McpOAuthClient {
        let (audience, auth_style) = self.unshown.get_value();
        let text = |field: RwSignal<String>| field.get().trim().to_owned();
        McpOAuthClient {
            token_url,
            client_id: text(self.client_id),
            client_secret: text(self.client_secret),
            scopes: text(self.scopes).split_whitespace().map(str::to_owned).collect(),
            audience,
            auth_style,
        }
    }

    /// The fields of the OAuth client.
    fn client_view(self, wrong: impl Fn(&'static str) -> Signal<Option<String>>) -> AnyView {
        view! {
            <details open=!self.token_url.with_untracked(String::is_empty)>
                <summary>{t("Access token of an OAuth client")}</summary>
                <div class="stack settings-more">
                    <Field
                        id="server-token-url"
                        label=t("Token address")
                        help=t("Where tokens are given out (client credentials). Its origin must be on an egress list.")
                        error=wrong("/oauth/token_url")
                    >
                        <TextInput id="server-token-url" value=self.token_url mono=true placeholder="https://auth.example.com/token" max="2000" />
                    </Field>
                    <div class="columns columns-level">
                        <Field id="server-client-id" label=t("Client id") error=wrong("/oauth/client_id")>
                            <TextInput id="server-client-id" value=self.client_id mono=true max="8000" />
                        </Field>
                        <Field
                            id="server-client-secret"
                            label=t("Client secret")
                            help=t("A secret of the project: ${secret:NAME}")
                            error=wrong("/oauth/client_secret")
                        >
                            <TextInput id="server-client-secret" value=self.client_secret mono=true placeholder="${secret:NAME}" max="8000" />
                        </Field>
                        <Field id="server-scopes" label=t("Scopes") help=t("Separated by spaces.") error=wrong("/oauth/scopes")>
                            <TextInput id="server-scopes" value=self.scopes mono=true max="2000" />
                        </Field>
                    </div>
                </div>
            </details>
        }
        .into_any()
    }

    /// The fields. What the server says is wrong is at its field.
    pub(super) fn view(self, action: Action) -> AnyView {
        let is_stdio = condition(move || self.is_stdio());
        let options = Signal::stored(
            TRANSPORTS
                .map(|(name, transport)| (name.to_owned(), transport_name(transport).to_owned()))
                .to_vec(),
        );
        let policies = Signal::stored(
            POLICIES
                .map(|(name, text)| (name.to_owned(), t(text).to_owned()))
                .to_vec(),
        );
        let instances = Signal::stored(
            INSTANCES
                .map(|(name, text)| (name.to_owned(), t(text).to_owned()))
                .to_vec(),
        );
        let is_apart = condition(move || self.is_apart());
        let wrong = move |place: &'static str| {
            Signal::derive(move || action.error.with(|error| fault(error.as_ref(), place)))
        };
        view! {
            <Field id="server-transport" label=t("Transport") error=wrong("/transport")>
                <Select id="server-transport" value=self.transport options on_change=move |chosen| self.transport.set(chosen) />
            </Field>
            <When test=move || !is_stdio.get()>
                <Field id="server-url" label=t("Address") help=t("Its origin must be on an egress list.") error=wrong("/url")>
                    <TextInput id="server-url" value=self.url mono=true placeholder="https://mcp.example.com/mcp" max="2000" />
                </Field>
                <Field
                    id="server-headers"
                    label=t("Headers")
                    help=t("One a line: Authorization: Bearer ${secret:NAME}. A secret of the project is ${secret:NAME}.")
                    error=wrong("/headers")
                >
                    <TextArea id="server-headers" value=self.headers rows=3 mono=true />
                </Field>
                {self.client_view(wrong)}
                <Field
                    id="server-account"
                    label=t("Accounts of")
                    help=t("An account provider of the project: each call is sent with the caller's own account there. Empty: none.")
                    error=wrong("/account")
                >
                    <TextInput id="server-account" value=self.account mono=true max="63" />
                </Field>
            </When>
            <When test=move || is_stdio.get()>
                <Field
                    id="server-command"
                    label=t("Command")
                    help=t("Exactly as the operator lists it in mcp.stdio_commands.")
                    error=wrong("/command")
                >
                    <TextInput id="server-command" value=self.command mono=true placeholder="uvx" max="1000" />
                </Field>
                <Field id="server-args" label=t("Arguments") help=t("One a line.") error=wrong("/args")>
                    <TextArea id="server-args" value=self.args rows=3 mono=true />
                </Field>
                <Field
                    id="server-env"
                    label=t("Environment")
                    help=t("One a line: API_KEY=${secret:NAME}. A secret of the project is ${secret:NAME}.")
                    error=wrong("/env")
                >
                    <TextArea id="server-env" value=self.env rows=3 mono=true />
                </Field>
                {check(t("Give it the network, if the operator allows that"), self.network)}
            </When>
            <Field id="server-description" label=t("Description") error=wrong("/description")>
                <TextInput id="server-description" value=self.description max="1000" />
            </Field>
            {check(t("Enabled: it may be connected to"), self.enabled)}
            {check(t("It may ask the person who calls a tool"), self.asks)}
            <Field
                id="server-instance"
                label=t("Connections")
                help=t("A server that remembers what it was asked keeps callers apart only with one for each session.")
            >
                <Select
                    id="server-instance"
                    value=self.instance
                    options=instances
                    on_change=move |chosen| self.instance.set(chosen)
                />
            </Field>
            <When test=move || is_apart.get()>
                <Field
                    id="server-instances"
                    label=t("Instances at once")
                    help=t("16 when empty. A call that would need another one is refused.")
                    error=wrong("/max_instances")
                >
                    <TextInput id="server-instances" value=self.instances kind="number" max="4" />
                </Field>
            </When>
            {offers_view(self.resources, self.prompts, wrong)}
            <details>
                <summary>{t("Bounds, and changed tools")}</summary>
                <div class="stack settings-more">
                    <div class="columns columns-level">
                        <Field id="server-timeout" label=t("Time-out in ms") help=t("30000 when empty.") error=wrong("/timeout_ms")>
                            <TextInput id="server-timeout" value=self.timeout kind="number" max="6" />
                        </Field>
                        <Field id="server-concurrent" label=t("Calls at once") help=t("16 when empty.") error=wrong("/max_concurrent")>
                            <TextInput id="server-concurrent" value=self.concurrent kind="number" max="4" />
                        </Field>
                        <Field
                            id="server-idle"
                            label=t("Seconds until it is ended")
                            help=t("Without a call; 600 when empty, 0 for never.")
                            error=wrong("/idle_stop_s")
                        >
                            <TextInput id="server-idle" value=self.idle kind="number" max="5" />
                        </Field>
                        <Field
                            id="server-refresh"
                            label=t("Seconds between comparisons")
                            help=t("Of its tools with the approved ones; 3600 when empty, 0: only when it says so.")
                            error=wrong("/refresh_s")
                        >
                            <TextInput id="server-refresh" value=self.refresh kind="number" max="6" />
                        </Field>
                    </div>
                    <Field id="server-on-change" label=t("Calls of a tool that the server has changed")>
                        <Select
                            id="server-on-change"
                            value=self.on_change
                            options=policies
                            on_change=move |chosen| self.on_change.set(chosen)
                        />
                    </Field>
                </div>
            </details>
        }
        .into_any()
    }
}

fn check(words: &'static str, value: RwSignal<bool>) -> AnyView {
    view! {
        <label class="check">
            <input
                type="checkbox"
                prop:checked=move || value.get()
                on:change=move |event| value.set(event_target_checked(&event))
            />
            {words}
        </label>
    }
    .into_any()
}
