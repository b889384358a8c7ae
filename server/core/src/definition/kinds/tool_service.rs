//! A tool that a tool service executes, through its queues.

use toolgate_api::tool_types;

use super::{Kind, PLAIN};
use crate::definition::config::Service;
use crate::definition::execution::ExecutorKind;
use crate::definition::report::shown;

/// The name of the type.
pub(in crate::definition) const NAME: &str = "tool-service";

pub(super) static KIND: Kind = Kind {
    described: &tool_types::TOOL_SERVICE,
    service: true,
    executors: &[ExecutorKind::Service],
    is_evident: |tool| tool.get("service").is_some(),
    require: |tool, service, report| match (tool.get("service"), service) {
        (None, _) => report.error(
            &tool.spot,
            "a tool of type tool-service needs a \"service\"",
            "write service: <id of the service>",
        ),
        (Some(at), Service::Known(service)) if service.request_queue.is_none() => report.error(
            &at.spot,
            format!("the service {} has no queues", shown(service.id.as_str())),
            "give it a request-queue and a response-queue",
        ),
        _ => {}
    },
    ..PLAIN
};
