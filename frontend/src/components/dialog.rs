//! A native dialog: the browser keeps the focus inside, closes it by Escape and gives the focus back.

use leptos::html;
use leptos::prelude::*;
use web_sys::HtmlDialogElement;

use super::{Icon, Symbol, later};
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
    /// Near the top, without a heading of its own, over a page that stays as it is: the browser need not work out the style
    /// of the whole page anew, as it must for a modal dialog. What is pressed elsewhere closes it; its content keeps the focus.
    Top,
}

/// A dialog, modal but for the one at the top. Its content is made anew whenever it opens.
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
    let is_light = placement == Placement::Top;
    // The content outlasts the dialog by a moment: the browser gives the focus back only from within.
    let is_made = RwSignal::new(false);
    effect(move || {
        let (Some(dialog), wanted) = (element.get(), open.get()) else {
            return;
        };
        // Each is refused only for a dialog that is as wanted already, or not on the page.
        let _ = match (is_light, wanted) {
            (true, true) if !is_over(&dialog) => dialog.show_popover(),
            (true, false) if is_over(&dialog) => dialog.hide_popover(),
            (false, true) if !dialog.open() => dialog.show_modal(),
            (false, false) if dialog.open() => {
                dialog.close();
                Ok(())
            }
            _ => Ok(()),
        };
        is_made.set(wanted);
    });
    let class = match placement {
        Placement::Centre => "dialog",
        Placement::Wide => "dialog dialog-wide",
        Placement::Drawer => "dialog dialog-drawer",
        Placement::Top => "dialog dialog-top",
    };
    let children = StoredValue::new(children);
    let content = move || {
        let make = move || children.with_value(|children| children());
        // A drawer has its size whatever is in it, so the empty one is shown first.
        if placement == Placement::Drawer {
            later(make)
        } else {
            make()
        }
    };
    // The browser closes one that is no longer wanted, as it does by Escape.
    let on_toggle = move |_| {
        let shown = element.get_untracked().is_some_and(|dialog| is_over(&dialog));
        if is_light && !shown {
            open.set(false);
        }
    };
    view! {
        <dialog
            class=class
            node_ref=element
            aria-label=title
            popover=is_light.then_some("auto")
            on:close=move |_| open.set(false)
            on:toggle=on_toggle
        >
            <When test=move || open.get() || is_made.get()>
                {(!is_light)
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
                {content()}
            </When>
        </dialog>
    }
}

/// Whether it is shown over the page.
fn is_over(dialog: &HtmlDialogElement) -> bool {
    // Never fails for a constant, well-formed selector.
    dialog.matches(":popover-open").unwrap_or_default()
}
