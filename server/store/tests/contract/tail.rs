//! Following the record: nothing is missed, nothing comes twice, from wherever one goes on.

use toolgate_api::audit::AuditOutcome;
use toolgate_core::ids::ProjectUid;
use toolgate_store::rows::{ChainPlace, Opening, RecordSeq};
use toolgate_store::{ChainEntry, ChainReader, RecordWriter, Store};
use uuid::Uuid;

use crate::backend::Backend;
use crate::examples::{at, completion, opening, project};

contract! {
    entries_come_in_order_and_from_anywhere,
    an_opening_does_not_know_its_end,
    a_call_that_ends_late_is_not_missed,
    long_chains_come_in_steps,
    calls_that_another_server_closed_come_from_its_chain,
    readers_begin_at_the_end,
}

const INSTANCE: Uuid = Uuid::from_u128(1);

/// What an entry says, in short.
type Told = (Uuid, AuditOutcome);

fn told(entries: &[ChainEntry]) -> Vec<Told> {
    entries
        .iter()
        .map(|entry| (entry.record.id, entry.record.outcome))
        .collect()
}

async fn rest(store: &Store, reader: &mut ChainReader) -> Vec<ChainEntry> {
    let mut entries = Vec::new();
    loop {
        let step = store.read_chain(reader, None).await.expect("a step");
        entries.extend(step.entries);
        if !step.more {
            return entries;
        }
    }
}

async fn open(writer: &RecordWriter, uid: ProjectUid) -> (Opening, RecordSeq) {
    let opening = opening(uid);
    let seq = writer.open(opening.clone()).await.expect("opened");
    (opening, seq)
}

async fn end(writer: &RecordWriter, (opening, seq): &(Opening, RecordSeq)) {
    writer
        .complete(completion(opening, *seq))
        .await
        .expect("completed");
}

async fn only_chain(store: &Store) -> i64 {
    let chains = store.chains(at(0)).await.expect("chains");
    assert_eq!(chains.len(), 1);
    assert!(chains[0].living);
    chains[0].number
}

async fn entries_come_in_order_and_from_anywhere(db: Backend) {
    let store = &db.store;
    let (uid, other) = (project(store, "demo").await, project(store, "other").await);
    let writer = store.records_writer(INSTANCE);
    // Calls of two projects, of which some end at once, some later and some not at all.
    let mut running = Vec::new();
    for number in 0..24 {
        let call = open(&writer, if number % 3 == 0 { other } else { uid }).await;
        match number % 4 {
            0 => end(&writer, &call).await,
            1 | 2 => running.push(call),
            _ => {}
        }
        if number % 5 == 4 && !running.is_empty() {
            end(&writer, &running.remove(0)).await;
        }
    }
    let chain = only_chain(store).await;
    for project in [None, Some(uid), Some(other)] {
        let whole = rest(store, &mut ChainReader::from_start(chain, project)).await;
        assert!(
            whole
                .windows(2)
                .all(|pair| pair[0].place.position < pair[1].place.position)
        );
        if project.is_none() {
            let positions: Vec<i64> = whole.iter().map(|entry| entry.place.position).collect();
            assert_eq!(positions, (1..=whole.len() as i64).collect::<Vec<_>>());
        } else {
            assert!(whole.iter().all(|entry| Some(entry.project) == project));
        }
        for (number, entry) in whole.iter().enumerate() {
            let place = entry.place;
            assert!(place.settled <= place.position);
            let mut reader = store.chain_reader(place, project).await.expect("a reader");
            assert_eq!(reader.place(), place);
            assert_eq!(
                told(&rest(store, &mut reader).await),
                told(&whole[number + 1..]),
                "from {place:?}"
            );
        }
    }
    // Nothing new, nothing sent; what is new is sent to an existing reader.
    let mut reader = ChainReader::from_start(chain, Some(uid));
    rest(store, &mut reader).await;
    assert!(rest(store, &mut reader).await.is_empty());
    let late = running.pop().expect("a running call");
    end(&writer, &late).await;
    let expected = if late.0.project == uid { 1 } else { 0 };
    assert_eq!(rest(store, &mut reader).await.len(), expected);
}

async fn an_opening_does_not_know_its_end(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let writer = db.store.records_writer(INSTANCE);
    let call = open(&writer, uid).await;
    end(&writer, &call).await;
    let chain = only_chain(&db.store).await;
    let entries = rest(&db.store, &mut ChainReader::from_start(chain, None)).await;
    assert_eq!(*entries[0].record, *call.0.record);
    let ended = &entries[1].record;
    assert_eq!(ended.id, call.0.record.id);
    assert_eq!(ended.outcome, AuditOutcome::Succeeded);
    assert_eq!(ended.state_after.as_deref(), Some("done"));
    assert_eq!(ended.arguments, call.0.record.arguments);
}

