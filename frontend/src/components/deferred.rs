//! What takes long to make comes after the answer to what was pressed.

use std::time::Duration;

use leptos::prelude::*;

use super::Skeleton;
use crate::reactive::part;

/// Shows that something is coming, and makes it once that was painted.
pub(crate) fn deferred(what: &'static str, make: impl Fn() -> AnyView + Send + Sync + 'static) -> AnyView {
    let is_due = RwSignal::new(false);
    request_animation_frame(move || {
        set_timeout(
            move || {
                // The page may be gone.
                is_due.try_set(true);
            },
            Duration::ZERO,
        );
    });
    part(move || {
        if is_due.get() {
            make()
        } else {
            view! { <Skeleton what /> }.into_any()
        }
    })
}
