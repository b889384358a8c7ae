//! The form of a tool service: its queues, its parameters and its bounds.

use leptos::prelude::*;
use toolgate_api::tool_services::{ToolService, ToolServiceDefinition};

use super::service_params::ParamRows;
use crate::action::Action;
use crate::components::{Field, TextArea, TextInput};
use crate::form_texts::{entries, fault, lines};
use crate::language::t;
use crate::reactive::part;

/// What is filled in.
#[derive(Clone, Copy)]
pub(super) struct ServiceForm {
    request: RwSignal<String>,
    response: RwSignal<String>,
    params: ParamRows,
    concurrent: RwSignal<String>,
    envs: RwSignal<String>,
}

impl ServiceForm {
    /// Nothing is filled in.
    pub(super) fn new() -> Self {
        let [request, response, concurrent, envs] = [(); 4].map(|()| RwSignal::new(String::new()));
        Self {
            request,
            response,
            params: ParamRows::new(),
            concurrent,
            envs,
        }
    }

    /// Fills in what is stored.
    pub(super) fn show(self, service: ToolService) {
        self.request.set(service.request_queue.unwrap_or_default());
        self.response.set(service.response_queue.unwrap_or_default());
        self.params.show(service.config_params);
        let most = service.max_concurrent.map(|most| most.to_string());
        self.concurrent.set(most.unwrap_or_default());
        self.envs.set(lines(&service.envs, "="));
    }

    /// Notices every change.
    pub(super) fn track(self) {
        let texts = [self.request, self.response, self.concurrent, self.envs];
        texts.iter().for_each(RwSignal::track);
        self.params.track();
    }

    /// The service as it is filled in.
    pub(super) fn definition(self) -> ToolServiceDefinition {
        let text = |field: RwSignal<String>| {
            let text = field.get_untracked().trim().to_owned();
            (!text.is_empty()).then_some(text)
        };
        ToolServiceDefinition {
            request_queue: text(self.request),
            response_queue: text(self.response),
            config_params: self.params.params(),
            // What is no number is beyond what the server takes, and it says so.
            max_concurrent: text(self.concurrent).map(|most| most.parse().unwrap_or(u32::MAX)),
            envs: self.envs.with_untracked(|envs| entries(envs, '=')),
        }
    }

    /// The fields. What the server says is wrong is at its field.
    pub(super) fn view(self, action: Action) -> AnyView {
        let wrong = move |place: &'static str| {
            Signal::derive(move || action.error.with(|error| fault(error.as_ref(), place)))
        };
        let of_params = wrong("/config-params");
        view! {
            <div class="columns">
                <Field
                    id="service-request"
                    label=t("Request queue")
                    help=t("A subject of the bus, or non-persistent://a/b/c or persistent://a/b/c. Empty: it only holds values.")
                    guide="tool-services#which-subjects-a-project-may-use"
                    error=wrong("/request-queue")
                >
                    <TextInput id="service-request" value=self.request mono=true max="512" />
                </Field>
                <Field
                    id="service-response"
                    label=t("Response queue")
                    help=t("Another one, on which the service answers.")
                    error=wrong("/response-queue")
                >
                    <TextInput id="service-response" value=self.response mono=true max="512" />
                </Field>
            </div>
            <div class="field" role="group" aria-labelledby="service-params" aria-describedby="service-params-help">
                <strong id="service-params">{t("Parameters")}</strong>
                {self.params.view()}
                <p class="field-help" id="service-params-help">
                    {t("What each tool of the service may set beside its other keys, or must.")}
                    {part(move || {
                        of_params.get().map(|text| view! { <span class="field-error" role="alert">{text}</span> }).into_any()
                    })}
                </p>
            </div>
            <Field
                id="service-concurrent"
                label=t("Calls at once")
                help=t("Of all its tools, on each server. No limit when empty.")
                error=wrong("/max-concurrent")
            >
                <TextInput id="service-concurrent" value=self.concurrent kind="number" max="5" />
            </Field>
            <Field
                id="service-envs"
                label=t("Values for all its tools")
                help=t("Arguments of every call that callers neither see nor set. One a line: region=REGION_NAME for a variable of the server, api_key=secret:NAME for a secret of the project.")
                error=wrong("/envs")
            >
                <TextArea id="service-envs" value=self.envs rows=3 mono=true />
            </Field>
        }
        .into_any()
    }
}
