//! The list of tools as a file.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use chrono::{DateTime, SecondsFormat, Utc};
use futures_util::stream;
use toolgate_api::ErrorCode;
use toolgate_api::tools::{Tool, ToolFileFormat, ToolView};
use toolgate_core::definition;
use toolgate_core::snapshot::CompiledTool;

use super::tools::shown;
use crate::gateway::Problem;
use crate::gateway::server_snapshot::ProjectState;
use crate::gateway::spreadsheet;

/// The columns of a CSV file.
const COLUMNS: [&str; 11] = [
    "name",
    "type",
    "enabled",
    "description",
    "group",
    "state",
    "available_in_states",
    "after_execution",
    "revision",
    "updated_at",
    "updated_by",
];
/// Tools that are written at once: what is not sent yet takes little memory.
const AT_ONCE: usize = 100;

/// What is asked for.
pub(super) struct File<'a> {
    /// What it looks like.
    pub(super) format: ToolFileFormat,
    /// How much of each tool.
    pub(super) view: ToolView,
    /// Whether the reader may read definitions.
    pub(super) full: bool,
    /// Whose tools.
    pub(super) project: &'a ProjectState,
    /// For the file's name.
    pub(super) now: DateTime<Utc>,
}

/// The tools as a download, written while it is sent.
pub(super) fn answer(file: &File<'_>, tools: &[Arc<CompiledTool>]) -> Result<Response, Problem> {
    let (kind, ending) = match file.format {
        ToolFileFormat::Csv => ("text/csv; charset=utf-8; header=present", "csv"),
        ToolFileFormat::Jsonl => ("application/jsonl", "jsonl"),
        ToolFileFormat::Yaml => ("application/yaml", "yaml"),
    };
    if file.format == ToolFileFormat::Yaml && !file.full {
        return Err(Problem::new(
            ErrorCode::Forbidden,
            "Your role does not read definitions, so there is no YAML for you. Ask for csv or jsonl.",
        ));
    }
    let at = file
        .now
        .to_rfc3339_opts(SecondsFormat::Secs, true)
        .replace([':', '-'], "");
    let name = format!(
        "attachment; filename=\"tools-{}-{at}.{ending}\"",
        file.project.row.id
    );
    let head = match file.format {
        ToolFileFormat::Csv => spreadsheet::head(&COLUMNS).map_err(|error| Problem::internal(&error))?,
        ToolFileFormat::Jsonl => Vec::new(),
        ToolFileFormat::Yaml => services(file.project, tools).into_bytes(),
    };
    let (format, view, full) = (file.format, file.view, file.full);
    let chunks: Vec<Vec<Arc<CompiledTool>>> = tools.chunks(AT_ONCE).map(<[_]>::to_vec).collect();
    let rest = chunks
        .into_iter()
        .map(move |chunk| lines(format, view, full, &chunk));
    let parts = std::iter::once(Ok(head))
        .chain(rest)
        .map(|part| part.map(Bytes::from));
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(kind)),
        (header::CONTENT_DISPOSITION, super::header_value(&name)),
    ];
    Ok((headers, Body::from_stream(stream::iter(parts))).into_response())
}

/// The services that the tools refer to, each as a document: without them the file could only be uploaded where they are.
fn services(project: &ProjectState, tools: &[Arc<CompiledTool>]) -> String {
    let ids: BTreeSet<&str> = tools
        .iter()
        .filter_map(|tool| tool.definition.service.as_deref())
        .collect();
    ids.into_iter()
        .filter_map(|id| project.snapshot.service(id))
        .map(|service| document(&definition::service_to_yaml(service)))
        .collect()
}

fn lines(
    format: ToolFileFormat,
    view: ToolView,
    full: bool,
    tools: &[Arc<CompiledTool>],
) -> std::io::Result<Vec<u8>> {
    let shown: &dyn Fn(ToolView) -> Vec<Tool> =
        &|view| tools.iter().map(|tool| shown(tool, full, view)).collect();
    match format {
        ToolFileFormat::Csv => spreadsheet::rows(&COLUMNS, &shown(ToolView::Summary)),
        ToolFileFormat::Jsonl => {
            let mut text = Vec::with_capacity(tools.len() * 512);
            for tool in shown(view) {
                serde_json::to_writer(&mut text, &tool)?;
                text.push(b'\n');
            }
            Ok(text)
        }
        ToolFileFormat::Yaml => {
            let text: String = tools
                .iter()
                .map(|tool| document(&definition::to_yaml(&tool.definition)))
                .collect();
            Ok(text.into_bytes())
        }
    }
}

/// One document of several.
fn document(yaml: &str) -> String {
    format!("---\n{yaml}")
}
