//! The range of time that a page shows: relative or absolute, in local time or UTC, in the address.

mod picker;
mod relative;

use leptos::prelude::*;
use wasm_bindgen::JsValue;

pub(crate) use self::picker::TimeRangePicker;
use self::relative::before_now;
use crate::browser::{now_ms, storage};
use crate::language::{marked, t, tf};
use crate::url::{Navigator, UrlParam};

/// Where this browser remembers the zone that is chosen.
const KEPT: &str = "toolgate.zone";
const UTC: &str = "utc";
const LOCAL: &str = "local";

/// Ranges that end now, and their names.
pub(super) const QUICK: [(&str, &str); 8] = [
    ("now-15m", marked("Last 15 minutes")),
    ("now-1h", marked("Last hour")),
    ("now-6h", marked("Last 6 hours")),
    ("now-24h", marked("Last 24 hours")),
    ("now-2d", marked("Last 2 days")),
    ("now-7d", marked("Last 7 days")),
    ("now-30d", marked("Last 30 days")),
    ("now-90d", marked("Last 90 days")),
];

/// The range in the address: `from`, `to` and `zone`.
#[derive(Clone, Copy)]
pub(crate) struct TimeRange {
    from: UrlParam,
    to: UrlParam,
    zone: UrlParam,
    navigator: Navigator,
    /// Where the range begins when the address does not say; empty for all time.
    standard: &'static str,
    /// Counts how often what is relative was computed again.
    turn: RwSignal<u32>,
    bounds: Memo<(Option<i64>, Option<i64>)>,
}

impl TimeRange {
    /// Of the page that is being built. `standard` is where it begins when the address does not say, for example `now-24h`;
    /// empty for all time.
    pub(crate) fn new(standard: &'static str) -> Self {
        let [from, to, zone] = ["from", "to", "zone"].map(UrlParam::new);
        let turn = RwSignal::new(0);
        let bounds = Memo::new(move |_| {
            turn.track();
            let from = Some(from.get()).filter(|end| !end.is_empty());
            let from = from.as_deref().and_then(moment).or_else(|| moment(standard));
            // What is shown until now has no end, so that the latest is in it.
            let to = Some(to.get()).filter(|end| end != "now");
            (from, to.as_deref().and_then(moment))
        });
        Self {
            from,
            to,
            zone,
            navigator: Navigator::new(),
            standard,
            turn,
            bounds,
        }
    }

    /// The parameters `since` and `until` of the API, reactively; empty where there is no bound.
    pub(crate) fn query(self) -> [(&'static str, String); 2] {
        let (from, to) = self.bounds.get();
        let text = |end: Option<i64>| end.map(iso_ms).unwrap_or_default();
        [("since", text(from)), ("until", text(to))]
    }

    /// The range as it is in the address.
    pub(crate) fn kept(self) -> [(&'static str, String); 2] {
        [
            ("from", self.from.get_untracked()),
            ("to", self.to.get_untracked()),
        ]
    }

    /// Whether nothing else than what is shown first was chosen, reactively.
    pub(crate) fn is_standard(self) -> bool {
        self.from.get().is_empty() && self.to.get().is_empty()
    }

    /// Computes again what is relative to now.
    pub(crate) fn refresh(self) {
        self.turn.update(|turn| *turn = turn.wrapping_add(1));
    }

    /// Shows what is between two times, in seconds since 1970.
    pub(crate) fn narrow(self, from_s: i64, to_s: i64) {
        self.set(&iso_ms(from_s * 1000), &iso_ms(to_s.max(from_s + 60) * 1000));
    }

    fn set(self, from: &str, to: &str) {
        let from = if from == self.standard { "" } else { from };
        self.navigator.set(&[("from", from), ("to", to)], true);
    }

    /// Whether times are shown in UTC, reactively.
    pub(crate) fn is_utc(self) -> bool {
        match self.zone.get().as_str() {
            UTC => true,
            LOCAL => false,
            _ => {
                storage()
                    .and_then(|store| store.get_item(KEPT).ok().flatten())
                    .as_deref()
                    == Some(UTC)
            }
        }
    }

    fn set_utc(self, is_utc: bool) {
        let zone = if is_utc { UTC } else { LOCAL };
        if let Some(store) = storage() {
            // A full store remembers nothing.
            let _ = store.set_item(KEPT, zone);
        }
        self.zone.replace(zone);
    }

    /// The range in words, reactively.
    pub(crate) fn words(self) -> String {
        let (from, to) = (self.from.get(), self.to.get());
        let from = if from.is_empty() {
            self.standard.to_owned()
        } else {
            from
        };
        let is_until_now = to.is_empty() || to == "now";
        if from.is_empty() && is_until_now {
            return t("All time").to_owned();
        }
        if is_until_now && let Some((_, name)) = QUICK.iter().find(|(key, _)| *key == from) {
            return t(name).to_owned();
        }
        let is_utc = self.is_utc();
        let shown =
            |end: Option<i64>, none: &str| end.map_or_else(|| none.to_owned(), |ms| clock(ms, is_utc));
        let (from, to) = self.bounds.get();
        let zone = if is_utc { " UTC" } else { "" };
        tf!(
            "{from} to {to}",
            from = shown(from, t("the beginning")),
            to = shown(to, t("now")),
        ) + zone
    }
}

/// An end of a range in milliseconds since 1970; nothing for a text that is none.
fn moment(end: &str) -> Option<i64> {
    if let Some(before) = before_now(end) {
        return Some(now_ms() - before);
    }
    parsed(end)
}

/// What the browser reads of a date, in milliseconds since 1970.
fn parsed(text: &str) -> Option<i64> {
    if text.is_empty() {
        return None;
    }
    let ms = js_sys::Date::parse(text);
    if !ms.is_finite() {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, reason = "dates are far below 2^53")]
    let ms = ms as i64;
    Some(ms)
}

fn date(ms: i64) -> js_sys::Date {
    #[expect(clippy::cast_precision_loss, reason = "dates are far below 2^53")]
    let ms = ms as f64;
    js_sys::Date::new(&JsValue::from_f64(ms))
}

/// A time in RFC 3339, UTC.
pub(crate) fn iso_ms(ms: i64) -> String {
    date(ms).to_iso_string().into()
}

/// A time as `2026-01-31T18:00`, in UTC or in local time.
fn field(ms: i64, is_utc: bool) -> String {
    let shift = if is_utc {
        0.0
    } else {
        date(ms).get_timezone_offset()
    };
    #[expect(
        clippy::cast_possible_truncation,
        reason = "an offset is a few hundred minutes"
    )]
    let shift = shift as i64;
    iso_ms(ms - shift * 60_000).chars().take(16).collect()
}

/// The same for people: `2026-01-31 18:00`.
pub(crate) fn clock(ms: i64, is_utc: bool) -> String {
    field(ms, is_utc).replace('T', " ")
}
