//! A warning of more tools than clients offer a model.

use leptos::prelude::*;

use super::{Badge, Tone};
use crate::language::tf;

/// What some clients offer a model at most, and what most do.
const MANY: u64 = 40;
const TOO_MANY: u64 = 128;

/// The warning; nothing while every client offers all of them.
pub(crate) fn many_tools(tools: u64) -> Option<AnyView> {
    let (tone, most) = if tools > TOO_MANY {
        (Tone::Bad, TOO_MANY)
    } else if tools > MANY {
        (Tone::Note, MANY)
    } else {
        return None;
    };
    let text = tf!("{tools} tools, more than {most}", tools, most);
    Some(view! { <Badge tone text /> }.into_any())
}
