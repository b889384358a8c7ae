//! Points in time, relative to now; the exact time is in the tooltip and in the markup.

use chrono::{DateTime, Utc};
use leptos::prelude::*;

use crate::browser::{iso, now_ms, stamp};
use crate::words::counted;

/// How long ago something was, or how soon it will be.
#[component]
pub(crate) fn TimeAgo(
    /// When it was.
    at: DateTime<Utc>,
) -> impl IntoView {
    view! {
        <time datetime=iso(at) title=stamp(at)>
            {told_at(at)}
        </time>
    }
}

/// A point in time relative to now.
pub(super) fn told_at(at: DateTime<Utc>) -> String {
    relative((now_ms() - at.timestamp_millis()) / 1000)
}

/// A span in its largest whole unit; what is ahead is negative.
fn relative(seconds: i64) -> String {
    const UNITS: [(i64, &str); 6] = [
        (31_557_600, "year"),
        (2_629_800, "month"),
        (86_400, "day"),
        (3_600, "hour"),
        (60, "minute"),
        (1, "second"),
    ];
    // Clocks differ a little.
    let span = seconds.abs();
    if span < 10 {
        return "just now".to_owned();
    }
    let (length, unit) = UNITS
        .into_iter()
        .find(|(length, _)| span >= *length)
        .unwrap_or((1, "second"));
    let count = counted(span / length, unit);
    if seconds > 0 {
        format!("{count} ago")
    } else {
        format!("in {count}")
    }
}

#[cfg(test)]
mod tests {
    use super::relative;

    #[test]
    fn tells_the_largest_whole_unit() {
        for (seconds, expected) in [
            (-5, "just now"),
            (9, "just now"),
            (10, "10 seconds ago"),
            (60, "1 minute ago"),
            (7_199, "1 hour ago"),
            (172_800, "2 days ago"),
            (2_629_800, "1 month ago"),
            (80_000_000, "2 years ago"),
            (-90, "in 1 minute"),
            (-172_800, "in 2 days"),
        ] {
            assert_eq!(relative(seconds), expected, "{seconds} s");
        }
    }
}
