//! A question to a language model.

use toolgate_api::tool_types;

use super::{Kind, PLAIN, QUESTION};

pub(super) static KIND: Kind = Kind {
    described: &tool_types::TEXT_COMPLETION,
    argument: |_| Some(QUESTION),
    ..PLAIN
};
