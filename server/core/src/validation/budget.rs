//! What one check may cost.

use std::cell::Cell;

/// Bytes of stack for which a step counts once more: what is kept about the schemas around a value is searched at each
/// reference, so steps that are nested deeper take longer.
const STACK_PER_STEP: usize = 16 << 10;
/// Bytes of memory that a fault takes beside the texts of its places.
const FAULT_BYTES: usize = 512;
/// Bytes of memory that the name of a member takes in a fault beside its text.
const NAME_BYTES: usize = 32;
/// Bytes of text that are read in about the time of one step.
const TEXT_PER_STEP: usize = 64;

/// What the steps of a check cost beside themselves, known once per schema.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Weights {
    /// Steps for the parts of a schema that look at no value, such as `false` in `anyOf`: for each value.
    pub(super) silent: u64,
    /// Steps for each [`TEXT_PER_STEP`] bytes of a text, by its most expensive pattern.
    pub(super) text: u64,
    /// Steps for each name of a member, and for each [`TEXT_PER_STEP`] bytes of it.
    pub(super) name: (u64, u64),
}

/// The steps, the stack and the memory that are left. A check that has used up one of them is over: every value looks
/// like `null` from then on, so that what is still open ends at once.
#[derive(Debug)]
pub(super) struct Budget {
    steps: Cell<u64>,
    memory: Cell<usize>,
    /// Bytes of memory for a fault's place in the value; `None` while nothing is collected.
    place: Option<usize>,
    over: Cell<bool>,
    base: usize,
    stack: usize,
    weights: Weights,
}

impl Budget {
    /// For deciding. `stack` is in bytes, from the caller's frame on.
    pub(super) fn deciding(steps: u64, stack: usize, weights: Weights) -> Self {
        Self {
            steps: Cell::new(steps),
            memory: Cell::new(0),
            place: None,
            over: Cell::new(false),
            base: address(),
            stack,
            weights,
        }
    }

    /// For collecting faults, of which each may take `place` bytes for its place in the value.
    pub(super) fn collecting(
        steps: u64,
        memory: usize,
        place: usize,
        stack: usize,
        weights: Weights,
    ) -> Self {
        Self {
            memory: Cell::new(memory),
            place: Some(place),
            ..Self::deciding(steps, stack, weights)
        }
    }

    /// Whether something was used up.
    pub(super) fn is_over(&self) -> bool {
        self.over.get()
    }

    /// Takes the cost of a look at a value that was reached before.
    #[inline]
    pub(super) fn look(&self) -> bool {
        self.take(1)
    }

    /// Takes the cost of going to a value.
    #[inline]
    pub(super) fn go(&self) -> bool {
        self.take(1 + self.weights.silent)
    }

    /// Takes the cost of reading a text of this many bytes.
    #[inline]
    pub(super) fn read(&self, bytes: usize) -> bool {
        self.take(1 + steps_of(bytes) * self.weights.text)
    }

    /// Takes the cost of a member whose name has this many bytes.
    #[inline]
    pub(super) fn name(&self, bytes: usize) -> bool {
        let (once, text) = self.weights.name;
        self.take(1 + self.weights.silent + once + steps_of(bytes) * text)
            && (self.place.is_none() || self.keep(NAME_BYTES + bytes))
    }

    /// Takes what a fault costs.
    pub(super) fn fault(&self) -> bool {
        let Some(place) = self.place else {
            return self.look();
        };
        // The references on the way to the schema, which a fault names too, take room on the stack.
        self.look() && self.keep(FAULT_BYTES + place + self.base.abs_diff(address()) / 4)
    }

    fn keep(&self, bytes: usize) -> bool {
        let left = self.memory.get().checked_sub(bytes);
        self.memory.set(left.unwrap_or_default());
        self.over.set(left.is_none());
        left.is_some()
    }

    /// Takes this many steps, or ends the check.
    #[inline]
    pub(super) fn take(&self, steps: u64) -> bool {
        if self.over.get() {
            return false;
        }
        let stack = self.base.abs_diff(address());
        let steps = steps + (stack / STACK_PER_STEP) as u64;
        match self.steps.get().checked_sub(steps) {
            Some(left) if stack <= self.stack => {
                self.steps.set(left);
                true
            }
            _ => {
                self.over.set(true);
                false
            }
        }
    }
}

fn steps_of(bytes: usize) -> u64 {
    (bytes / TEXT_PER_STEP) as u64
}

/// About where the stack ends now.
#[inline]
fn address() -> usize {
    let here = 0_u8;
    std::ptr::from_ref(&here).addr()
}
