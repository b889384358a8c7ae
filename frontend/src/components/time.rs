//! Points in time, relative to now; the exact time is in the tooltip and in the markup.

use chrono::{DateTime, Utc};
use leptos::prelude::*;

use crate::browser::{iso, now_ms, stamp};
use crate::language::{filled, marked, t};

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
    // Each with the texts for one and for many that are past, and for one and for many that are ahead.
    const UNITS: [(i64, [&str; 4]); 6] = [
        (
            31_557_600,
            [
                marked("{count} year ago"),
                marked("{count} years ago"),
                marked("in {count} year"),
                marked("in {count} years"),
            ],
        ),
        (
            2_629_800,
            [
                marked("{count} month ago"),
                marked("{count} months ago"),
                marked("in {count} month"),
                marked("in {count} months"),
            ],
        ),
        (
            86_400,
            [
                marked("{count} day ago"),
                marked("{count} days ago"),
                marked("in {count} day"),
                marked("in {count} days"),
            ],
        ),
        (
            3_600,
            [
                marked("{count} hour ago"),
                marked("{count} hours ago"),
                marked("in {count} hour"),
                marked("in {count} hours"),
            ],
        ),
        (
            60,
            [
                marked("{count} minute ago"),
                marked("{count} minutes ago"),
                marked("in {count} minute"),
                marked("in {count} minutes"),
            ],
        ),
        (
            1,
            [
                marked("{count} second ago"),
                marked("{count} seconds ago"),
                marked("in {count} second"),
                marked("in {count} seconds"),
            ],
        ),
    ];
    // Clocks differ a little.
    let span = seconds.abs();
    if span < 10 {
        return t("just now").to_owned();
    }
    let (length, [one_ago, many_ago, in_one, in_many]) = UNITS
        .into_iter()
        .find(|(length, _)| span >= *length)
        .unwrap_or(UNITS[5]);
    let count = span / length;
    let text = match (seconds > 0, count == 1) {
        (true, true) => one_ago,
        (true, false) => many_ago,
        (false, true) => in_one,
        (false, false) => in_many,
    };
    filled(t(text), &[("count", &count)])
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
