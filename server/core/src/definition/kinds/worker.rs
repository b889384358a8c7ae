//! A tool that a worker on the bus executes, behind its subject.

use toolgate_api::tool_types;

use super::{Kind, PLAIN};
use crate::definition::execution::ExecutorKind;

pub(super) static KIND: Kind = Kind {
    described: &tool_types::WORKER,
    service: true,
    executors: &[ExecutorKind::Bus],
    is_evident: |tool| tool.get("target_subject").is_some(),
    require: |tool, _, report| {
        if tool.get("target_subject").is_none() {
            report.error(
                &tool.spot,
                "a tool of type worker needs a \"target_subject\"",
                "write target_subject: cmd.tool.<target>",
            );
        }
    },
    ..PLAIN
};
