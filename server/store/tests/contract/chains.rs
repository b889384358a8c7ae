//! The chains of records: whatever is changed or removed afterwards is noticed, and the first wrong entry named.

use toolgate_core::ids::ProjectUid;
use toolgate_store::rows::RecordFilter;
use toolgate_store::{ChainFaultKind, ChainReport, RecordWriter, Store, Verification};
use uuid::Uuid;

use crate::backend::{Backend, Side};
use crate::examples::{at, completion, opening, project};

contract! {
    untouched_chains_are_whole,
    chains_continue_where_they_stopped,
    every_single_change_is_found_and_named,
    every_missing_entry_is_found_and_named,
    swapped_entries_are_found,
    a_tail_that_was_cut_off_is_noticed,
    a_chain_that_was_removed_is_noticed,
    what_dead_servers_wrote_last_is_guarded_too,
    old_records_can_go_and_the_rest_is_still_verified,
    what_still_runs_is_kept,
    a_verification_by_parts_goes_on_with_what_is_added,
}

const ONE: Uuid = Uuid::from_u128(1);
const TWO: Uuid = Uuid::from_u128(2);

/// A chain of 40 entries: 20 calls, two of them at a time.
async fn calls(writer: &RecordWriter, uid: ProjectUid, seconds: i64) {
    for _ in 0..10 {
        let (mut first, mut second) = (opening(uid), opening(uid));
        first.record.at = at(seconds);
        second.record.at = at(seconds);
        let first_record = writer.open(first.clone()).await.expect("opened");
        let second_record = writer.open(second.clone()).await.expect("opened");
        for completion in [
            completion(&second, second_record),
            completion(&first, first_record),
        ] {
            writer.complete(completion).await.expect("completed");
        }
    }
}

/// Two chains of 40 entries each, both with their heads stored.
async fn two_chains(db: &Backend) -> ProjectUid {
    let uid = project(&db.store, "demo").await;
    for instance in [ONE, TWO] {
        let writer = db.store.records_writer(instance);
        writer.heartbeat(at(0)).await.expect("registered");
        calls(&writer, uid, 20).await;
        writer.heartbeat(at(30)).await.expect("alive");
    }
    uid
}

async fn verify(store: &Store) -> Vec<ChainReport> {
    store.verify_chains().await.expect("reports")
}

/// The only fault there is: chain, position, kind.
async fn fault(store: &Store) -> Option<(i64, i64, ChainFaultKind)> {
    let reports = verify(store).await;
    let mut faults = reports.iter().filter_map(|report| {
        let fault = report.fault.as_ref()?;
        Some((report.chain, fault.position, fault.why))
    });
    let first = faults.next();
    assert_eq!(faults.next(), None, "one fault was made");
    let by_parts = part_by_part(store, &mut Verification::default(), 7).await;
    assert_eq!(by_parts, first, "found by parts too");
    first
}

/// The fault that a verification finds which looks at a few entries at a time.
async fn part_by_part(
    store: &Store,
    verification: &mut Verification,
    most: u32,
) -> Option<(i64, i64, ChainFaultKind)> {
    while !store.verify_some(verification, most).await.expect("a part") {}
    let found = verification.fault()?;
    Some((found.chain, found.fault.position, found.fault.why))
}

/// The `seq` of a position.
fn seq(chain: i64, position: i64) -> i64 {
    (chain << 40) + position
}

/// The positions of a chain's records, and those of its completions.
async fn positions(side: &mut Side, chain: i64) -> (Vec<i64>, Vec<i64>) {
    let mut found = (Vec::new(), Vec::new());
    for position in 1..=40 {
        let at = seq(chain, position);
        let records = side
            .number_owned(format!("SELECT COUNT(*) FROM records WHERE seq = {at}"))
            .await;
        if records == 1 {
            found.0.push(position);
        } else {
            found.1.push(position);
        }
    }
    assert_eq!(found.0.len(), found.1.len());
    found
}

async fn untouched_chains_are_whole(db: Backend) {
    assert_eq!(verify(&db.store).await, []);
    two_chains(&db).await;
    let reports = verify(&db.store).await;
    let told: Vec<_> = reports
        .iter()
        .map(|report| {
            (
                report.chain,
                report.instance,
                report.entries,
                report.fault.is_none(),
            )
        })
        .collect();
    assert_eq!(told, [(1, Some(ONE), 40, true), (2, Some(TWO), 40, true)]);
}

