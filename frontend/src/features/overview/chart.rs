//! Bars over time, as drawing and as words.

use crate::browser::stamp;
use crate::words::counted;
use chrono::{DateTime, TimeDelta, Utc};
use leptos::prelude::*;
use toolgate_api::usage::UsageHour;

/// Size of the drawing, in its own units.
const WIDTH: i64 = 9600;
const HEIGHT: i64 = 1800;
/// What stays free above the highest bar.
const HEAD: i64 = 80;

/// One bar for each hour: refused and failed on top of what succeeded.
pub(super) fn hours_chart(since: DateTime<Utc>, until: DateTime<Utc>, hours: Vec<UsageHour>) -> AnyView {
    let count = usize::try_from((until - since).num_hours().clamp(1, 400)).unwrap_or(1) + 1;
    let mut bars = vec![(0_i64, 0_i64); count];
    for hour in &hours {
        let at = usize::try_from((hour.at - since).num_hours()).unwrap_or(usize::MAX);
        if let Some(bar) = bars.get_mut(at) {
            let bad = hour.counts.denials + hour.counts.failures;
            *bar = ((hour.counts.calls - hour.counts.failures).max(0), bad);
        }
    }
    let highest = bars
        .iter()
        .map(|(good, bad)| good + bad)
        .max()
        .unwrap_or(0)
        .max(1);
    let tall = |value: i64| value * (HEIGHT - HEAD) / highest;
    let middle = (HEAD + HEIGHT) / 2;
    let step = WIDTH / i64::try_from(count).unwrap_or(1);
    let total: i64 = bars.iter().map(|(good, bad)| good + bad).sum();
    let worst: i64 = bars.iter().map(|(_, bad)| bad).sum();
    let words = format!(
        "{}, {worst} of them refused or failed; at most {highest} in an hour.",
        counted(total, "request")
    );
    let drawn: Vec<_> = bars
        .into_iter()
        .enumerate()
        .map(|(at, (good, bad))| {
            let at = i64::try_from(at).unwrap_or(0);
            let (x, good_height, bad_height) = (at * step, tall(good), tall(bad));
            let (bar_x, bar_width) = (x + step / 8, step * 3 / 4);
            let hour = since + TimeDelta::hours(at);
            let title = format!("{}: {good} fine, {bad} refused or failed", stamp(hour));
            view! {
                <g>
                    <title>{title}</title>
                    <rect class="chart-ground" x=x y="0" width=step height=HEIGHT></rect>
                    <rect class="chart-bar" x=bar_x y=HEIGHT - good_height width=bar_width height=good_height></rect>
                    <rect
                        class="chart-bar-bad"
                        x=bar_x
                        y=HEIGHT - good_height - bad_height
                        width=bar_width
                        height=bad_height
                    ></rect>
                </g>
            }
            .into_any()
        })
        .collect();
    view! {
        <div class="chart-scale row row-spread muted">
            <span>{highest}</span>
            <span class="row">
                <span class="chart-key">"succeeded"</span>
                <span class="chart-key chart-key-bad">"refused or failed"</span>
            </span>
        </div>
        <svg
            class="chart"
            viewBox=format!("0 0 {WIDTH} {HEIGHT}")
            preserveAspectRatio="none"
            role="img"
            aria-label=words.clone()
        >
            <line class="chart-line" x1="0" x2=WIDTH y1=HEAD y2=HEAD></line>
            <line class="chart-line" x1="0" x2=WIDTH y1=middle y2=middle></line>
            {drawn}
            <line class="chart-axis" x1="0" x2=WIDTH y1=HEIGHT y2=HEIGHT></line>
        </svg>
        <p class="chart-ends row row-spread muted">
            <span>{stamp(since)}</span>
            <span>"now"</span>
        </p>
        <p class="chart-words">{words}</p>
    }
    .into_any()
}
