//! A tool whose answer is in its definition (`options.static`).

use toolgate_api::tool_types;

use super::{Kind, PLAIN, has_option};
use crate::definition::execution::ExecutorKind;

const KEYS: &[&str] = &["static"];

pub(super) static KIND: Kind = Kind {
    described: &tool_types::STATIC_ANSWER,
    options: KEYS,
    refusal: "has no answer of its own",
    executors: &[ExecutorKind::Static],
    incomplete: "the definition has no options.static",
    is_evident: |tool| has_option(tool, KEYS),
    require: |tool, _, report| {
        if !has_option(tool, KEYS) {
            report.error(
                &tool.spot,
                "a tool of type static needs its answer",
                "write options.static: {result: <any value>}",
            );
        }
        let envs = tool.get("options").and_then(|options| options.get("envs"));
        if let Some(at) = envs.filter(|envs| envs.entries().next().is_some()) {
            report.error(
                &at.spot,
                "a tool of type static takes no environment variables: its answer would show them",
                "remove options.envs",
            );
        }
    },
    ..PLAIN
};
