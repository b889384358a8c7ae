//! The dialog that adds or changes an account provider.

use leptos::prelude::*;
use toolgate_api::accounts::{AccountMethod, AccountProvider, AccountProviderDefinition};
use toolgate_api::mcp_servers::McpClientStyle;

use super::providers::tag;
use crate::action::Action;
use crate::api::{Ask, Body, in_project};
use crate::candidates::hosts;
use crate::components::{AddLine, Field, FormDialog, Placement, Select, TextArea, TextInput, Toasts, word};
use crate::language::{marked, t, tf};
use crate::reactive::{When, condition, effect, text};

/// How a credential is obtained.
const METHODS: [AccountMethod; 3] = [
    AccountMethod::Oauth,
    AccountMethod::PersonalKey,
    AccountMethod::TokenExchange,
];
/// How a client presents its secret.
const STYLES: [(McpClientStyle, &str); 2] = [
    (McpClientStyle::Basic, marked("In the header Authorization")),
    (McpClientStyle::Body, marked("In the body of the request")),
];

/// How accounts are connected, as a person reads it.
pub(super) fn method_words(method: AccountMethod) -> &'static str {
    match method {
        AccountMethod::Oauth => t("connected at the service (OAuth)"),
        AccountMethod::PersonalKey => t("keys that persons paste"),
        AccountMethod::TokenExchange => t("exchanged for the caller's own token"),
    }
}

/// The texts of the form.
#[derive(Clone, Copy)]
struct Texts {
    name: RwSignal<String>,
    method: RwSignal<String>,
    title: RwSignal<String>,
    description: RwSignal<String>,
    hosts: RwSignal<String>,
    header: RwSignal<String>,
    prefix: RwSignal<String>,
    issuer: RwSignal<String>,
    resource: RwSignal<String>,
    authorization_url: RwSignal<String>,
    token_url: RwSignal<String>,
    client_id: RwSignal<String>,
    client_secret: RwSignal<String>,
    style: RwSignal<String>,
    scopes: RwSignal<String>,
    audience: RwSignal<String>,
}

impl Texts {
    fn new() -> Self {
        let empty = || RwSignal::new(String::new());
        Self {
            name: empty(),
            method: empty(),
            title: empty(),
            description: empty(),
            hosts: empty(),
            header: empty(),
            prefix: empty(),
            issuer: empty(),
            resource: empty(),
            authorization_url: empty(),
            token_url: empty(),
            client_id: empty(),
            client_secret: empty(),
            style: empty(),
            scopes: empty(),
            audience: empty(),
        }
    }

    /// Shows a provider, or an empty form.
    fn show(self, provider: Option<AccountProvider>) {
        let (name, definition) = match provider {
            Some(provider) => (provider.name, Some(provider.definition)),
            None => (String::new(), None),
        };
        let of = |part: fn(&AccountProviderDefinition) -> Option<String>| {
            definition.as_ref().and_then(part).unwrap_or_default()
        };
        let method = definition.as_ref().map_or(AccountMethod::Oauth, |one| one.method);
        let style = definition
            .as_ref()
            .map_or(McpClientStyle::default(), |one| one.auth_style);
        for (field, value) in [
            (self.name, name),
            (self.method, word(&method)),
            (self.title, of(|one| one.title.clone())),
            (self.description, of(|one| one.description.clone())),
            (self.hosts, of(|one| Some(one.hosts.join("\n")))),
            (self.header, of(|one| one.header.clone())),
            (self.prefix, of(|one| one.prefix.clone())),
            (self.issuer, of(|one| one.issuer.clone())),
            (self.resource, of(|one| one.resource.clone())),
            (self.authorization_url, of(|one| one.authorization_url.clone())),
            (self.token_url, of(|one| one.token_url.clone())),
            (self.client_id, of(|one| one.client_id.clone())),
            (self.client_secret, of(|one| one.client_secret.clone())),
            (self.style, word(&style)),
            (self.scopes, of(|one| Some(one.scopes.join(" ")))),
            (self.audience, of(|one| one.audience.clone())),
        ] {
            field.set(value);
        }
    }

