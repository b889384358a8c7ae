//! A search for rows that are similar to a text.

use toolgate_api::tool_types;

use super::{Kind, PLAIN};

pub(super) static KIND: Kind = Kind {
    described: &tool_types::ROW_EMBEDDINGS_QUERY,
    argument: |_| Some(("query", "The text to find similar rows for")),
    ..PLAIN
};
