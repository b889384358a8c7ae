//! The views that change a server or its tools. Few visits open one, and they are half of the page's code, which is loaded when
//! the first of them is opened.

use leptos::prelude::*;
use leptos::wasm_split::wasm_split;
use toolgate_api::mcp_servers::McpServerDefinition;

use super::edit::Edit;
use super::import::Import;
use crate::api::ApiError;
use crate::language::t;
use crate::lazy::lazy;

/// The server that is changed: its project and its name, and what is called when it was.
#[derive(Clone, Copy)]
pub(super) struct Changed {
    pub(super) project: Memo<String>,
    pub(super) name: Memo<String>,
    pub(super) on_done: Callback<()>,
}

/// Makes the views.
#[derive(Clone, Copy)]
struct Views {
    import: fn(Changed, Signal<u32>) -> AnyView,
    edit: fn(Changed, McpServerDefinition, String) -> AnyView,
}

#[wasm_split(mcp_server_changes, wasm_split_path = leptos::wasm_split, fallible)]
fn views() -> Result<Views, ApiError> {
    Ok(Views {
        import: |Changed {
                     project,
                     name,
                     on_done,
                 },
                 patience| { view! { <Import project name patience on_done /> }.into_any() },
        edit: |Changed {
                   project,
                   name,
                   on_done,
               },
               definition,
               tag| { view! { <Edit project name definition tag on_done /> }.into_any() },
    })
}

/// Importing its tools.
pub(super) fn import(changed: Changed, patience: Signal<u32>) -> AnyView {
    view(move |views| (views.import)(changed, patience))
}

/// Its definition in a form, with the tag of what is in it.
pub(super) fn edit(changed: Changed, definition: McpServerDefinition, tag: String) -> AnyView {
    view(move |views| (views.edit)(changed, definition.clone(), tag.clone()))
}

fn view(make: impl Fn(Views) -> AnyView + Send + Sync + 'static) -> AnyView {
    lazy(Some(t("the server")), true, || Box::pin(views()), make)
}
