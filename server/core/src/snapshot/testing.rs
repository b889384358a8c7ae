//! Tools for tests, written as short as the rule they show.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::DateTime;
use serde_json::{Map, Value, json};
use toolgate_api::Diagnostic;

use super::{CompiledTool, ProjectSnapshot, ToolInput};
use crate::definition::model::{
    Annotations, HttpOptions, JinaOptions, Options, SchemaText, ServiceDefinition,
};
use crate::definition::{ExecutorSet, ToolDefinition};
use crate::ids::ToolName;
use crate::policy::evaluation_context::EvaluationContext;
use crate::policy::groups::GroupSet;
use crate::validation::Effort;

/// A tool with nothing but a name: in `default`, open in every state, without arguments.
pub(crate) fn tool(name: &str) -> Draft {
    Draft(ToolInput {
        definition: ToolDefinition {
            name: ToolName::parse(name).expect("a valid name"),
            kind: "openapi".to_owned(),
            description: String::new(),
            enabled: true,
            group: None,
            state: None,
            available_in_states: None,
            parameters: SchemaText::from(&json!({"type": "object"})),
            output_schema: None,
            after_execution: None,
            title: None,
            annotations: Annotations::default(),
            target_subject: None,
            service: None,
            config: Map::new(),
            options: Options {
                http: Some(Box::new(HttpOptions {
                    base_url: "https://a.example".to_owned(),
                    ..HttpOptions::default()
                })),
                ..Options::default()
            },
        },
        revision: 1,
        updated_at: DateTime::UNIX_EPOCH,
        updated_by: "ada".to_owned(),
    })
}

#[derive(Debug, Clone)]
pub(crate) struct Draft(pub(crate) ToolInput);

impl Draft {
    pub(crate) fn groups(mut self, groups: &[&str]) -> Self {
        self.0.definition.group = Some(strings(groups));
        self
    }

    pub(crate) fn states(mut self, states: &[&str]) -> Self {
        self.0.definition.available_in_states = Some(strings(states));
        self
    }

    pub(crate) fn disabled(mut self) -> Self {
        self.0.definition.enabled = false;
        self
    }

    /// Nothing executes it.
    pub(crate) fn of_kind(mut self, kind: &str) -> Self {
        self.0.definition.kind = kind.to_owned();
        self.0.definition.options.http = None;
        self
    }

    pub(crate) fn moves_to(mut self, state: &str) -> Self {
        self.0.definition.state = Some(state.to_owned());
        self
    }

    pub(crate) fn parameters(mut self, schema: &Value) -> Self {
        self.0.definition.parameters = SchemaText::from(schema);
        self
    }

    pub(crate) fn defaults(mut self, values: Value) -> Self {
        self.0.definition.options.args.defaults = object(values);
        self
    }

    pub(crate) fn fixed(mut self, values: Value) -> Self {
        self.0.definition.options.args.fixed = object(values);
        self
    }

    pub(crate) fn envs(mut self, envs: &[(&str, &str)]) -> Self {
        self.0.definition.options.envs = pairs(envs);
        self
    }

    pub(crate) fn jina(mut self, options: JinaOptions) -> Self {
        self.0.definition.options.jina = Some(Box::new(options));
        self
    }

    pub(crate) fn http(mut self, options: HttpOptions) -> Self {
        self.0.definition.options.http = Some(Box::new(options));
        self
    }

    pub(crate) fn service(mut self, id: &str) -> Self {
        self.0.definition.service = Some(id.to_owned());
        self
    }

    pub(crate) fn revision(mut self, revision: i64) -> Self {
        self.0.revision = revision;
        self
    }

    pub(crate) fn compiled(self) -> Arc<CompiledTool> {
        Arc::new(CompiledTool::new(self.0, None, ExecutorSet::BUILT_IN))
    }
}

/// The tool of a checked definition.
pub(crate) fn compiled(definition: ToolDefinition) -> Arc<CompiledTool> {
    let mut draft = tool(definition.name.as_str());
    draft.0.definition = definition;
    draft.compiled()
}

impl CompiledTool {
    /// The faults of arguments, however long that takes.
    pub(crate) fn validate(&self, arguments: &Map<String, Value>) -> Vec<Diagnostic> {
        self.faults(&Value::Object(arguments.clone()), Effort::Thorough)
            .expect("a thorough check has an answer")
    }
}

pub(crate) fn service(id: &str, envs: &[(&str, &str)]) -> (ServiceDefinition, i64) {
    let id = ToolName::parse(id).expect("a valid id");
    let service = ServiceDefinition {
        id,
        request_queue: None,
        response_queue: None,
        config_params: Vec::new(),
        max_concurrent: None,
        envs: pairs(envs),
    };
    (service, 7)
}

pub(crate) fn project(tools: impl IntoIterator<Item = Draft>) -> ProjectSnapshot {
    ProjectSnapshot::build(
        1,
        tools.into_iter().map(|Draft(input)| input).collect(),
        Vec::new(),
        None,
    )
}

pub(crate) fn grant(groups: &[&str]) -> GroupSet {
    groups.iter().copied().collect()
}

/// Circumstances that no condition asks about.
pub(crate) fn anytime() -> EvaluationContext<'static> {
    EvaluationContext::at(DateTime::UNIX_EPOCH)
}

pub(crate) fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}

pub(crate) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        other => panic!("{other} is no object"),
    }
}

fn pairs(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs
        .iter()
        .map(|&(name, variable)| (name.to_owned(), variable.to_owned()))
        .collect()
}
