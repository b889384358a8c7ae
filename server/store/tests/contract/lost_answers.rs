//! A commit that the database made and whose answer never came back: the writer finds out what became of it.
//!
//! A connection to PostgreSQL can break at that very moment; a file of SQLite has no such moment.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use toolgate_api::audit::AuditOutcome;
use toolgate_core::ids::ProjectUid;
use toolgate_store::rows::{Opening, RecordFilter, RecordSeq};
use toolgate_store::{RecordWriter, Store, StoreError};
use uuid::Uuid;

use crate::backend::Backend;
use crate::examples::{at, completion, opening, project};

const INSTANCE: Uuid = Uuid::from_u128(1);

/// A proxy between a store and its database that withholds an answer on request.
struct Proxy {
    url: String,
    armed: Arc<AtomicBool>,
    kept_back: Arc<AtomicUsize>,
}

impl Proxy {
    async fn before(url: &str) -> Self {
        let (address, folder) = url
            .split_once("?host=")
            .expect("the folder of the server's socket");
        let name = address.rsplit('/').next().expect("a database");
        let socket = format!("{folder}/.s.PGSQL.5432");
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let proxy = Self {
            url: format!("postgres://toolgate@127.0.0.1:{port}/{name}?sslmode=disable"),
            armed: Arc::default(),
            kept_back: Arc::default(),
        };
        let (armed, kept_back) = (Arc::clone(&proxy.armed), Arc::clone(&proxy.kept_back));
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let server = UnixStream::connect(&socket).await.expect("the database");
                tokio::spawn(pass(client, server, Arc::clone(&armed), Arc::clone(&kept_back)));
            }
        });
        proxy
    }

    /// The next commit is made, and its answer is not delivered.
    fn lose_the_next_answer(&self) {
        self.armed.store(true, Ordering::SeqCst);
    }

    /// How many answers were kept back.
    fn lost(&self) -> usize {
        self.kept_back.load(Ordering::SeqCst)
    }
}

async fn pass(client: TcpStream, server: UnixStream, armed: Arc<AtomicBool>, kept_back: Arc<AtomicUsize>) {
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let asking = tokio::spawn(async move { tokio::io::copy(&mut from_client, &mut to_server).await });
    let mut answer = Vec::new();
    let mut part = vec![0; 16 * 1024];
    while let Ok(read @ 1..) = from_server.read(&mut part).await {
        answer.extend_from_slice(&part[..read]);
        // An answer ends with the message that the server is ready and in no transaction: what it was sent is
        // committed.
        let committed =
            answer.ends_with(b"Z\0\0\0\x05I") && (has(&answer, b"INSERT 0 ") || has(&answer, b"COMMIT\0"));
        if committed && armed.swap(false, Ordering::SeqCst) {
            kept_back.fetch_add(1, Ordering::SeqCst);
            break;
        }
        if to_client.write_all(&part[..read]).await.is_err() {
            break;
        }
        if answer.ends_with(b"Z\0\0\0\x05I") {
            answer.clear();
        }
    }
    asking.abort();
}

fn has(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|window| window == wanted)
}

fn is_unavailable<T: std::fmt::Debug>(answer: &Result<T, StoreError>) {
    assert!(
        matches!(answer, Err(StoreError::Unavailable { .. })),
        "{answer:?}"
    );
}

/// How many records have each outcome: open, succeeded, interrupted.
async fn outcomes(store: &Store, uid: ProjectUid) -> [usize; 3] {
    let records = store.records(uid, &RecordFilter::default(), None, 100).await;
    let records = records.expect("records");
    [
        AuditOutcome::Open,
        AuditOutcome::Succeeded,
        AuditOutcome::Interrupted,
    ]
    .map(|outcome| records.iter().filter(|record| record.outcome == outcome).count())
}

async fn open(writer: &RecordWriter, uid: ProjectUid) -> (Opening, RecordSeq) {
    let opening = opening(uid);
    let record = writer.open(opening.clone()).await.expect("opened");
    (opening, record)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_writer_goes_on_after_a_commit_whose_answer_was_lost() {
    let db = Backend::postgres().await;
    let uid = project(&db.store, "demo").await;
    let proxy = Proxy::before(&db.url).await;
    let store = Store::open(&proxy.url).await.expect("the store");
    let writer = store.records_writer(INSTANCE);
    writer.heartbeat(at(10)).await.expect("registered");
    open(&writer, uid).await;

    // The caller is answered that there is no record, so that nothing runs; but there is one.
    proxy.lose_the_next_answer();
    is_unavailable(&writer.open(opening(uid)).await);
    assert_eq!(proxy.lost(), 1);
    assert_eq!(outcomes(&db.store, uid).await, [2, 0, 0]);

    // The next one follows it, and can be completed.
    let (opened, record) = open(&writer, uid).await;
    assert_eq!(outcomes(&db.store, uid).await, [3, 0, 0]);
    proxy.lose_the_next_answer();
    is_unavailable(&writer.complete(completion(&opened, record)).await);
    assert_eq!(proxy.lost(), 2);
    assert_eq!(outcomes(&db.store, uid).await, [2, 1, 0]);
    // Sent again, it is done, and not twice.
    writer
        .complete(completion(&opened, record))
        .await
        .expect("it was completed");
    assert_eq!(outcomes(&db.store, uid).await, [2, 1, 0]);

    // The record that no caller will complete is closed, and no other.
    let closed = writer.close_abandoned(at(5), at(100)).await.expect("closed");
    assert_eq!(closed, 1);
    assert_eq!(outcomes(&db.store, uid).await, [1, 1, 1]);
    writer.shutdown(at(200)).await;
    let reports = db.store.verify_chains().await.expect("reports");
    assert!(reports.iter().all(|report| report.fault.is_none()), "{reports:?}");
    assert_eq!(reports.iter().map(|report| report.entries).sum::<u64>(), 5);
}