async fn chains_continue_where_they_stopped(db: Backend) {
    let uid = project(&db.store, "demo").await;
    for seconds in [20, 21, 22] {
        // Each time a new writer, which finds out from the database the position of its chain.
        let writer = db.store.records_writer(ONE);
        calls(&writer, uid, seconds).await;
        writer.heartbeat(at(seconds)).await.expect("alive");
    }
    let writer = db.store.records_writer(ONE);
    calls(&writer, uid, 23).await;
    writer.shutdown(at(24)).await;
    let reports = verify(&db.store).await;
    assert_eq!(reports.len(), 1);
    assert_eq!((reports[0].entries, &reports[0].fault), (160, &None));
}

async fn every_single_change_is_found_and_named(db: Backend) {
    let uid = two_chains(&db).await;
    let mut side = db.side().await;
    let (records, completions) = positions(&mut side, 1).await;
    let other_id = if db.is_sqlite() {
        "x'00112233445566778899aabbccddeeff'"
    } else {
        "'00112233-4455-6677-8899-aabbccddeeff'"
    };
    let no_hash = if db.is_sqlite() {
        "zeroblob(32)"
    } else {
        "decode(repeat('00', 32), 'hex')"
    };
    let truth = if db.is_sqlite() { "1" } else { "TRUE" };
    let of_records = [
        ("project_uid", other_id),
        ("id", other_id),
        ("at", "at + 1"),
        ("action", "'resolve'"),
        ("outcome", "'denied'"),
        ("code", "'timeout'"),
        ("principal_kind", "'user'"),
        ("principal_id", "'agent-2'"),
        ("tool", "NULL"),
        ("revision", "revision + 1"),
        ("snapshot_version", "5"),
        ("state_before", "''"),
        ("session_id", other_id),
        ("duration_ms", "0"),
        ("detail", "detail || ' '"),
        ("hash", no_hash),
    ];
    let of_completions = [
        ("outcome", "'failed'"),
        ("code", "'timeout'"),
        ("state_after", "'Done'"),
        ("state_conflict", truth),
        ("duration_ms", "NULL"),
        ("closed_at", "1"),
        ("usage", "NULL"),
        ("notes", "'{}'"),
        ("hash", no_hash),
    ];
    let told = db
        .store
        .records(uid, &RecordFilter::default(), None, 1000)
        .await
        .expect("records");
    let changes = of_records
        .iter()
        .map(|change| ("records", &records, change))
        .chain(
            of_completions
                .iter()
                .map(|change| ("completions", &completions, change)),
        );
    for (index, (table, places, (column, value))) in changes.enumerate() {
        // First, last, and in between.
        for position in [places[0], places[places.len() - 1], places[index % places.len()]] {
            let at = seq(1, position);
            side.run_owned(format!(
                "CREATE TABLE kept AS SELECT {column} AS v FROM {table} WHERE seq = {at}"
            ))
            .await;
            side.run_owned(format!("UPDATE {table} SET {column} = {value} WHERE seq = {at}"))
                .await;
            let reports = verify(&db.store).await;
            let fault = reports[0].fault.as_ref().expect("a fault");
            assert_eq!(
                (fault.position, fault.why),
                (position, ChainFaultKind::Changed),
                "{table}.{column}"
            );
            if *column != "id" {
                assert!(
                    told.iter().any(|record| Some(record.id) == fault.call_id),
                    "{table}.{column}: the call is named"
                );
            }
            assert_eq!(reports[0].entries, u64::try_from(position - 1).expect("a count"));
            assert_eq!(reports[1].fault, None, "the other chain is whole");
            side.run_owned(format!(
                "UPDATE {table} SET {column} = (SELECT v FROM kept) WHERE seq = {at}"
            ))
            .await;
            side.run("DROP TABLE kept").await;
        }
    }
    assert_eq!(fault(&db.store).await, None, "everything is as it was");
}

async fn every_missing_entry_is_found_and_named(db: Backend) {
    two_chains(&db).await;
    let mut side = db.side().await;
    let (records, completions) = positions(&mut side, 2).await;
    for (table, places) in [("records", records), ("completions", completions)] {
        for position in places {
            let at = seq(2, position);
            side.run_owned(format!(
                "CREATE TABLE kept AS SELECT * FROM {table} WHERE seq = {at}"
            ))
            .await;
            side.run_owned(format!("DELETE FROM {table} WHERE seq = {at}"))
                .await;
            assert_eq!(
                fault(&db.store).await,
                Some((2, position, ChainFaultKind::Missing))
            );
            side.run_owned(format!("INSERT INTO {table} SELECT * FROM kept"))
                .await;
            side.run("DROP TABLE kept").await;
        }
    }
    assert_eq!(fault(&db.store).await, None, "everything is as it was");
}

