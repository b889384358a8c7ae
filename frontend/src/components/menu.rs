//! A button that unfolds a panel of links and buttons.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::Node;

use super::{Icon, Symbol};
use crate::reactive::When;

/// A disclosure: the button says whether the panel is open. Escape, a click elsewhere, leaving it with the keyboard,
/// following one of its links and pressing a button with `data-close` close it.
#[component]
pub(crate) fn Menu(
    /// The panel's id, unique on the page.
    id: &'static str,
    /// The button's name for assistive technology; begins with the text that the button shows.
    #[prop(into)]
    name: Signal<String>,
    /// What the button shows.
    #[prop(into)]
    face: ViewFn,
    /// Extra class of the whole menu.
    #[prop(optional)]
    class: &'static str,
    /// The panel's content.
    children: ChildrenFn,
) -> impl IntoView {
    let open = RwSignal::new(false);
    let whole = NodeRef::<html::Div>::new();
    let button = NodeRef::<html::Button>::new();

    let is_inside = move |node: Option<Node>| {
        whole
            .get_untracked()
            .is_some_and(|whole| whole.contains(node.as_ref()))
    };
    let elsewhere = window_event_listener(ev::pointerdown, move |event| {
        if open.get_untracked() && !is_inside(event.target().and_then(|target| target.dyn_into().ok())) {
            open.set(false);
        }
    });
    on_cleanup(move || elsewhere.remove());

    let on_keydown = move |event: ev::KeyboardEvent| {
        if event.key() == "Escape" && open.get_untracked() {
            open.set(false);
            if let Some(button) = button.get_untracked() {
                // The button is on the page, so it takes the focus.
                let _ = button.focus();
            }
        }
    };
    let on_focusout = move |event: ev::FocusEvent| {
        // Without a related target the focus went nowhere, as after a click on plain text in the panel.
        if let Some(target) = event.related_target()
            && !is_inside(target.dyn_into().ok())
        {
            open.set(false);
        }
    };
    let on_panel_click = move |event: ev::MouseEvent| {
        let link = event
            .target()
            .and_then(|target| target.dyn_into::<web_sys::Element>().ok())
            .and_then(|element| element.closest("a, [data-close]").ok().flatten());
        if link.is_some() {
            open.set(false);
        }
    };
    let children = StoredValue::new(children);

    view! {
        <div class=format!("menu {class}") node_ref=whole on:keydown=on_keydown on:focusout=on_focusout>
            <button
                type="button"
                class="menu-button"
                node_ref=button
                aria-label=name
                aria-expanded=move || open.get().to_string()
                aria-controls=id
                on:click=move |_| open.update(|open| *open = !*open)
            >
                {face.run()}
                <Icon symbol=Symbol::ChevronDown />
            </button>
            <div class="menu-panel" id=id hidden=move || !open.get() on:click=on_panel_click>
                <When test=move || open.get()>{children.with_value(|children| children())}</When>
            </div>
        </div>
    }
}