async fn a_call_that_ends_late_is_not_missed(db: Backend) {
    let store = &db.store;
    let uid = project(store, "demo").await;
    let writer = store.records_writer(INSTANCE);
    let late = [open(&writer, uid).await, open(&writer, uid).await];
    let chain = only_chain(store).await;
    let mut reader = ChainReader::from_start(chain, None);
    rest(store, &mut reader).await;
    for _ in 0..150 {
        let call = open(&writer, uid).await;
        end(&writer, &call).await;
    }
    assert_eq!(rest(store, &mut reader).await.len(), 300);
    let place = reader.place();
    assert_eq!(place.settled, 0, "the first call is still open");
    end(&writer, &late[0]).await;
    let expected = vec![(late[0].0.record.id, AuditOutcome::Succeeded)];
    assert_eq!(told(&rest(store, &mut reader).await), expected);
    let mut again = store.chain_reader(place, Some(uid)).await.expect("a reader");
    assert_eq!(told(&rest(store, &mut again).await), expected);
    assert_eq!(reader.place().settled, 1, "the second is still open");
}

async fn long_chains_come_in_steps(db: Backend) {
    let store = &db.store;
    let uid = project(store, "demo").await;
    let writer = store.records_writer(INSTANCE);
    let calls = futures_of(&writer, uid, 700).await;
    let chain = only_chain(store).await;
    let mut reader = ChainReader::from_start(chain, None);
    let first = store.read_chain(&mut reader, None).await.expect("a step");
    assert!(first.more && first.entries.len() < 1400);
    let more = rest(store, &mut reader).await;
    assert_eq!(first.entries.len() + more.len(), 1400);
    // Up to a bound, and not beyond.
    let mut reader = ChainReader::from_start(chain, Some(uid));
    let mut entries = Vec::new();
    loop {
        let step = store.read_chain(&mut reader, Some(1234)).await.expect("a step");
        entries.extend(step.entries);
        if !step.more {
            break;
        }
    }
    assert_eq!((entries.len(), reader.place().position), (1234, 1234));
    drop(calls);
}

/// Opens and ends many calls at once, so that they share commits.
async fn futures_of(writer: &RecordWriter, uid: ProjectUid, count: usize) -> Vec<Uuid> {
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..count {
        let writer = writer.clone();
        tasks.spawn(async move {
            let call = open(&writer, uid).await;
            end(&writer, &call).await;
            call.0.record.id
        });
    }
    tasks.join_all().await
}

async fn calls_that_another_server_closed_come_from_its_chain(db: Backend) {
    let store = &db.store;
    let uid = project(store, "demo").await;
    let dead = store.records_writer(INSTANCE);
    dead.heartbeat(at(0)).await.expect("alive");
    let abandoned = open(&dead, uid).await;
    let mine = store.records_writer(Uuid::from_u128(2));
    mine.heartbeat(at(100)).await.expect("alive");
    let running = open(&mine, uid).await;
    assert_eq!(mine.close_abandoned(at(50), at(100)).await.expect("closed"), 1);
    end(&mine, &running).await;
    let chains = store.chains(at(99)).await.expect("chains");
    assert_eq!(
        chains.iter().map(|chain| chain.living).collect::<Vec<_>>(),
        [false, true]
    );
    assert_eq!(store.chains(at(101)).await.expect("chains").len(), 1);
    let mut of_dead = ChainReader::from_start(chains[0].number, Some(uid));
    let id = abandoned.0.record.id;
    assert_eq!(told(&rest(store, &mut of_dead).await), [(id, AuditOutcome::Open)]);
    let mut of_mine = ChainReader::from_start(chains[1].number, Some(uid));
    let entries = told(&rest(store, &mut of_mine).await);
    assert_eq!(
        entries,
        [
            (running.0.record.id, AuditOutcome::Open),
            (id, AuditOutcome::Interrupted),
            (running.0.record.id, AuditOutcome::Succeeded),
        ]
    );
}

async fn readers_begin_at_the_end(db: Backend) {
    let store = &db.store;
    let uid = project(store, "demo").await;
    let writer = store.records_writer(INSTANCE);
    let running = open(&writer, uid).await;
    let call = open(&writer, uid).await;
    end(&writer, &call).await;
    let chain = only_chain(store).await;
    let mut reader = store.chain_end(chain).await.expect("a reader").expect("a chain");
    assert_eq!(
        reader.place(),
        ChainPlace {
            chain,
            position: 3,
            settled: 0,
        }
    );
    assert!(rest(store, &mut reader).await.is_empty());
    end(&writer, &running).await;
    assert_eq!(
        told(&rest(store, &mut reader).await),
        [(running.0.record.id, AuditOutcome::Succeeded)]
    );
    assert!(store.chain_end(chain + 1).await.expect("no reader").is_none());
}
