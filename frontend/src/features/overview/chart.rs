//! Bars over time, as drawing and as words.

use chrono::{DateTime, TimeDelta, Utc};
use leptos::prelude::*;
use toolgate_api::usage::UsageHour;

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 180.0;
const FOOT: f64 = 20.0;

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
    let highest = bars.iter().map(|(good, bad)| good + bad).max().unwrap_or(0).max(1);
    #[expect(clippy::cast_precision_loss, reason = "drawing")]
    let scale = (HEIGHT - FOOT - 12.0) / highest as f64;
    #[expect(clippy::cast_precision_loss, reason = "drawing")]
    let step = WIDTH / count as f64;
    let total: i64 = bars.iter().map(|(good, bad)| good + bad).sum();
    let worst: i64 = bars.iter().map(|(_, bad)| bad).sum();
    let words = format!("{total} requests, {worst} of them refused or failed; at most {highest} in an hour.");
    let drawn: Vec<_> = bars
        .into_iter()
        .enumerate()
        .map(|(at, (good, bad))| {
            #[expect(clippy::cast_precision_loss, reason = "drawing")]
            let (x, good_height, bad_height) = (at as f64 * step, good as f64 * scale, bad as f64 * scale);
            let foot = HEIGHT - FOOT;
            let hour = since + TimeDelta::hours(i64::try_from(at).unwrap_or(0));
            let title = format!("{}: {good} fine, {bad} refused or failed", hour.format("%a %H:%M UTC"));
            view! {
                <g>
                    <title>{title}</title>
                    <rect class="chart-ground" x=px(x) y="0" width=px(step) height=px(foot)></rect>
                    <rect
                        class="chart-bar"
                        x=px(x + step * 0.12)
                        y=px(foot - good_height)
                        width=px(step * 0.76)
                        height=px(good_height)
                    ></rect>
                    <rect
                        class="chart-bar-bad"
                        x=px(x + step * 0.12)
                        y=px(foot - good_height - bad_height)
                        width=px(step * 0.76)
                        height=px(bad_height)
                    ></rect>
                </g>
            }
            .into_any()
        })
        .collect();
    view! {
        <svg class="chart" viewBox=format!("0 0 {WIDTH} {HEIGHT}") role="img" aria-label=words.clone()>
            {drawn}
            <line class="chart-axis" x1="0" x2=px(WIDTH) y1=px(HEIGHT - FOOT) y2=px(HEIGHT - FOOT)></line>
            <text x="0" y=px(HEIGHT - 4.0)>
                {since.format("%d %b %H:%M UTC").to_string()}
            </text>
            <text x=px(WIDTH) y=px(HEIGHT - 4.0) text-anchor="end">
                "now"
            </text>
        </svg>
        <p class="muted">{words}</p>
    }
    .into_any()
}

fn px(value: f64) -> String {
    format!("{value:.1}")
}
