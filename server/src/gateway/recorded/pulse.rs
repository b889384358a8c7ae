//! Whether another server without a heartbeat is dead, or whether the database was unavailable for all of them.

use std::sync::{Mutex, PoisonError};

use chrono::{DateTime, TimeDelta, Utc};

/// Remembers when a heartbeat of this server could not be written last.
#[derive(Debug, Default)]
pub struct Pulse(Mutex<Option<DateTime<Utc>>>);

impl Pulse {
    /// Notes a heartbeat. Whether the open records of servers without a heartbeat for `silence` may be closed: not
    /// until this server's own heartbeats have been written for as long. After an outage of the database, no server
    /// has a recent heartbeat, and the others are about to complete their records themselves.
    pub fn beat(&self, written: bool, now: DateTime<Utc>, silence: TimeDelta) -> bool {
        let mut missed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !written {
            *missed = Some(now);
        }
        missed.is_none_or(|at| now - at >= silence)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_an_outage_others_get_the_time_to_be_heard_of() {
        let (pulse, silence) = (Pulse::default(), TimeDelta::seconds(30));
        let at = |seconds| DateTime::UNIX_EPOCH + TimeDelta::seconds(seconds);
        for (seconds, written, may_close) in [
            (0, true, true),
            (5, false, false),
            (60, false, false),
            (65, true, false),
            (89, true, false),
            (90, true, true),
            (95, true, true),
        ] {
            assert_eq!(pulse.beat(written, at(seconds), silence), may_close, "{seconds}");
        }
    }
}
