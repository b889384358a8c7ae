//! A question to structured data.

use toolgate_api::tool_types;

use super::{Kind, PLAIN, QUESTION};

pub(super) static KIND: Kind = Kind {
    described: &tool_types::STRUCTURED_QUERY,
    argument: |_| Some(QUESTION),
    ..PLAIN
};