async fn swapped_entries_are_found(db: Backend) {
    two_chains(&db).await;
    let mut side = db.side().await;
    let (records, _) = positions(&mut side, 1).await;
    for pair in records.windows(2) {
        let (first, second) = (seq(1, pair[0]), seq(1, pair[1]));
        let swap = format!(
            "UPDATE records SET seq = -1 WHERE seq = {first};
             UPDATE records SET seq = {first} WHERE seq = {second};
             UPDATE records SET seq = {second} WHERE seq = -1;"
        );
        side.run_owned(swap.clone()).await;
        assert_eq!(
            fault(&db.store).await,
            Some((1, pair[0], ChainFaultKind::Changed))
        );
        side.run_owned(swap).await;
    }
    assert_eq!(fault(&db.store).await, None, "everything is as it was");
}

async fn a_tail_that_was_cut_off_is_noticed(db: Backend) {
    two_chains(&db).await;
    let mut side = db.side().await;
    for kept in [39, 38, 30, 7, 1, 0] {
        side.run_owned(format!(
            "DELETE FROM records WHERE seq > {kept} + {chain} AND seq < {next};
             DELETE FROM completions WHERE seq > {kept} + {chain} AND seq < {next};",
            chain = seq(1, 0),
            next = seq(2, 0),
        ))
        .await;
        assert_eq!(
            fault(&db.store).await,
            Some((1, kept + 1, ChainFaultKind::Missing)),
            "{kept} are left"
        );
    }
}

async fn a_chain_that_was_removed_is_noticed(db: Backend) {
    two_chains(&db).await;
    let mut side = db.side().await;
    side.run("DELETE FROM chains WHERE number = 1").await;
    assert_eq!(
        fault(&db.store).await,
        Some((1, 1, ChainFaultKind::Missing)),
        "its entries stand alone"
    );
    side.run_owned(format!("DELETE FROM records WHERE seq < {}", seq(2, 0)))
        .await;
    side.run_owned(format!("DELETE FROM completions WHERE seq < {}", seq(2, 0)))
        .await;
    assert_eq!(
        fault(&db.store).await,
        Some((1, 1, ChainFaultKind::Missing)),
        "the numbers have a gap"
    );
}

async fn what_dead_servers_wrote_last_is_guarded_too(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let dead = db.store.records_writer(ONE);
    dead.heartbeat(at(0)).await.expect("registered");
    calls(&dead, uid, 20).await;
    dead.open(opening(uid)).await.expect("opened");
    dead.open(opening(uid)).await.expect("opened");
    drop(dead);

    let mine = db.store.records_writer(TWO);
    mine.heartbeat(at(100)).await.expect("registered");
    assert_eq!(mine.close_abandoned(at(50), at(100)).await.expect("closed"), 2);
    mine.heartbeat(at(101)).await.expect("alive");
    let entries: Vec<_> = verify(&db.store)
        .await
        .into_iter()
        .map(|report| (report.entries, report.fault))
        .collect();
    assert_eq!(entries, [(42, None), (2, None)]);

    let mut side = db.side().await;
    side.run_owned(format!("DELETE FROM completions WHERE seq = {}", seq(2, 2)))
        .await;
    side.run_owned(format!("DELETE FROM records WHERE seq = {}", seq(1, 42)))
        .await;
    let faults: Vec<_> = verify(&db.store)
        .await
        .into_iter()
        .map(|report| report.fault.map(|fault| (fault.position, fault.why)))
        .collect();
    let missing = |position| Some((position, ChainFaultKind::Missing));
    assert_eq!(faults, [missing(42), missing(2)]);
}

