//! Reading again what changes by itself.

use std::time::Duration;

use leptos::prelude::*;

use crate::loaded::Loaded;
use crate::reactive::effect;

/// From an answer to the next question.
const REST: Duration = Duration::from_secs(3);

/// Reads a resource again and again while the page is visible. A failure ends it until reading it again succeeds.
pub(crate) fn follow(loaded: Loaded) {
    let turn = StoredValue::new(0_u32);
    effect(move || {
        if loaded.is_there() {
            turn.update_value(|turn| *turn = turn.wrapping_add(1));
            wait(loaded, turn, turn.get_value());
        }
    });
}

fn wait(loaded: Loaded, turn: StoredValue<u32>, mine: u32) {
    set_timeout(
        move || {
            // The page may be gone, or another answer may have come.
            if turn.try_get_value() != Some(mine) {
                return;
            }
            if document().hidden() {
                wait(loaded, turn, mine);
            } else {
                loaded.reload();
            }
        },
        REST,
    );
}
