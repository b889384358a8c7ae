//! What takes long to make comes after the answer to what was pressed.

use std::time::Duration;

use leptos::prelude::*;

use super::Skeleton;
use crate::reactive::part;

/// Does something once what is there now was painted.
pub(crate) fn after_paint(work: impl FnOnce() + 'static) {
    fn boxed(work: Box<dyn FnOnce()>) {
        request_animation_frame(move || set_timeout(work, Duration::ZERO));
    }
    boxed(Box::new(work));
}

/// Shows that something is coming, and makes it once that was painted.
pub(crate) fn deferred(what: &'static str, make: impl Fn() -> AnyView + Send + Sync + 'static) -> AnyView {
    once_painted(move || view! { <Skeleton what /> }.into_any(), make)
}

/// Makes something once the page without it was painted.
pub(crate) fn later(make: impl Fn() -> AnyView + Send + Sync + 'static) -> AnyView {
    once_painted(|| ().into_any(), make)
}

fn once_painted(
    meanwhile: impl Fn() -> AnyView + Send + Sync + 'static,
    make: impl Fn() -> AnyView + Send + Sync + 'static,
) -> AnyView {
    let is_due = RwSignal::new(false);
    after_paint(move || {
        // The page may be gone.
        is_due.try_set(true);
    });
    part(move || if is_due.get() { make() } else { meanwhile() })
}
