//! Series of the API: where they are read, what they are about, and the records behind them.

use std::collections::BTreeMap;

use leptos::prelude::*;
use toolgate_api::usage::{UsageLine, UsageSeries};

use crate::api::{in_project, with_query};
use crate::components::{TimeRange, iso_ms};
use crate::language::{found, t};
use crate::loaded::Loaded;
use crate::routes::{Page, PageKind};
use crate::session::{Permission, Session};

/// What series are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum By {
    /// The project.
    Total,
    /// Each tool.
    Tool,
    /// Each group.
    Group,
    /// Each principal.
    Principal,
    /// Each entrance.
    Entrance,
}

impl By {
    const ALL: [Self; 5] = [
        Self::Total,
        Self::Tool,
        Self::Group,
        Self::Principal,
        Self::Entrance,
    ];

    /// Its word in the API.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Total => "total",
            Self::Tool => "tool",
            Self::Group => "group",
            Self::Principal => "principal",
            Self::Entrance => "entrance",
        }
    }

    /// That of a word; the project without one.
    pub(super) fn of(word: &str) -> Self {
        let found = Self::ALL.into_iter().find(|by| by.word() == word);
        found.unwrap_or(Self::Total)
    }
}

/// Reads series of a range; `is_on` says whether they are asked for.
pub(crate) fn counted_by(
    project: Memo<String>,
    by: Signal<By>,
    range: TimeRange,
    is_on: impl Fn() -> bool + Send + Sync + 'static,
) -> Loaded {
    Loaded::new(move || {
        if !is_on() {
            return String::new();
        }
        let [(since, from), (until, to)] = range.query();
        let query = [
            ("by", by.get().word()),
            (since, from.as_str()),
            (until, to.as_str()),
        ];
        with_query(in_project(&project.get(), &["usage", "series"]), &query)
    })
}

/// The beginnings of the slots of series, in seconds since 1970.
pub(super) fn times(series: &UsageSeries) -> Vec<i64> {
    let slot = series.slot_s.max(1);
    let (from, to) = (series.since.timestamp(), series.until.timestamp());
    (from..to).step_by(usize::try_from(slot).unwrap_or(1)).collect()
}

/// A value for every slot of a line; `absent` where nothing was counted.
pub(super) fn values(
    line: &UsageLine,
    times: &[i64],
    absent: Option<i64>,
    value: impl Fn(&toolgate_api::usage::UsagePoint) -> Option<i64>,
) -> Vec<Option<i64>> {
    let mut points = line.points.iter().peekable();
    times
        .iter()
        .map(|at| {
            let point = points.next_if(|point| point.at.timestamp() == *at);
            point.map_or(absent, &value)
        })
        .collect()
}

/// What principals are called, for those who may know it.
pub(crate) fn principals(project: Memo<String>) -> Memo<BTreeMap<String, String>> {
    let session = Session::get();
    let people = Loaded::new(move || {
        if session.may(&project.get(), Permission::ReadAccess) {
            in_project(&project.get(), &["permissions"]) + "?limit=200"
        } else {
            String::new()
        }
    });
    Memo::new(move |_| {
        let people = people.json().unwrap_or_default();
        let people = people["items"].as_array().into_iter().flatten();
        let named = |one: &serde_json::Value| {
            Some((
                one["principal"].as_str()?.to_owned(),
                one["name"].as_str()?.to_owned(),
            ))
        };
        people.filter_map(named).collect()
    })
}

/// What people call a name of a series.
pub(crate) fn title_of(by: By, name: &str, names: &BTreeMap<String, String>) -> String {
    match by {
        By::Total => t("All").to_owned(),
        By::Principal => names.get(name).cloned().unwrap_or_else(|| name.to_owned()),
        By::Entrance => match name {
            "rest" => "REST".to_owned(),
            "mcp" => "MCP".to_owned(),
            "bus" => t("Message bus").to_owned(),
            other => found(other).unwrap_or(other).to_owned(),
        },
        By::Tool | By::Group => name.to_owned(),
    }
}

/// The page with the records behind a name of a series; `filter` is what else they have in common, and the times are in
/// seconds since 1970.
pub(crate) fn records_path(
    project: String,
    (by, name): (By, &str),
    filter: (&'static str, &'static str),
    (from_s, to_s): (i64, i64),
) -> String {
    let path = Page::of_project(project, PageKind::Records).path();
    let of = match by {
        By::Total => ("", ""),
        By::Tool => ("tool", name),
        By::Group => ("requested_group", name),
        By::Principal => ("principal_id", name.split_once(':').map_or(name, |(_, id)| id)),
        By::Entrance => ("entrance", name),
    };
    let (from, to) = (iso_ms(from_s * 1000), iso_ms(to_s * 1000));
    with_query(path, &[of, filter, ("from", &from), ("to", &to)])
}
