//! What a description leaves open: where the API is, and which credentials its tools present.

use std::collections::BTreeMap;

use leptos::prelude::*;
use toolgate_api::imports::ImportPreview;

use super::source::Source;
use crate::api::{Ask, Body, in_project, with_query};
use crate::components::{Field, TextInput};
use crate::language::t;
use crate::loaded::Loaded;
use crate::reactive::{part, text_memo};
use crate::session::{Permission, Session};

/// The answers, and the description that they belong to.
#[derive(Clone, Copy)]
pub(super) struct Questions {
    project: Memo<String>,
    source: Source,
    base_url: RwSignal<String>,
    document_url: RwSignal<String>,
    variables: RwSignal<String>,
    /// What the names of the tools begin with.
    pub(super) prefix: RwSignal<String>,
    /// Environment variable or `secret:NAME` by security scheme.
    credentials: RwSignal<BTreeMap<String, String>>,
    /// The project's secrets, to be offered to those who may know their names.
    secrets: Loaded,
}

impl Questions {
    /// Nothing is answered yet.
    pub(super) fn new(project: Memo<String>, source: Source) -> Self {
        let session = Session::get();
        let [base_url, document_url, variables, prefix] = [(); 4].map(|()| RwSignal::new(String::new()));
        Self {
            project,
            source,
            base_url,
            document_url,
            variables,
            prefix,
            credentials: RwSignal::new(BTreeMap::new()),
            secrets: Loaded::new(move || {
                let project = project.get();
                if session.may(&project, Permission::ManageSecrets) {
                    with_query(in_project(&project, &["secrets"]), &[("limit", "200")])
                } else {
                    String::new()
                }
            }),
        }
    }

    /// The answers as parameters of the query, reactively.
    pub(super) fn query(self) -> Vec<(&'static str, String)> {
        let given = |field: RwSignal<String>| field.with(|text| text.trim().to_owned());
        let credentials = self.credentials.with(|all| {
            let all = all.iter().filter(|(_, source)| !source.trim().is_empty());
            let all = all.map(|(scheme, source)| format!("{scheme}={}", source.trim()));
            all.collect::<Vec<_>>().join(",")
        });
        vec![
            ("base_url", given(self.base_url)),
            ("document_url", given(self.document_url)),
            ("variables", given(self.variables)),
            ("prefix", given(self.prefix)),
            ("credentials", credentials),
        ]
    }

    /// The address and the body of a request with the description and the answers.
    pub(super) fn request(self, path: String, more: &[(&str, String)]) -> (String, Body) {
        let all = untrack(|| self.query());
        let all = all.iter().chain(more);
        let all: Vec<(&str, &str)> = all.map(|(name, value)| (*name, value.as_str())).collect();
        self.source.request(path, &all)
    }

    /// Asks what would become of it.
    pub(super) fn preview(self, more: &[(&str, String)]) -> Ask {
        let path = in_project(&self.project.get_untracked(), &["imports"]);
        let (path, body) = self.request(path, more);
        Ask::post(path, body)
    }

    /// Forgets the answers: they belong to another description.
    pub(super) fn clear(self) {
        for field in [self.base_url, self.document_url, self.variables, self.prefix] {
            field.set(String::new());
        }
        self.credentials.set(BTreeMap::new());
    }

    /// The fields; those for credentials are the schemes of a preview.
    pub(super) fn view(self, preview: RwSignal<Option<ImportPreview>>) -> AnyView {
        // A further look at the same description must not take away the field that has the cursor.
        let schemes =
            Memo::new(move |_| preview.with(|preview| preview.as_ref().map(schemes).unwrap_or_default()));
        view! {
            <div class="columns">
                <Field id="import-base-url" label=t("Address of the API") help=t("Instead of the servers that the description names.") guide="openapi-import#hosts">
                    <TextInput id="import-base-url" value=self.base_url mono=true placeholder="https://petstore.example.com/v1" max="2000" />
                </Field>
                <Field id="import-variables" label=t("Variables of the address") help=t("As name=value, separated by commas; others have their default.")>
                    <TextInput id="import-variables" value=self.variables mono=true placeholder="region=eu,stage=live" max="2000" />
                </Field>
                <Field
                    id="import-document-url"
                    label=t("Where the description came from")
                    help=t("Only for servers without a host, such as /v1.")
                >
                    <TextInput
                        id="import-document-url"
                        value=self.document_url
                        mono=true
                        placeholder="https://petstore.example.com/openapi.json"
                        max="2000"
                    />
                </Field>
                <Field
                    id="import-prefix"
                    label=t("Prefix of the tools' names")
                    help=t("So that APIs with operations of the same name can be in one project: petstore_ makes petstore_login of login.")
                >
                    <TextInput id="import-prefix" value=self.prefix mono=true placeholder="petstore_" max="32" />
                </Field>
            </div>
            {part(move || self.credentials_view(schemes.get()))}
        }
        .into_any()
    }

    fn credentials_view(self, schemes: Vec<(String, String)>) -> AnyView {
        if schemes.is_empty() {
            return view! { <p class="muted">{t("The description asks for no credentials that tools can present.")}</p> }.into_any();
        }
        let fields: Vec<_> = schemes
            .into_iter()
            .enumerate()
            .map(|(at, (scheme, what))| self.credential(at, scheme, &what))
            .collect();
        let names = text_memo(move || {
            let page = self.secrets.json().unwrap_or_default();
            let names = page["items"].as_array().into_iter().flatten();
            let names = names.filter_map(|secret| secret["name"].as_str());
            names.collect::<Vec<_>>().join("\n")
        });
        let offered = move || {
            let names = names.get();
            let offered = names
                .lines()
                .map(|name| view! { <option value=format!("secret:{name}")></option> });
            offered.collect::<Vec<_>>()
        };
        view! {
            <h3>{t("Credentials")}</h3>
            <p class="muted">
                {t("Where each comes from: the name of an environment variable, or secret:NAME for a secret of this project. Never the value itself.")}
            </p>
            <div class="columns">{fields}</div>
            <datalist id="import-secrets">{part(move || offered().into_any())}</datalist>
        }
        .into_any()
    }

    fn credential(self, at: usize, scheme: String, what: &str) -> AnyView {
        let id = format!("import-credential-{at}");
        let label = format!("{scheme}: {what}");
        let (read, written) = (scheme.clone(), scheme);
        let value = move || {
            self.credentials
                .with(|all| all.get(&read).cloned().unwrap_or_default())
        };
        view! {
            <div class="field">
                <label for=id.clone()>{label}</label>
                <input
                    id=id
                    class="input mono"
                    type="text"
                    list="import-secrets"
                    maxlength="200"
                    autocomplete="off"
                    spellcheck="false"
                    placeholder="secret:NAME"
                    prop:value=value
                    on:input=move |event| {
                        let source = event_target_value(&event);
                        self.credentials.update(|all| _ = all.insert(written.clone(), source));
                    }
                />
            </div>
        }
        .into_any()
    }
}

/// The security schemes that tools can present, each with what it is.
fn schemes(preview: &ImportPreview) -> Vec<(String, String)> {
    let operations = preview.operations.iter();
    let all = operations.flat_map(|one| one.security.iter().flatten());
    let all = all.filter(|one| one.supported);
    let all: BTreeMap<_, _> = all.map(|one| (one.scheme.clone(), one.what.clone())).collect();
    all.into_iter().collect()
}