    fn chosen_method(self) -> AccountMethod {
        let chosen = self.method.get();
        let found = METHODS.into_iter().find(|method| word(method) == chosen);
        found.unwrap_or(AccountMethod::Oauth)
    }

    /// What the form says, over what the provider was. A field that the method has no use for is left out.
    fn definition(self, before: Option<&AccountProvider>) -> AccountProviderDefinition {
        let method = untrack(|| self.chosen_method());
        let (is_oauth, has_client) = (
            method == AccountMethod::Oauth,
            method != AccountMethod::PersonalKey,
        );
        let of = |field: RwSignal<String>, is_meant: bool| {
            let text = field.get_untracked().trim().to_owned();
            (is_meant && !text.is_empty()).then_some(text)
        };
        let words = |field: RwSignal<String>| -> Vec<String> {
            field.with_untracked(|text| text.split_whitespace().map(str::to_owned).collect())
        };
        let style = self.style.get_untracked();
        let style = STYLES.into_iter().find(|(one, _)| word(one) == style);
        AccountProviderDefinition {
            method,
            title: of(self.title, true),
            description: of(self.description, true),
            hosts: words(self.hosts),
            header: of(self.header, true),
            // The form shows an empty `prefix` and an absent one alike, so an empty field keeps the stored value.
            prefix: of(self.prefix, true)
                .or_else(|| before?.definition.prefix.clone().filter(String::is_empty)),
            authorization_url: of(self.authorization_url, is_oauth),
            token_url: of(self.token_url, has_client),
            issuer: of(self.issuer, is_oauth),
            resource: of(self.resource, is_oauth),
            client_id: of(self.client_id, has_client),
            client_secret: of(self.client_secret, has_client),
            auth_style: style
                .filter(|_| has_client)
                .map_or_else(McpClientStyle::default, |(style, _)| style),
            scopes: if has_client {
                words(self.scopes)
            } else {
                Vec::new()
            },
            audience: of(self.audience, method == AccountMethod::TokenExchange),
        }
    }
}

