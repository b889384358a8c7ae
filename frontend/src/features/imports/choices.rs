//! What there is to choose and to answer in a description. The code is loaded when the first description was read.

use leptos::prelude::*;
use leptos::wasm_split::wasm_split;
use toolgate_api::imports::ImportPreview;

use super::choose::Choosing;
use super::layers::Layering;
use super::questions::Questions;
use crate::api::ApiError;
use crate::language::t;
use crate::lazy::lazy;

/// Makes the views.
#[derive(Clone, Copy)]
struct Views {
    operations: fn(Choosing, Layering) -> AnyView,
    arguments: fn(Layering) -> AnyView,
    questions: fn(Questions, RwSignal<Option<ImportPreview>>) -> AnyView,
}

#[wasm_split(import_choices, wasm_split_path = leptos::wasm_split, fallible)]
fn views() -> Result<Views, ApiError> {
    Ok(Views {
        operations: Choosing::view,
        arguments: Layering::view,
        questions: Questions::view,
    })
}

/// The operations to choose from, and the dialog with the arguments of one.
pub(super) fn operations(choosing: Choosing, layering: Layering) -> AnyView {
    view(move |views| {
        let choice = (views.operations)(choosing, layering);
        view! { {choice} {(views.arguments)(layering)} }.into_any()
    })
}

/// What the description leaves open.
pub(super) fn questions(questions: Questions, preview: RwSignal<Option<ImportPreview>>) -> AnyView {
    view(move |views| (views.questions)(questions, preview))
}

fn view(make: impl Fn(Views) -> AnyView + Send + Sync + 'static) -> AnyView {
    lazy(Some(t("the operations")), true, || Box::pin(views()), make)
}
