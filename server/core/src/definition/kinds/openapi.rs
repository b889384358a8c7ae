//! A tool that is an HTTP request: of its own (`options.http`), or of the Jina preset (`options.jina`).

use toolgate_api::tool_types;

use super::{Kind, PLAIN, has_option};
use crate::definition::execution::ExecutorKind;
use crate::definition::model::JinaMode;

/// The requests, and the spelling of `jina` before there was one.
const REQUESTS: &[&str] = &["jina", "http", "openapi"];

pub(super) static KIND: Kind = Kind {
    described: &tool_types::OPENAPI,
    options: REQUESTS,
    refusal: "sends no HTTP request",
    service: true,
    executors: &[ExecutorKind::Http, ExecutorKind::Jina],
    incomplete: "the definition has neither options.http nor options.jina",
    is_evident: |tool| has_option(tool, REQUESTS),
    argument: |options| match options.jina.as_ref()?.mode {
        JinaMode::Search => Some(("query", "What to search the web for")),
        JinaMode::Reader => Some(("url", "The address of the page to read")),
    },
    require: |tool, _, report| {
        if !has_option(tool, REQUESTS) {
            report.error(
                &tool.spot,
                "a tool of type openapi needs its request",
                "write options.jina or options.http",
            );
        }
    },
    ..PLAIN
};