/// The dialog. With a provider it changes that one, else it adds one.
#[component]
pub(super) fn ProviderForm(
    /// The project's id.
    project: Memo<String>,
    /// Whether it is open.
    open: RwSignal<bool>,
    /// What is changed.
    provider: RwSignal<Option<AccountProvider>>,
    /// It was saved.
    #[prop(into)]
    on_saved: Callback<()>,
) -> impl IntoView {
    let texts = Texts::new();
    let known = hosts(project);
    let action = Action::new();
    let toasts = Toasts::get();
    effect(move || {
        if open.get() {
            texts.show(provider.get_untracked());
        }
    });
    let is_new = condition(move || provider.with(Option::is_none));
    let is_oauth = condition(move || texts.chosen_method() == AccountMethod::Oauth);
    let is_exchange = condition(move || texts.chosen_method() == AccountMethod::TokenExchange);
    let has_client = condition(move || texts.chosen_method() != AccountMethod::PersonalKey);
    let save = move |()| {
        let name = texts.name.get_untracked().trim().to_owned();
        let path = in_project(&project.get_untracked(), &["account-providers", &name]);
        let definition = provider.with_untracked(|before| texts.definition(before.as_ref()));
        let ask = Ask::put(path, Body::json(&definition));
        let ask = match provider.with_untracked(|provider| provider.as_ref().map(tag)) {
            Some(tag) => ask.if_match(tag),
            None => ask,
        };
        action.send(ask, move |_| {
            open.set(false);
            toasts.done(tf!("{name} is saved.", name));
            on_saved.run(());
        });
    };
    let ready = Signal::derive(move || {
        texts.name.with(|name| !name.trim().is_empty()) && texts.hosts.with(|hosts| !hosts.trim().is_empty())
    });
    let title = text(move || {
        provider.with(|provider| match provider {
            Some(provider) => tf!("Change {name}", name = provider.name),
            None => t("New account provider").to_owned(),
        })
    });
    let methods = Signal::stored(
        METHODS
            .map(|method| {
                (
                    word(&method),
                    tf!("Accounts are {method}", method = method_words(method)),
                )
            })
            .to_vec(),
    );
    let styles = Signal::stored(
        STYLES
            .map(|(style, text)| (word(&style), t(text).to_owned()))
            .to_vec(),
    );
    let line = |id: &'static str, label: &'static str, help: &'static str, value: RwSignal<String>| {
        view! {
            <Field id label help>
                <TextInput id value mono=true max="2000" />
            </Field>
        }
    };
    view! {
        <FormDialog open title verb=t("Save") action ready placement=Placement::Wide on_submit=save>
            <When test=move || is_new.get()>
                {line("provider-name", t("Name"), t("How tools refer to it: lower-case letters, digits and -."), texts.name)}
            </When>
            <Field id="provider-method" label=t("Accounts") guide="accounts#providers">
                <Select
                    id="provider-method"
                    value=texts.method
                    options=methods
                    on_change=move |chosen: String| texts.method.set(chosen)
                />
            </Field>
            <div class="columns">
                <Field id="provider-title" label=t("Title") help=t("What people call the service.")>
                    <TextInput id="provider-title" value=texts.title max="100" />
                </Field>
                <Field id="provider-description" label=t("Description") help=t("What the account is for, and where a key is made.")>
                    <TextInput id="provider-description" value=texts.description max="1000" />
                </Field>
            </div>
            <Field id="provider-hosts" label=t("Hosts") help=t("Where the credential may be sent, one a line; with its port unless that is the usual one.") guide="accounts#providers">
                <TextArea id="provider-hosts" value=texts.hosts rows=2 mono=true />
            </Field>
            <AddLine id="provider-host-add" label=t("Add a host") lines=texts.hosts choices=known />
            <div class="columns">
                {line("provider-header", t("Header"), t("What the credential is sent in. Empty: Authorization."), texts.header)}
                {line("provider-prefix", t("Prefix"), t("What is before it. Empty: Bearer in Authorization, else nothing."), texts.prefix)}
            </div>
            <When test=move || is_oauth.get()>
                <div class="columns">
                    {line("provider-issuer", t("Issuer"), t("Its metadata says where persons sign in."), texts.issuer)}
                    {line("provider-resource", t("Resource"), t("The address of the API; without an issuer its metadata names one."), texts.resource)}
                    {line("provider-authorization", t("Authorization address"), t("Empty: as the metadata says."), texts.authorization_url)}
                </div>
            </When>
            <When test=move || has_client.get()>
                <div class="columns">
                    {line("provider-token", t("Token address"), t("Where tokens are given out."), texts.token_url)}
                    {line("provider-client", t("Client id"), t("A text, ${NAME} or ${secret:NAME}. Empty with OAuth: this server registers itself."), texts.client_id)}
                    {line("provider-secret", t("Client secret"), t("As ${secret:NAME}. Empty: a public client."), texts.client_secret)}
                    <Field id="provider-style" label=t("The secret is sent")>
                        <Select
                            id="provider-style"
                            value=texts.style
                            options=styles
                            on_change=move |chosen: String| texts.style.set(chosen)
                        />
                    </Field>
                    {line("provider-scopes", t("Scopes"), t("Separated by spaces."), texts.scopes)}
                </div>
            </When>
            <When test=move || is_exchange.get()>
                {line("provider-audience", t("Audience"), t("Whom the token is for."), texts.audience)}
            </When>
            <When test=move || !is_new.get()>
                <p class="note">{t("Another method, issuer or token address disconnects the accounts that are connected.")}</p>
            </When>
        </FormDialog>
    }
}
