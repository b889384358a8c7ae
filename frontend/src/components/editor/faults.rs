//! The faults of a text, beside its editor and marked in it.

use leptos::prelude::*;
use toolgate_api::{Diagnostic, Severity};

use super::handle::{EditorHandle, correction};
use crate::language::tf;
use crate::reactive::When;

/// Every fault with its place; the place leads there. What has a correction offers it.
#[component]
pub(crate) fn Faults(
    /// The faults.
    faults: Vec<Diagnostic>,
    /// The editor with the text.
    handle: EditorHandle,
) -> impl IntoView {
    handle.show(&faults);
    let items: Vec<_> = faults
        .into_iter()
        .map(|fault| {
            let at = fault.line.map(|line| (line, fault.column.unwrap_or(1)));
            let place = at.map(|(line, column)| {
                view! {
                    <button type="button" class="fault-place" on:click=move |_| handle.jump(line, column)>
                        {tf!("Line {line}, column {column}", line, column)}
                    </button>
                }
            });
            let fix = at.zip(correction(&fault).map(str::to_owned)).map(|((line, column), word)| {
                let text = tf!("Replace with {word}", word);
                let apply = Callback::new(move |()| handle.fix(line, column, &word));
                view! {
                    <When test=move || handle.is_live()>
                        <button type="button" class="button button-small" on:click=move |_| apply.run(())>
                            {text.clone()}
                        </button>
                    </When>
                }
            });
            let pointer = fault.pointer.filter(|_| place.is_none()).map(|pointer| view! { <code>{pointer}</code> });
            view! {
                <li class="fault" class:fault-warning=fault.severity == Severity::Warning>
                    <span>{place}{pointer}</span>
                    <span>
                        {fault.message} {fault.hint.map(|hint| view! { <span class="muted">" " {hint}</span> })} " " {fix}
                    </span>
                </li>
            }
        })
        .collect();
    view! { <ul class="faults">{items}</ul> }
}
