//! A prompt to a language model, from a template.

use toolgate_api::tool_types;

use super::{Kind, PLAIN};

pub(super) static KIND: Kind = Kind {
    described: &tool_types::PROMPT,
    ..PLAIN
};
