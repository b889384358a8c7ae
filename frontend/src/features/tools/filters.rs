//! What narrows the list: a text, a group, a state, a type. All of it is in the address.

use leptos::prelude::*;

use crate::components::{SearchBox, TextInput};
use crate::reactive::{When, effect};
use crate::url::UrlParam;

/// The filters above the list.
#[component]
pub(super) fn Filters(
    /// Part of the name or the description.
    q: UrlParam,
    /// A group.
    group: UrlParam,
    /// A state.
    state: UrlParam,
    /// A type.
    type_: UrlParam,
) -> impl IntoView {
    let is_set = move || {
        [q, group, state, type_]
            .iter()
            .any(|param| !param.get().is_empty())
    };
    view! {
        <div class="filters">
            <SearchBox param=q name="Search tools" placeholder="Search by name or description" />
            <Exact id="filter-group" label="Group" param=group />
            <Exact id="filter-state" label="Open in state" param=state />
            <Exact id="filter-type" label="Type" param=type_ />
            <When test=is_set>
                <button
                    type="button"
                    class="button button-quiet"
                    on:click=move |_| {
                        for param in [q, group, state, type_] {
                            param.replace("");
                        }
                    }
                >
                    "Clear"
                </button>
            </When>
        </div>
    }
}

/// A filter by an exact name, applied by Enter or when the field is left.
#[component]
pub(crate) fn Exact(
    /// The field's id.
    id: &'static str,
    /// What it narrows by.
    label: &'static str,
    /// The parameter.
    param: UrlParam,
) -> impl IntoView {
    let value = RwSignal::new(param.get_untracked());
    effect(move || value.set(param.get()));
    view! {
        <form
            on:submit=move |event| {
                event.prevent_default();
                param.push(value.get_untracked().trim());
            }
            on:focusout=move |_| param.push(value.get_untracked().trim())
        >
            <label for=id>{label}</label>
            <TextInput id value mono=true max="128" />
        </form>
    }
}
