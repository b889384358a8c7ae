//! Counts, and who has used which group.

use chrono::{DateTime, TimeDelta, Utc};
use toolgate_api::usage::{UsageCounts, UsageHour};
use toolgate_core::ids::ProjectUid;
use toolgate_store::rows::{GroupUseRow, Took, UsageDelta, UsageKind};

use crate::backend::Backend;
use crate::examples::{at, project};

contract! {
    counts_add_up_by_the_hour_and_in_total,
    names_come_in_the_order_of_their_requests,
    how_long_calls_took_adds_up_too,
    old_hours_go_and_totals_stay,
    what_belongs_to_a_deleted_project_goes,
    only_the_very_first_use_of_a_group_is_one,
    servers_that_count_at_the_same_time_lose_nothing,
}

const NONE: UsageCounts = UsageCounts {
    calls: 0,
    denials: 0,
    failures: 0,
};

fn counts(calls: i64, denials: i64, failures: i64) -> UsageCounts {
    UsageCounts {
        calls,
        denials,
        failures,
    }
}

fn hour(n: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(1_760_000_400 + n * 3600, 0).expect("a moment")
}

fn delta(project: ProjectUid, kind: UsageKind, name: &str, n: i64, counts: UsageCounts) -> UsageDelta {
    UsageDelta {
        project,
        kind,
        name: name.to_owned(),
        minute: hour(n),
        counts,
        took: Took::default(),
        last_at: hour(n) + TimeDelta::seconds(counts.calls),
    }
}

async fn add(db: &Backend, mut deltas: Vec<UsageDelta>) {
    let all = deltas.len();
    let (stored, result) = db.store.add_usage(&mut deltas).await;
    result.expect("stored");
    assert_eq!(stored, all);
}

async fn counts_add_up_by_the_hour_and_in_total(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let tool = |n, counts| delta(uid, UsageKind::Tool, "search", n, counts);
    add(&db, vec![tool(1, counts(5, 1, 2)), tool(0, counts(3, 0, 0))]).await;
    add(&db, vec![tool(1, counts(1, 1, 1))]).await;

    let hours = |since| {
        let store = db.store.clone();
        async move {
            store
                .usage_by_hour(uid, UsageKind::Tool, "search", since)
                .await
                .expect("hours")
        }
    };
    let of = |n, counts| UsageHour { at: hour(n), counts };
    assert_eq!(
        hours(hour(0)).await,
        [of(0, counts(3, 0, 0)), of(1, counts(6, 2, 3))]
    );
    assert_eq!(hours(hour(1)).await, [of(1, counts(6, 2, 3))]);

    let totals = db.store.usage_totals(at(-86_400), 10).await.expect("totals");
    assert_eq!(totals.len(), 1);
    assert_eq!(totals[0].counts, counts(9, 2, 3));
    assert_eq!(totals[0].kind, UsageKind::Tool);
    assert_eq!(
        totals[0].last_at,
        hour(1) + TimeDelta::seconds(5),
        "an earlier time does not replace a later one"
    );
    let none = db
        .store
        .usage_totals(hour(1) + TimeDelta::seconds(6), 10)
        .await
        .expect("totals");
    assert_eq!(none, []);
}

async fn how_long_calls_took_adds_up_too(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let took = |name, n, (ended, total_ms, slowest_ms)| UsageDelta {
        took: Took {
            ended,
            total_ms,
            slowest_ms,
            spread: Vec::new(),
        },
        ..delta(uid, UsageKind::Tool, name, n, counts(1, 0, 0))
    };
    add(
        &db,
        vec![took("a", 0, (1, 5_000, 5_000)), took("a", 1, (2, 60, 50))],
    )
    .await;
    add(&db, vec![took("a", 1, (1, 30, 30)), took("b", 1, (0, 0, 0))]).await;
    let of = async |since| {
        let items = db
            .store
            .usage_by_name(uid, UsageKind::Tool, since, 10)
            .await
            .expect("names");
        items
            .into_iter()
            .map(|item| (item.name, item.mean_ms, item.slowest_ms))
            .collect::<Vec<_>>()
    };
    let (a, b) = ("a".to_owned(), "b".to_owned());
    assert_eq!(
        of(hour(1)).await,
        [(a.clone(), Some(30), Some(50)), (b.clone(), None, None)]
    );
    assert_eq!(
        of(hour(0)).await,
        [(a, Some(1_272), Some(5_000)), (b, None, None)]
    );
}

async fn names_come_in_the_order_of_their_requests(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let other = project(&db.store, "other").await;
    let group = |name, n, counts| delta(uid, UsageKind::Group, name, n, counts);
    add(
        &db,
        vec![
            group("b", 1, counts(4, 0, 0)),
            group("a", 1, counts(2, 2, 0)),
            group("c", 0, counts(1, 0, 0)),
            group("c", 1, counts(1, 4, 0)),
            group("old", 0, counts(100, 0, 0)),
            delta(other, UsageKind::Group, "foreign", 1, counts(9, 9, 9)),
            delta(uid, UsageKind::Tool, "a tool", 1, counts(9, 9, 9)),
        ],
    )
    .await;
    let names = db
        .store
        .usage_by_name(uid, UsageKind::Group, hour(1), 10)
        .await
        .expect("names");
    let shown: Vec<_> = names
        .iter()
        .map(|item| (item.name.as_str(), item.counts))
        .collect();
    assert_eq!(
        shown,
        [
            ("c", counts(1, 4, 0)),
            ("a", counts(2, 2, 0)),
            ("b", counts(4, 0, 0))
        ]
    );
    let first = db
        .store
        .usage_by_name(uid, UsageKind::Group, hour(0), 1)
        .await
        .expect("names");
    assert_eq!(first.len(), 1);
    assert_eq!(first[0].name, "old");
}

