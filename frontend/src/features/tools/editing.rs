//! The editor of a tool's definition. Few visits to a tool open it, and its code is loaded then.

use leptos::prelude::*;
use leptos::wasm_split::wasm_split;

use super::definition::DefinitionEditor;
use crate::api::ApiError;
use crate::language::t;
use crate::lazy::lazy;

/// What is edited.
#[derive(Clone, Copy)]
pub(super) struct Edited {
    pub(super) project: Memo<String>,
    pub(super) name: Memo<String>,
    pub(super) may_edit: bool,
    /// Whether it becomes a tool of its own.
    pub(super) is_new: bool,
    pub(super) on_saved: Callback<()>,
}

#[wasm_split(tool_definition, wasm_split_path = leptos::wasm_split, fallible)]
fn make_editor() -> Result<fn(Edited) -> AnyView, ApiError> {
    Ok(|edited| {
        let Edited {
            project,
            name,
            may_edit,
            is_new,
            on_saved,
        } = edited;
        view! { <DefinitionEditor project name may_edit is_new on_saved /> }.into_any()
    })
}

/// The editor, once the page without it was painted.
pub(super) fn editor(edited: Edited) -> AnyView {
    let what = Some(t("the definition"));
    lazy(what, false, || Box::pin(make_editor()), move |make| make(edited))
}
