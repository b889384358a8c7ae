//! Results that are kept whole: read as they were given, until they expire or newer ones need their place.

use bytes::Bytes;
use toolgate_core::ids::ProjectUid;
use toolgate_core::principal::{PrincipalKind, PrincipalRef};
use toolgate_store::rows::{ArtifactLimits, ArtifactRow};
use uuid::Uuid;

use crate::backend::Backend;
use crate::examples::{at, new_uuid, project};

contract! {
    an_artifact_is_read_as_it_was_given_until_it_expires,
    the_oldest_of_a_project_go_for_the_newest,
    expired_ones_are_removed_in_steps,
    artifacts_go_with_their_project,
}

const PLENTY: ArtifactLimits = ArtifactLimits {
    bytes: 1 << 30,
    count: 1000,
};

fn artifact(project: ProjectUid, seconds: i64, content: &[u8]) -> ArtifactRow {
    ArtifactRow {
        project,
        id: new_uuid(),
        owner: PrincipalRef {
            kind: PrincipalKind::External,
            id: "https://issuer.example|größe".to_owned(),
        },
        created_at: at(seconds),
        expires_at: at(seconds + 100),
        content_type: "text/plain; charset=utf-8".to_owned(),
        content: Bytes::copy_from_slice(content),
    }
}

async fn put(db: &Backend, row: &ArtifactRow, limits: ArtifactLimits) -> Uuid {
    db.store.put_artifact(row, limits).await.expect("kept");
    row.id
}

/// Which of these are there.
async fn there(db: &Backend, uid: ProjectUid, ids: &[Uuid]) -> Vec<bool> {
    let mut found = Vec::new();
    for id in ids {
        let row = db.store.artifact(uid, *id, at(0)).await.expect("an answer");
        found.push(row.is_some());
    }
    found
}

async fn an_artifact_is_read_as_it_was_given_until_it_expires(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let other = project(&db.store, "other").await;
    let large: Vec<u8> = (0..=255).cycle().take(300_000).collect();
    for content in [&large[..], b""] {
        let row = artifact(uid, 10, content);
        put(&db, &row, PLENTY).await;
        let read = async |uid, seconds| {
            let read = db.store.artifact(uid, row.id, at(seconds)).await;
            read.expect("an answer")
        };
        assert_eq!(read(uid, 10).await.as_ref(), Some(&row));
        assert_eq!(read(uid, 109).await.as_ref(), Some(&row));
        assert_eq!(read(uid, 110).await, None, "it has expired");
        assert_eq!(read(other, 10).await, None, "it is another project's");
    }
}

async fn the_oldest_of_a_project_go_for_the_newest(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let other = project(&db.store, "other").await;
    let limits = |bytes, count| ArtifactLimits { bytes, count };
    let kept = put(&db, &artifact(other, 0, &[1; 50]), PLENTY).await;
    let mut ids = Vec::new();
    for seconds in [2, 1, 3] {
        ids.push(put(&db, &artifact(uid, seconds, &[1; 40]), limits(120, 10)).await);
    }
    assert_eq!(
        there(&db, uid, &ids).await,
        [true, true, true],
        "just as much as may be"
    );
    ids.push(put(&db, &artifact(uid, 4, &[1; 1]), limits(120, 10)).await);
    assert_eq!(
        there(&db, uid, &ids).await,
        [true, false, true, true],
        "the oldest by its time"
    );
    ids.push(put(&db, &artifact(uid, 5, &[]), limits(120, 2)).await);
    assert_eq!(
        there(&db, uid, &ids).await,
        [false, false, false, true, true],
        "by number"
    );
    ids.push(put(&db, &artifact(uid, 6, &[1; 120]), limits(120, 10)).await);
    assert_eq!(there(&db, uid, &ids).await[3..], [false, true, true]);
    assert_eq!(there(&db, other, &[kept]).await, [true]);
}

async fn expired_ones_are_removed_in_steps(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let mut ids = Vec::new();
    for seconds in 0..45 {
        ids.push(put(&db, &artifact(uid, seconds, b"x"), PLENTY).await);
    }
    assert_eq!(db.store.prune_artifacts(at(140)).await.expect("pruned"), 41);
    let left = there(&db, uid, &ids).await;
    assert_eq!(left.iter().filter(|there| **there).count(), 4);
    assert!(left[41..].iter().all(|there| *there));
    assert_eq!(db.store.prune_artifacts(at(140)).await.expect("pruned"), 0);
}

async fn artifacts_go_with_their_project(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let id = put(&db, &artifact(uid, 1, b"x"), PLENTY).await;
    assert!(db.store.delete_project(uid, at(20)).await.expect("deleted"));
    assert_eq!(there(&db, uid, &[id]).await, [false]);
}
