//! A native dialog: the browser keeps the focus inside, closes it by Escape and gives the focus back.

use leptos::html;
use leptos::prelude::*;

use super::{Icon, Symbol};
use crate::reactive::{When, effect};

/// Where a dialog stands on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Placement {
    /// In the middle.
    #[default]
    Centre,
    /// Wide, in the middle.
    Wide,
    /// Along the right edge, over the whole height.
    Drawer,
    /// Near the top, without a heading of its own.
    Top,
}

/// A modal dialog. Its content is made anew whenever it opens.
#[component]
pub(crate) fn Dialog(
    /// Whether it is open.
    open: RwSignal<bool>,
    /// Its name and heading.
    #[prop(into)]
    title: Signal<String>,
    /// Where it stands.
    #[prop(optional)]
    placement: Placement,
    /// The content.
    children: ChildrenFn,
) -> impl IntoView {
    let element = NodeRef::<html::Dialog>::new();
    effect(move || {
        let (Some(dialog), wanted) = (element.get(), open.get()) else {
            return;
        };
        if wanted && !dialog.open() {
            // Refused only for a dialog that is open or not on the page.
            let _ = dialog.show_modal();
        } else if !wanted && dialog.open() {
            dialog.close();
        }
    });
    let class = match placement {
        Placement::Centre => "dialog",
        Placement::Wide => "dialog dialog-wide",
        Placement::Drawer => "dialog dialog-drawer",
        Placement::Top => "dialog dialog-top",
    };
    let children = StoredValue::new(children);
    let headed = placement != Placement::Top;
    view! {
        <dialog class=class node_ref=element aria-label=title on:close=move |_| open.set(false)>
            <When test=move || open.get()>
                {headed
                    .then(|| {
                        view! {
                            <header class="dialog-head">
                                <h2>{title}</h2>
                                <button
                                    type="button"
                                    class="button button-quiet button-icon"
                                    aria-label="Close"
                                    on:click=move |_| open.set(false)
                                >
                                    <Icon symbol=Symbol::Close />
                                </button>
                            </header>
                        }
                    })}
                {children.with_value(|children| children())}
            </When>
        </dialog>
    }
}
