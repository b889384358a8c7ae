//! A native dialog: the browser keeps the focus inside, closes it by Escape and gives the focus back.

use std::time::Duration;

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{HtmlDialogElement, HtmlElement};

use super::{Icon, Symbol, after_paint, later};
use crate::language::t;
use crate::reactive::{When, effect};

/// Where a dialog is on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Placement {
    /// In the middle.
    #[default]
    Centre,
    /// Wide, in the middle.
    Wide,
    /// Along the right edge, over the whole height. It covers the page with glass and leads the focus back, so that nothing
    /// behind it can be reached.
    Drawer,
    /// Near the top, without a heading of its own. What is pressed elsewhere closes it; its content keeps the focus.
    Top,
}

impl Placement {
    /// Whether it lies over a page that stays as it is: the browser need not compute the style of the whole page
    /// again, as it must for a modal dialog.
    const fn is_light(self) -> bool {
        matches!(self, Self::Drawer | Self::Top)
    }
}

/// A dialog. Its content is made again whenever it opens, but for the one at the top, whose content stays.
#[component]
pub(crate) fn Dialog(
    /// Whether it is open.
    open: RwSignal<bool>,
    /// Its name and heading.
    #[prop(into)]
    title: Signal<String>,
    /// Where it is on the screen.
    #[prop(optional)]
    placement: Placement,
    /// The content.
    children: ChildrenFn,
) -> impl IntoView {
    let element = NodeRef::<html::Dialog>::new();
    let is_light = placement.is_light();
    let is_drawer = placement == Placement::Drawer;
    // The one at the top opens at a key, so it is ready before.
    let is_kept = placement == Placement::Top;
    // The content outlasts the dialog by a moment: the browser gives the focus back only from within.
    let is_made = RwSignal::new(false);
    effect(move || {
        let (Some(dialog), wanted) = (element.get(), open.get()) else {
            return;
        };
        if !wanted {
            show(&dialog, is_light, false);
            if !is_kept {
                is_made.set(false);
            }
            return;
        }
        is_made.set(true);
        // The browser leads the focus to the first thing in it, and lays out the page for that: once, with the content.
        queue_microtask(move || {
            if open.try_get_untracked() == Some(true) {
                show(&dialog, is_light, true);
            }
        });
    });
    if is_kept {
        after_paint(move || {
            is_made.try_set(true);
        });
    }
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
        if is_drawer { later(make) } else { make() }
    };
    // The browser closes one that is no longer wanted, as it does by Escape.
    let on_toggle = move |_| {
        let shown = element.get_untracked().is_some_and(|dialog| is_over(&dialog));
        if is_light && !shown {
            open.set(false);
        }
    };
    let shown = move || element.try_get_untracked().flatten().filter(is_over);
    if is_drawer {
        let listener = window_event_listener(ev::focusin, move |_| {
            if let Some(dialog) = shown() {
                keep_focus(&dialog);
            }
        });
        on_cleanup(move || listener.remove());
    }
    let on_keydown = move |event: ev::KeyboardEvent| {
        let Some(dialog) = shown().filter(|_| is_drawer && event.key() == "Tab") else {
            return;
        };
        if event.shift_key() && is_active(first_button(&dialog)) {
            // What comes before it lies behind.
            event.prevent_default();
        }
        // Behind the last stop there may be none at all, and no focus event is sent.
        set_timeout(move || keep_focus(&dialog), Duration::ZERO);
    };
    view! {
        <dialog
            class=class
            node_ref=element
            aria-label=title
            aria-modal=is_drawer.then_some("true")
            popover=is_light.then_some("auto")
            on:close=move |_| open.set(false)
            on:toggle=on_toggle
            on:keydown=on_keydown
        >
            <When test=move || open.get() || is_made.get()>
                <div class="dialog-room">
                    {(placement != Placement::Top)
                        .then(|| {
                            view! {
                                <header class="dialog-head">
                                    <h2>{title}</h2>
                                    <button
                                        type="button"
                                        class="button button-quiet button-icon"
                                        aria-label=t("Close")
                                        on:click=move |_| open.set(false)
                                    >
                                        <Icon symbol=Symbol::Close />
                                    </button>
                                </header>
                            }
                        })}
                    {content()}
                </div>
            </When>
        </dialog>
    }
}

/// Shows a dialog, or closes it.
fn show(dialog: &HtmlDialogElement, is_light: bool, wanted: bool) {
    // Each is refused only for a dialog that is as wanted already, or not on the page.
    let _ = match (is_light, wanted) {
        (true, true) if !is_over(dialog) => dialog.show_popover(),
        (true, false) if is_over(dialog) => dialog.hide_popover(),
        (false, true) if !dialog.open() => dialog.show_modal(),
        (false, false) if dialog.open() => {
            dialog.close();
            Ok(())
        }
        _ => Ok(()),
    };
}

/// Leads the focus back into a dialog that it has left, to the first button in it.
fn keep_focus(dialog: &HtmlDialogElement) {
    let is_inside = dialog.contains(document().active_element().as_deref());
    if let Some(first) = first_button(dialog).filter(|_| !is_inside && is_over(dialog)) {
        // A button in an open dialog takes the focus.
        let _ = first.focus();
    }
}

/// The button that closes it.
fn first_button(dialog: &HtmlDialogElement) -> Option<HtmlElement> {
    dialog.query_selector("button").ok()??.dyn_into().ok()
}

fn is_active(element: Option<HtmlElement>) -> bool {
    let active = document().active_element();
    element.is_some_and(|element| active.as_ref() == Some(&element))
}

/// Whether it is shown over the page.
fn is_over(dialog: &HtmlDialogElement) -> bool {
    // Never fails for a constant, well-formed selector.
    dialog.matches(":popover-open").unwrap_or_default()
}
