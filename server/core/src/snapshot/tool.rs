//! One tool, ready to be decided on, shown and called.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use chrono::{DateTime, Utc};
use serde_json::Value;
use toolgate_api::Diagnostic;

use super::shown::{checked_parameters, shown_parameters};
use super::validate::{ArgumentValidator, OutputValidator};
use crate::arguments::names::Names;
use crate::definition::{ExecutorSet, NotExecuted, ServiceDefinition, ToolDefinition};
use crate::http_mapping::Unmapped;
use crate::mcp::{Listed, NotListable, cost};
use crate::policy::decision::EVERY_STATE;
use crate::policy::groups::DEFAULT_GROUP;
use crate::recommend::document::{Document, Texts};
use crate::redact::MarkedParameters;
use crate::validation::{Effort, TooCostly};

/// A stored tool.
#[derive(Debug, Clone)]
pub struct ToolInput {
    /// The definition.
    pub definition: ToolDefinition,
    /// Its revision.
    pub revision: i64,
    /// When this revision was stored.
    pub updated_at: DateTime<Utc>,
    /// Who stored it.
    pub updated_by: String,
}

/// A tool with its defaults applied. What is costly to prepare is prepared when it is first needed.
#[derive(Debug)]
pub struct CompiledTool {
    /// The definition.
    pub definition: Arc<ToolDefinition>,
    /// Its revision.
    pub revision: i64,
    /// When this revision was stored.
    pub updated_at: DateTime<Utc>,
    /// Who stored it.
    pub updated_by: String,
    /// The groups it is in; `["default"]` where the definition names none. Empty: only a request for `*` reaches it.
    pub groups: Vec<String>,
    /// The states it is open in; `["*"]` where the definition names none. Empty: never.
    pub states: Vec<String>,
    /// Parameter name to environment variable name: the tool's own, overlaid by those of its service.
    pub envs: Arc<BTreeMap<String, String>>,
    /// The service that it refers to, if the project has it.
    pub service: Option<Arc<ServiceDefinition>>,
    not_executed: Option<NotExecuted>,
    shown: OnceLock<Box<Value>>,
    validator: OnceLock<Box<ArgumentValidator>>,
    output: OnceLock<Box<OutputValidator>>,
    unmapped: OnceLock<Option<Box<Unmapped>>>,
    marked: OnceLock<Option<MarkedParameters>>,
    listed: OnceLock<Result<Box<Listed>, NotListable>>,
    tokens: OnceLock<u64>,
    document: OnceLock<Box<Document>>,
}

impl CompiledTool {
    /// A revision of a tool, for a server that executes these kinds.
    #[must_use]
    pub fn new(input: ToolInput, service: Option<&Arc<ServiceDefinition>>, executes: ExecutorSet) -> Self {
        let ToolInput {
            definition,
            revision,
            updated_at,
            updated_by,
        } = input;
        let or_only = |names: &Option<Vec<String>>, only: &str| match names {
            None => vec![only.to_owned()],
            Some(names) => names.clone(),
        };
        Self {
            groups: or_only(&definition.group, DEFAULT_GROUP),
            states: or_only(&definition.available_in_states, EVERY_STATE),
            envs: Arc::new(effective_envs(&definition, service)),
            service: service.cloned(),
            not_executed: definition.executed_by(executes).err(),
            definition: Arc::new(definition),
            revision,
            updated_at,
            updated_by,
            shown: OnceLock::new(),
            validator: OnceLock::new(),
            output: OnceLock::new(),
            unmapped: OnceLock::new(),
            marked: OnceLock::new(),
            listed: OnceLock::new(),
            tokens: OnceLock::new(),
            document: OnceLock::new(),
        }
    }

    /// The same tool after its service changed. What callers see may be another, so nothing prepared is kept.
    pub(super) fn with_service(&self, service: Option<&Arc<ServiceDefinition>>) -> Self {
        Self {
            definition: Arc::clone(&self.definition),
            revision: self.revision,
            updated_at: self.updated_at,
            updated_by: self.updated_by.clone(),
            groups: self.groups.clone(),
            states: self.states.clone(),
            envs: Arc::new(effective_envs(&self.definition, service)),
            service: service.cloned(),
            not_executed: self.not_executed.clone(),
            shown: OnceLock::new(),
            validator: OnceLock::new(),
            output: OnceLock::new(),
            unmapped: OnceLock::new(),
            marked: OnceLock::new(),
            listed: OnceLock::new(),
            tokens: OnceLock::new(),
            document: OnceLock::new(),
        }
    }

    /// Whether this is its service. The snapshot keeps the `Arc` of a service that did not change.
    pub(super) fn has_service(&self, service: Option<&Arc<ServiceDefinition>>) -> bool {
        match (&self.service, service) {
            (None, None) => true,
            (Some(known), Some(service)) => Arc::ptr_eq(known, service),
            _ => false,
        }
    }

    /// Whether compiling `input` would give this very tool again.
    pub(super) fn is_still(
        &self,
        input: &ToolInput,
        service: Option<&Arc<ServiceDefinition>>,
        executes: ExecutorSet,
    ) -> bool {
        self.revision == input.revision
            && self.updated_at == input.updated_at
            && self.updated_by == input.updated_by
            && self.has_service(service)
            && self.not_executed == self.definition.executed_by(executes).err()
    }