async fn old_hours_go_and_totals_stay(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let all = |n| delta(uid, UsageKind::Project, "", n, counts(1, 0, 0));
    add(&db, vec![all(0), all(1), all(2)]).await;
    db.store.prune_usage(hour(1)).await.expect("pruned");
    let hours = db
        .store
        .usage_by_hour(uid, UsageKind::Project, "", hour(0))
        .await
        .expect("hours");
    assert_eq!(
        hours.iter().map(|hour| hour.at).collect::<Vec<_>>(),
        [hour(1), hour(2)]
    );
    let totals = db.store.usage_totals(at(-86_400), 10).await.expect("totals");
    assert_eq!(totals[0].counts, counts(3, 0, 0));
}

async fn what_belongs_to_a_deleted_project_goes(db: Backend) {
    let uid = project(&db.store, "demo").await;
    add(&db, vec![delta(uid, UsageKind::Tool, "t", 0, counts(1, 0, 0))]).await;
    let mut uses = [use_of(uid, "p", "g", 0)];
    db.store.add_group_uses(&mut uses).await.expect("stored");
    db.store.delete_project(uid, at(50)).await.expect("deleted");
    assert_eq!(db.store.usage_totals(at(-86_400), 10).await.expect("totals"), []);
    assert_eq!(db.store.group_uses(at(-86_400), 10).await.expect("uses"), []);
    db.store.prune_usage(hour(0)).await.expect("pruned");
    let mut side = db.side().await;
    assert_eq!(side.number("SELECT COUNT(*) FROM usage_totals").await, 0);
    assert_eq!(side.number("SELECT COUNT(*) FROM group_uses").await, 0);
}

fn use_of(project: ProjectUid, principal: &str, group: &str, seconds: i64) -> GroupUseRow {
    GroupUseRow {
        project,
        principal: principal.to_owned(),
        group: group.to_owned(),
        first_at: at(seconds),
        last_at: at(seconds),
    }
}

async fn only_the_very_first_use_of_a_group_is_one(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let other = project(&db.store, "other").await;
    let add = async |uses: &[GroupUseRow]| {
        let mut uses = uses.to_vec();
        db.store.add_group_uses(&mut uses).await.expect("stored")
    };
    let first = use_of(uid, "service_key:1", "knowledge", 10);
    assert_eq!(
        add(std::slice::from_ref(&first)).await,
        std::slice::from_ref(&first)
    );
    let again = use_of(uid, "service_key:1", "knowledge", 20);
    let others = [
        use_of(uid, "service_key:1", "Knowledge", 21),
        use_of(uid, "service_key:2", "knowledge", 22),
        use_of(other, "service_key:1", "knowledge", 23),
    ];
    let found = add(&[again, others[0].clone(), others[1].clone(), others[2].clone()]).await;
    assert_eq!(found.len(), 3);
    assert!(others.iter().all(|row| found.contains(row)), "{found:?}");

    let uses = db.store.group_uses(at(-100), 10).await.expect("uses");
    assert_eq!(uses.len(), 4);
    let kept = uses
        .iter()
        .find(|row| {
            (row.principal.as_str(), row.group.as_str()) == ("service_key:1", "knowledge")
                && row.project == uid
        })
        .expect("the first");
    assert_eq!((kept.first_at, kept.last_at), (at(10), at(20)));
    let late = db.store.group_uses(at(22), 10).await.expect("uses");
    assert_eq!(late.len(), 2);
    let of_other = db.store.group_uses_of(other).await.expect("uses");
    assert_eq!(of_other, [others[2].clone()]);
    assert_eq!(db.store.group_uses_of(uid).await.expect("uses").len(), 3);
}

async fn servers_that_count_at_the_same_time_lose_nothing(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let tasks: Vec<_> = (0..8)
        .map(|n: usize| {
            let store = db.store.clone();
            tokio::spawn(async move {
                // Each begins elsewhere, as the order of a hash map would have it.
                let mut deltas: Vec<_> = (0..300)
                    .map(|tool| {
                        delta(
                            uid,
                            UsageKind::Tool,
                            &format!("t{}", (tool + n * 37) % 300),
                            0,
                            counts(1, 1, 1),
                        )
                    })
                    .collect();
                let (stored, result) = store.add_usage(&mut deltas).await;
                result.expect("stored");
                stored
            })
        })
        .collect();
    for task in tasks {
        assert_eq!(task.await.expect("no panic"), 300);
    }
    let names = db
        .store
        .usage_by_name(uid, UsageKind::Tool, hour(0), 1000)
        .await
        .expect("names");
    assert_eq!(names.len(), 300);
    let sum = names.iter().fold(NONE, |sum, item| {
        counts(
            sum.calls + item.counts.calls,
            sum.denials + item.counts.denials,
            sum.failures + item.counts.failures,
        )
    });
    assert_eq!(sum, counts(2400, 2400, 2400));
}
