//! A password that was made, and is shown once.

use crate::components::ShownOnce;
use crate::language::t;

/// The place of a password that was made.
pub(super) fn shown_once() -> ShownOnce {
    ShownOnce::new(
        t("Password"),
        t("This password is shown once. Hand it over safely; it can be changed after signing in."),
    )
}
