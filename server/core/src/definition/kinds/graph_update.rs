//! A change of a knowledge graph.

use toolgate_api::tool_types;

use super::{Kind, PLAIN};

pub(super) static KIND: Kind = Kind {
    described: &tool_types::GRAPH_UPDATE,
    ..PLAIN
};
