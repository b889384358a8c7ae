//! The Toolgate dashboard: a client-side application that talks to the REST API and to nothing else.
//!
//! The server renders two pages around it. The sign-in page has a form that this application takes over; every
//! other page is an empty shell for it. `api` is the only place that speaks HTTP, `components` are widgets that know
//! no feature, and each folder of `features` has the screens of one subject.
#![expect(
    unreachable_pub,
    reason = "the component macro writes `pub` whatever the component's visibility is"
)]
#![expect(clippy::needless_pass_by_value, reason = "a component owns its properties")]

mod action;
mod api;
mod app;
mod browser;
mod candidates;
mod components;
mod contract_words;
mod expectations;
mod features;
mod form_texts;
mod held_groups;
mod help;
mod language;
mod layout;
mod lazy;
mod loaded;
mod page_bundle;
mod page_table;
mod paged;
mod preferences;
mod rare_parts;
mod reactive;
mod remedies;
mod review;
mod routes;
mod second_factor;
mod session;
mod snippets;
mod theme;
mod tool_change;
mod undo;
mod url;
mod vendor;
mod words;

use features::sign_in::{SignInForm, TypedAhead};

fn main() {
    if let Some(slot) = browser::element("sign-in") {
        let typed = TypedAhead::take(&slot);
        slot.set_inner_html("");
        leptos::mount::mount_to(slot, move || leptos::view! { <SignInForm typed /> }).forget();
    } else if let Some(slot) = browser::element("app") {
        slot.set_inner_html("");
        leptos::mount::mount_to(slot, app::App).forget();
    }
}
