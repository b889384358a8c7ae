//! A password that was made, and is shown once.

use crate::components::ShownOnce;

/// The place of a password that was made.
pub(super) fn shown_once() -> ShownOnce {
    ShownOnce::new(
        "Password",
        "This password is shown once. Hand it over safely; it can be changed after signing in.",
    )
}
