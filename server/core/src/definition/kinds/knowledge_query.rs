//! A question to a knowledge graph.

use toolgate_api::tool_types;

use super::{Kind, PLAIN, QUESTION};

pub(super) static KIND: Kind = Kind {
    described: &tool_types::KNOWLEDGE_QUERY,
    argument: |_| Some(QUESTION),
    ..PLAIN
};
