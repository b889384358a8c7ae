//! Counts over time.

use chrono::{DateTime, TimeDelta, Utc};
use toolgate_api::usage::UsageCounts;
use toolgate_core::ids::ProjectUid;
use toolgate_store::rows::{SeriesQuery, SeriesRow, Took, UsageDelta, UsageKind};

use crate::backend::Backend;
use crate::examples::project;

contract! {
    minutes_add_up_to_slots_and_hours,
    the_names_with_the_most_requests_have_series,
    durations_of_a_slot_add_up,
    old_points_go_by_their_step,
    entrances_have_series_and_no_totals,
}

/// The beginning of a day.
const DAY: i64 = 1_759_968_000;

fn minute(n: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(DAY + n * 60, 0).expect("a moment")
}

fn delta(project: ProjectUid, kind: UsageKind, name: &str, n: i64, calls: i64) -> UsageDelta {
    UsageDelta {
        project,
        kind,
        name: name.to_owned(),
        minute: minute(n),
        counts: UsageCounts {
            calls,
            denials: 1,
            failures: 0,
        },
        took: Took::default(),
        last_at: minute(n),
    }
}

async fn add(db: &Backend, mut deltas: Vec<UsageDelta>) {
    let (_, result) = db.store.add_usage(&mut deltas).await;
    result.expect("stored");
}

fn query(kind: UsageKind, slot_s: i64) -> SeriesQuery<'static> {
    SeriesQuery {
        kind,
        name: None,
        since: minute(0),
        until: minute(180),
        slot_s,
        limit: 20,
    }
}

async fn series(db: &Backend, uid: ProjectUid, query: SeriesQuery<'_>) -> Vec<SeriesRow> {
    db.store.usage_series(uid, &query).await.expect("series")
}

/// Minutes since the beginning, and calls.
fn calls(row: &SeriesRow) -> Vec<(i64, i64)> {
    let slots = row.slots.iter();
    slots
        .map(|slot| ((slot.at_s - DAY) / 60, slot.counts.calls))
        .collect()
}

async fn minutes_add_up_to_slots_and_hours(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let other = project(&db.store, "other").await;
    let tool = |n, calls| delta(uid, UsageKind::Tool, "search", n, calls);
    add(
        &db,
        vec![
            tool(0, 1),
            tool(4, 2),
            tool(5, 4),
            tool(61, 8),
            delta(other, UsageKind::Tool, "search", 1, 100),
            delta(uid, UsageKind::Group, "search", 1, 100),
        ],
    )
    .await;
    add(&db, vec![tool(5, 16), tool(180, 32)]).await;
    let of = |slot_s| series(&db, uid, query(UsageKind::Tool, slot_s));
    assert_eq!(calls(&of(60).await[0]), [(0, 1), (4, 2), (5, 20), (61, 8)]);
    assert_eq!(calls(&of(300).await[0]), [(0, 3), (5, 20), (60, 8)]);
    assert_eq!(calls(&of(3600).await[0]), [(0, 23), (60, 8)]);
    let rows = of(24 * 3600).await;
    assert_eq!(calls(&rows[0]), [(0, 31)]);
    assert_eq!(rows[0].slots[0].counts.denials, 5);
}

async fn the_names_with_the_most_requests_have_series(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let tool = |name, n, calls| delta(uid, UsageKind::Tool, name, n, calls);
    add(
        &db,
        vec![tool("few", 0, 1), tool("most", 0, 9), tool("more", 1, 5)],
    )
    .await;
    let names = |rows: Vec<SeriesRow>| rows.into_iter().map(|row| row.name).collect::<Vec<_>>();
    let all = query(UsageKind::Tool, 60);
    assert_eq!(names(series(&db, uid, all).await), ["most", "more", "few"]);
    let two = SeriesQuery { limit: 2, ..all };
    assert_eq!(names(series(&db, uid, two).await), ["most", "more"]);
    let one = SeriesQuery {
        name: Some("few"),
        ..two
    };
    assert_eq!(names(series(&db, uid, one).await), ["few"]);
}

async fn durations_of_a_slot_add_up(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let took = |n, spread: &[(usize, i64)]| UsageDelta {
        took: Took {
            spread: spread.to_vec(),
            ..Took::default()
        },
        ..delta(uid, UsageKind::Project, "", n, 1)
    };
    add(&db, vec![took(0, &[(3, 1), (7, 2)]), took(1, &[(3, 4)])]).await;
    add(&db, vec![took(1, &[(9, 1)])]).await;
    let of = async |slot_s| {
        let rows = series(&db, uid, query(UsageKind::Project, slot_s)).await;
        let slots = rows[0].slots.iter();
        slots.map(|slot| slot.spread.clone()).collect::<Vec<_>>()
    };
    assert_eq!(of(60).await, [vec![(3, 1), (7, 2)], vec![(3, 4), (9, 1)]]);
    assert_eq!(of(3600).await, [vec![(3, 5), (7, 2), (9, 1)]]);
}

async fn old_points_go_by_their_step(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let tool = |n| delta(uid, UsageKind::Tool, "search", n, 1);
    add(&db, vec![tool(0), tool(120)]).await;
    let prune = async |minutes, hours| {
        let (minutes, hours) = (TimeDelta::minutes(minutes), TimeDelta::minutes(hours));
        let pruned = db.store.prune_usage_series(minute(180), minutes, hours).await;
        pruned.expect("pruned");
    };
    prune(120, 240).await;
    let minutes = series(&db, uid, query(UsageKind::Tool, 60)).await;
    assert_eq!(calls(&minutes[0]), [(120, 1)]);
    let hours = series(&db, uid, query(UsageKind::Tool, 3600)).await;
    assert_eq!(calls(&hours[0]), [(0, 1), (120, 1)]);
    prune(120, 61).await;
    let hours = series(&db, uid, query(UsageKind::Tool, 3600)).await;
    assert_eq!(calls(&hours[0]), [(120, 1)]);
}

async fn entrances_have_series_and_no_totals(db: Backend) {
    let uid = project(&db.store, "demo").await;
    add(&db, vec![delta(uid, UsageKind::Entrance, "mcp", 0, 3)]).await;
    let rows = series(&db, uid, query(UsageKind::Entrance, 60)).await;
    assert_eq!((rows[0].name.as_str(), calls(&rows[0])), ("mcp", vec![(0, 3)]));
    let totals = db.store.usage_totals(minute(-1), 10).await.expect("totals");
    assert_eq!(totals, []);
}
