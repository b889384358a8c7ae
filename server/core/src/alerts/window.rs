//! Counting within a sliding window, in constant memory.

use chrono::{DateTime, Utc};

/// Parts that a window is counted in.
pub(super) const STEPS: i64 = 8;

/// How many events there were in the last window: those of the present eighth of it and the seven before. An event is
/// counted for at least seven eighths of the window and never longer than the window.
#[derive(Debug, Clone, Default)]
pub(super) struct SlidingCount {
    counts: [u32; STEPS as usize],
    /// The number of the present eighth since 1970.
    step: i64,
    window_s: u32,
}

impl SlidingCount {
    /// Counts one event; answers how many there are in the window now.
    pub(super) fn add(&mut self, at: DateTime<Utc>, window_s: u32) -> u32 {
        self.advance(at, window_s);
        let slot = &mut self.counts[Self::slot(self.step)];
        *slot = slot.saturating_add(1);
        self.sum()
    }

    /// How many there are in the window at a time.
    pub(super) fn at(&mut self, at: DateTime<Utc>, window_s: u32) -> u32 {
        self.advance(at, window_s);
        self.sum()
    }

    /// Starts again.
    pub(super) fn clear(&mut self) {
        self.counts = Default::default();
    }

    fn sum(&self) -> u32 {
        self.counts.iter().copied().fold(0, u32::saturating_add)
    }

    fn advance(&mut self, at: DateTime<Utc>, window_s: u32) {
        if self.window_s != window_s {
            // The window has changed; what was counted in parts of another length cannot be assigned to the new ones.
            *self = Self {
                window_s,
                ..Self::default()
            };
        }
        let width = (i64::from(window_s) * 1000 / STEPS).max(1);
        let now = at.timestamp_millis().div_euclid(width);
        // Clocks of parallel requests may go back a little: such an event counts as of now.
        let ahead = now - self.step;
        if ahead >= STEPS {
            self.clear();
        } else {
            for passed in 1..=ahead {
                self.counts[Self::slot(self.step + passed)] = 0;
            }
        }
        self.step = self.step.max(now);
    }

    fn slot(step: i64) -> usize {
        usize::try_from(step.rem_euclid(STEPS)).unwrap_or(0)
    }
}