async fn old_records_can_go_and_the_rest_is_still_verified(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let writer = db.store.records_writer(ONE);
    for seconds in [10, 20, 30] {
        calls(&writer, uid, seconds).await;
    }
    assert_eq!(
        db.store.prune_records(at(25)).await.expect("pruned"),
        0,
        "what is not known to be settled stays"
    );
    writer.heartbeat(at(40)).await.expect("alive");
    for (before, removed, left) in [
        (at(10), 0, 60),
        (at(20), 40, 40),
        (at(20), 0, 40),
        (at(25), 40, 20),
    ] {
        assert_eq!(db.store.prune_records(before).await.expect("pruned"), removed);
        assert_eq!(fault(&db.store).await, None);
        let records = db
            .store
            .records(uid, &RecordFilter::default(), None, 1000)
            .await
            .expect("records");
        assert_eq!(records.len(), left);
    }
    calls(&writer, uid, 50).await;
    writer.heartbeat(at(50)).await.expect("alive");
    let reports = verify(&db.store).await;
    assert_eq!((reports[0].first_position, reports[0].entries), (81, 80));
    assert_eq!(reports[0].fault, None);

    let mut side = db.side().await;
    side.run_owned(format!("DELETE FROM records WHERE seq = {}", seq(1, 81)))
        .await;
    assert_eq!(fault(&db.store).await, Some((1, 81, ChainFaultKind::Missing)));
    let refused = db.store.prune_records(at(100)).await;
    assert_eq!(refused.map_err(drop).unwrap_or(80), 80, "the rest may go");
}

async fn what_still_runs_is_kept(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let writer = db.store.records_writer(ONE);
    calls(&writer, uid, 10).await;
    let running = opening(uid);
    let record = writer.open(running.clone()).await.expect("opened");
    calls(&writer, uid, 10).await;
    writer.heartbeat(at(1000)).await.expect("alive");
    assert_eq!(
        db.store.prune_records(at(1000)).await.expect("pruned"),
        40,
        "up to the call that runs"
    );
    writer
        .complete(completion(&running, record))
        .await
        .expect("completed");
    writer.heartbeat(at(1001)).await.expect("alive");
    assert_eq!(db.store.prune_records(at(1001)).await.expect("pruned"), 42);
    let reports = verify(&db.store).await;
    assert_eq!((reports[0].first_position, &reports[0].fault), (83, &None));
    calls(&writer, uid, 1002).await;
    assert_eq!(fault(&db.store).await, None);
}

async fn a_verification_by_parts_goes_on_with_what_is_added(db: Backend) {
    let uid = two_chains(&db).await;
    let mut verification = Verification::default();
    assert!(!db.store.verify_some(&mut verification, 10).await.expect("a part"));
    assert_eq!(verification.entries(), 10, "no more than it may");
    assert_eq!(part_by_part(&db.store, &mut verification, 10).await, None);
    assert_eq!(verification.entries(), 80);

    // A call that runs while the verification passes it, and what comes after it, in both chains.
    let writers = [ONE, TWO].map(|instance| db.store.records_writer(instance));
    let slow = opening(uid);
    let record = writers[0].open(slow.clone()).await.expect("opened");
    for writer in &writers {
        calls(writer, uid, 40).await;
    }
    assert_eq!(part_by_part(&db.store, &mut verification, 9).await, None);
    assert_eq!(verification.entries(), 161);
    writers[0]
        .complete(completion(&slow, record))
        .await
        .expect("completed");
    assert_eq!(part_by_part(&db.store, &mut verification, 9).await, None);
    assert_eq!(verification.entries(), 162);

    // Records that expire are no fault, wherever the verification is.
    let mut behind = Verification::default();
    assert!(!db.store.verify_some(&mut behind, 5).await.expect("a part"));
    for writer in &writers {
        writer.heartbeat(at(41)).await.expect("alive");
    }
    assert!(db.store.prune_records(at(30)).await.expect("removed") > 0);
    assert_eq!(part_by_part(&db.store, &mut behind, 9).await, None);
    assert_eq!(part_by_part(&db.store, &mut verification, 9).await, None);
    assert_eq!(
        part_by_part(&db.store, &mut Verification::default(), 9).await,
        None
    );

    // An entry that is added and changed before its turn.
    calls(&writers[1], uid, 50).await;
    db.side()
        .await
        .run_owned(format!(
            "UPDATE records SET detail = '{{}}' WHERE seq = (SELECT MAX(seq) FROM records WHERE seq < {})",
            seq(3, 0)
        ))
        .await;
    let found = part_by_part(&db.store, &mut verification, 9).await;
    assert!(
        matches!(found, Some((2, _, ChainFaultKind::Changed))),
        "{found:?}"
    );
    let fault = verification.fault().expect("a fault");
    assert_eq!(fault.project, Some(uid));
    assert!(fault.fault.call_id.is_some());
}
