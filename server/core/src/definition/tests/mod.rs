//! Tables and properties of whole uploads.

mod examples;
mod execution;
mod faults;
mod hostile;
mod numbers;
mod rendering;
mod shared_options;
mod vocabulary;
mod warnings;

use toolgate_api::problem::Diagnostic;

use super::{Execution, ServiceDefinition, TextFormat, ToolDefinition, Upload, UploadContext, parse_upload};
use crate::ids::{ProjectId, ToolName};

/// Reads an upload for the project `demo`, where definitions may use `JINA_API_KEY` and `API_KEY`, and where the
/// service `custom-rag` with the required parameter `collection` exists.
fn upload_as(format: TextFormat, text: impl AsRef<[u8]>) -> Result<Upload, Vec<Diagnostic>> {
    with_context(|context| parse_upload(text.as_ref(), format, context))
}

fn upload(yaml: &str) -> Result<Upload, Vec<Diagnostic>> {
    upload_as(TextFormat::Yaml, yaml)
}

fn with_context<T>(run: impl FnOnce(&UploadContext<'_>) -> T) -> T {
    let project = ProjectId::parse("demo").expect("a slug");
    let existing = |id: &str| {
        (id == "custom-rag").then(|| ServiceDefinition {
            id: ToolName::parse("custom-rag").expect("a name"),
            request_queue: Some("non-persistent://tg/request/custom-rag".to_owned()),
            response_queue: Some("non-persistent://tg/response/custom-rag".to_owned()),
            config_params: vec![super::model::ConfigParam {
                name: "collection".to_owned(),
                required: true,
            }],
            max_concurrent: None,
            envs: std::collections::BTreeMap::new(),
        })
    };
    run(&UploadContext {
        project: &project,
        env_allowed: &|name| ["JINA_API_KEY", "API_KEY"].contains(&name),
        existing_services: &existing,
        executes: crate::definition::ExecutorSet::BUILT_IN,
        subjects: None,
    })
}

/// The one tool of an upload that has no error.
fn tool(yaml: &str) -> ToolDefinition {
    let upload = upload(yaml).unwrap_or_else(|faults| panic!("{yaml}\n{}", shown(&faults)));
    let [tool] = <[_; 1]>::try_from(upload.tools).expect("one tool");
    tool.definition
}

/// Faults as the tables of the tests write them: `line:column message (hint)`.
fn shown(faults: &[Diagnostic]) -> String {
    let line = |fault: &Diagnostic| {
        let place = match (fault.line, fault.column) {
            (Some(line), Some(column)) => format!("{line}:{column} "),
            _ => String::new(),
        };
        let hint = fault
            .hint
            .as_ref()
            .map_or_else(String::new, |hint| format!(" ({hint})"));
        format!("{place}{}{hint}", fault.message)
    };
    faults.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Warnings about anything but that nothing executes the tool, which holds for most types.
fn others(warnings: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let is_other = |warning: &Diagnostic| !warning.message.starts_with("nothing executes tools of type");
    warnings.into_iter().filter(is_other).collect()
}

/// The errors of an upload, warnings left out.
fn errors(yaml: &str) -> Vec<Diagnostic> {
    let faults = upload(yaml).err().unwrap_or_else(|| panic!("accepted: {yaml}"));
    faults.into_iter().filter(Diagnostic::is_error).collect()
}