    /// What callers call it.
    #[must_use]
    pub fn name(&self) -> &str {
        self.definition.name.as_str()
    }

    /// Whether it can be called at all: it is enabled, and something executes it.
    #[must_use]
    pub fn is_offered(&self) -> bool {
        self.definition.enabled && self.not_executed.is_none()
    }

    /// Why nothing executes it, if nothing does.
    #[must_use]
    pub fn not_executed(&self) -> Option<&NotExecuted> {
        self.not_executed.as_ref()
    }

    /// Whether it is open in a state.
    #[must_use]
    pub fn open_in(&self, state: &str) -> bool {
        self.states
            .iter()
            .any(|open| open == EVERY_STATE || open == state)
    }

    /// Whether an argument is fixed or from the environment, under this name or another one of its names. Callers neither
    /// see such an argument nor set it.
    #[must_use]
    pub fn hides(&self, parameter: &str) -> bool {
        let options = &self.definition.options;
        let fixed = &options.args.fixed;
        fixed.contains_key(parameter)
            || self.envs.contains_key(parameter)
            || Names::of(options).has_alias(parameter, fixed.keys().chain(self.envs.keys()))
    }

    /// What becomes of arguments that its `options.http` does not map; `None` for tools without one.
    pub(crate) fn unmapped(&self) -> Option<&Unmapped> {
        let options = &self.definition.options;
        let pinned = || options.args.fixed.keys().chain(self.envs.keys());
        self.unmapped
            .get_or_init(|| {
                options
                    .http
                    .as_ref()
                    .map(|http| Box::new(Unmapped::new(http, pinned())))
            })
            .as_deref()
    }

    /// The JSON Schema of the arguments as callers see it: without fixed and environment parameters at the top level,
    /// and with the definition's defaults. A parameter that has a default is not required.
    ///
    /// They are kept, for the calls that follow. A question about many tools takes [`Self::read_shown_parameters`].
    #[must_use]
    pub fn shown_parameters(&self) -> &Value {
        self.shown.get_or_init(|| Box::new(shown_parameters(self)))
    }

    /// The same without keeping them.
    #[must_use]
    pub fn read_shown_parameters(&self) -> Cow<'_, Value> {
        match self.shown.get() {
            Some(shown) => Cow::Borrowed(shown),
            None => Cow::Owned(shown_parameters(self)),
        }
    }

    /// The tool as clients of the Model Context Protocol see it.
    ///
    /// # Errors
    /// When they could not use it.
    pub fn listed(&self) -> Result<&Listed, NotListable> {
        self.listed
            .get_or_init(|| Listed::new(&self.definition, &self.read_shown_parameters()).map(Box::new))
            .as_deref()
            .map_err(|error| *error)
    }

    /// The tokens that a model spends on it when a client offers it, estimated.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        *self.tokens.get_or_init(|| {
            cost::tokens(
                self.name(),
                &self.definition.description,
                &self.read_shown_parameters(),
            )
        })
    }

    /// What its texts say, for recommendations.
    pub(crate) fn document(&self) -> &Document {
        self.document.get_or_init(|| {
            Box::new(Document::new(&Texts {
                name: self.name(),
                description: &self.definition.description,
                groups: &self.groups,
                parameters: &self.read_shown_parameters(),
            }))
        })
    }

    /// Which of its arguments are secret, as its parameters say; `None`: none.
    #[must_use]
    pub fn marked_parameters(&self) -> Option<&MarkedParameters> {
        self.marked
            .get_or_init(|| MarkedParameters::of(&self.definition.parameters.value()))
            .as_ref()
    }

    /// Whether a fixed value is checked together with the caller's arguments, because alternatives may depend on it.
    pub(crate) fn checks_fixed(&self, name: &str) -> bool {
        self.validator().checks_fixed(name)
    }

    /// Every fault of `arguments`, with the fixed values that are checked, against the parameters, at most 100, each with
    /// a JSON pointer. Empty: they are valid.
    ///
    /// # Errors
    /// A quick check is not enough: check again, thoroughly, where that may take its time.
    pub fn faults(&self, arguments: &Value, effort: Effort) -> Result<Vec<Diagnostic>, TooCostly> {
        self.validator().validate(arguments, effort)
    }

    fn validator(&self) -> &ArgumentValidator {
        self.validator
            .get_or_init(|| Box::new(ArgumentValidator::new(checked_parameters(self))))
    }

    /// What of a result does not fit the schema that the definition declares for it, as warnings, at most 20. Without a
    /// declared schema everything fits.
    ///
    /// # Errors
    /// A quick check is not enough: check again, thoroughly, where that may take its time.
    pub fn output_faults(&self, result: &Value, effort: Effort) -> Result<Vec<Diagnostic>, TooCostly> {
        match &self.definition.output_schema {
            None => Ok(Vec::new()),
            Some(schema) => self
                .output
                .get_or_init(|| Box::new(OutputValidator::new(&schema.value())))
                .validate(result, effort),
        }
    }
}

/// Service configuration wins over the tool's own mapping (tool development guide, section 4).
fn effective_envs(
    definition: &ToolDefinition,
    service: Option<&Arc<ServiceDefinition>>,
) -> BTreeMap<String, String> {
    let mut envs = definition.options.envs.clone();
    let of_service = service.into_iter().flat_map(|service| &service.envs);
    envs.extend(of_service.map(|(name, variable)| (name.clone(), variable.clone())));
    envs
}
