//! Connections of users' clients, their codes and tokens, and clients that registered.

use toolgate_core::ids::{ConnectionId, ProjectUid, UserId};
use toolgate_store::rows::{CodeRow, CodeUse, ConnectionRow, OauthClientRow, Refresh, RefreshTokenRow};

use crate::backend::Backend;
use crate::examples::{at, new_uuid, project, user_row};

contract! {
    a_connection_is_kept_as_it_was_made_and_counts_as_a_change,
    absent_and_empty_groups_stay_different,
    a_code_is_used_once_by_whoever_is_first,
    a_refresh_token_is_replaced_and_gives_further_ones_for_a_while,
    the_living_tokens_of_a_connection_are_bounded,
    what_ends_takes_codes_and_tokens_along,
    a_connection_goes_with_its_user_and_project,
    what_is_over_is_forgotten,
    clients_are_kept_while_they_are_used,
}

fn row(project: ProjectUid, user: UserId) -> ConnectionRow {
    ConnectionRow {
        id: ConnectionId(new_uuid()),
        project,
        user,
        client_id: "tgc_a".to_owned(),
        client_name: "Ä client".to_owned(),
        redirect_uri: "http://127.0.0.1:1/cb".to_owned(),
        resource: "https://tools.example.com/projects/demo/mcp".to_owned(),
        groups: Some(vec!["default".to_owned(), "größe".to_owned()]),
        token_generation: 3,
        created_at: at(10),
        expires_at: Some(at(1000)),
        connected_at: None,
        refreshed_at: None,
        revision: 0,
    }
}

fn code(connection: ConnectionId, digest: u8) -> CodeRow {
    CodeRow {
        digest: [digest; 32],
        connection,
        challenge: "challenge".to_owned(),
        expires_at: at(70),
        used_at: None,
    }
}

fn token(connection: ConnectionId, digest: u8) -> RefreshTokenRow {
    RefreshTokenRow {
        digest: [digest; 32],
        connection,
        expires_at: at(500),
        used_at: None,
    }
}

async fn user(db: &Backend, name: &str) -> UserId {
    let row = user_row(name);
    db.store.create_user(&row).await.expect("a user");
    row.id
}

/// A connection whose client has the refresh token `[2; 32]`.
async fn connected(db: &Backend) -> ConnectionRow {
    let row = row(project(&db.store, "demo").await, user(db, "ada").await);
    db.store
        .create_connection(&row, &code(row.id, 1))
        .await
        .expect("created");
    let used = db.store.use_code(&[1; 32], &token(row.id, 2), at(20)).await;
    assert_eq!(used.expect("used"), CodeUse::Used);
    row
}

async fn a_connection_is_kept_as_it_was_made_and_counts_as_a_change(db: Backend) {
    let mut row = row(project(&db.store, "demo").await, user(&db, "ada").await);
    let before = db.store.load_directory().await.expect("read").version;
    row.revision = db
        .store
        .create_connection(&row, &code(row.id, 1))
        .await
        .expect("created");
    let directory = db.store.load_directory().await.expect("read");
    assert_eq!(directory.connections, [row.clone()]);
    assert!(directory.version > before);
    assert_eq!(
        db.store.connections(row.project).await.expect("read"),
        [row.clone()]
    );
    let found = db
        .store
        .oauth_code(&[1; 32])
        .await
        .expect("read")
        .expect("a code");
    assert!(found == code(row.id, 1));
    assert!(db.store.oauth_code(&[9; 32]).await.expect("read").is_none());
    // Neither a project nor a user that is not there.
    let gone = ConnectionRow {
        id: ConnectionId(new_uuid()),
        project: ProjectUid(new_uuid()),
        ..row.clone()
    };
    assert!(
        db.store
            .create_connection(&gone, &code(gone.id, 7))
            .await
            .is_err()
    );
    let gone = ConnectionRow {
        id: ConnectionId(new_uuid()),
        user: UserId(new_uuid()),
        ..row
    };
    assert!(
        db.store
            .create_connection(&gone, &code(gone.id, 8))
            .await
            .is_err()
    );
}

async fn absent_and_empty_groups_stay_different(db: Backend) {
    let row = connected(&db).await;
    let mut revision = db.store.connections(row.project).await.expect("read")[0].revision;
    for groups in [None, Some(Vec::new()), Some(vec!["a".to_owned()])] {
        let limited = db
            .store
            .limit_connection(row.id, revision, groups.as_deref())
            .await
            .expect("limited");
        let stale = db
            .store
            .limit_connection(row.id, revision, None)
            .await
            .expect("an answer");
        assert_eq!(stale, None);
        revision = limited.expect("a new revision");
        let found = db.store.connections(row.project).await.expect("read");
        assert_eq!((&found[0].groups, found[0].revision), (&groups, revision));
    }
}

async fn a_code_is_used_once_by_whoever_is_first(db: Backend) {
    let row = row(project(&db.store, "demo").await, user(&db, "ada").await);
    let created = db.store.create_connection(&row, &code(row.id, 1)).await;
    created.expect("created");
    let (first, second) = (token(row.id, 2), token(row.id, 3));
    let (a, b) = tokio::join!(
        db.store.use_code(&[1; 32], &first, at(20)),
        db.store.use_code(&[1; 32], &second, at(20)),
    );
    let (a, b) = (a.expect("an answer"), b.expect("an answer"));
    assert!((a == CodeUse::Used) != (b == CodeUse::Used), "{a:?} {b:?}");
    let stored = [
        db.store.refresh_token(&[2; 32]).await.expect("read").is_some(),
        db.store.refresh_token(&[3; 32]).await.expect("read").is_some(),
    ];
    assert_eq!(stored, [a == CodeUse::Used, b == CodeUse::Used]);
    let found = db.store.connections(row.project).await.expect("read");
    assert_eq!(
        (found[0].connected_at, found[0].refreshed_at),
        (Some(at(20)), Some(at(20)))
    );
    let code = db
        .store
        .oauth_code(&[1; 32])
        .await
        .expect("read")
        .expect("a code");
    assert_eq!(code.used_at, Some(at(20)));
}

async fn a_refresh_token_is_replaced_and_gives_further_ones_for_a_while(db: Backend) {
    let row = connected(&db).await;
    let rotate = async |used: u8, next: u8, seconds: i64| {
        let (used, next) = ([used; 32], token(row.id, next));
        let rotated = db
            .store
            .rotate_refresh_token(&used, &next, at(seconds - 30), at(seconds));
        rotated.await.expect("an answer")
    };
    assert_eq!(rotate(2, 3, 100).await, Refresh::Rotated);
    assert_eq!(rotate(2, 4, 110).await, Refresh::Rotated);
    assert_eq!(rotate(2, 5, 130).await, Refresh::Rotated);
    assert_eq!(rotate(2, 6, 131).await, Refresh::Reused);
    assert_eq!(rotate(9, 6, 131).await, Refresh::Unknown);
    assert!(db.store.refresh_token(&[6; 32]).await.expect("read").is_none());
    // Those that it gave go on.
    assert_eq!(rotate(3, 6, 200).await, Refresh::Rotated);
    assert_eq!(rotate(4, 7, 200).await, Refresh::Rotated);
    let first = db
        .store
        .refresh_token(&[2; 32])
        .await
        .expect("read")
        .expect("kept");
    assert_eq!(first.used_at, Some(at(100)));
}

async fn the_living_tokens_of_a_connection_are_bounded(db: Backend) {
    let row = connected(&db).await;
    let mut last = Refresh::Rotated;
    for next in 10..90 {
        let next = token(row.id, next);
        let rotated = db.store.rotate_refresh_token(&[2; 32], &next, at(70), at(100));
        last = rotated.await.expect("an answer");
    }
    assert_eq!(last, Refresh::TooMany);
}

async fn what_ends_takes_codes_and_tokens_along(db: Backend) {
    let row = connected(&db).await;
    let before = db.store.load_directory().await.expect("read").version;
    assert!(db.store.delete_connection(row.id).await.expect("an answer"));
    assert!(!db.store.delete_connection(row.id).await.expect("an answer"));
    let directory = db.store.load_directory().await.expect("read");
    assert!(directory.connections.is_empty() && directory.version > before);
    assert!(db.store.oauth_code(&[1; 32]).await.expect("read").is_none());
    assert!(db.store.refresh_token(&[2; 32]).await.expect("read").is_none());
    let used = db.store.use_code(&[1; 32], &token(row.id, 4), at(30)).await;
    assert_eq!(used.expect("an answer"), CodeUse::UsedBefore);
    let next = token(row.id, 5);
    let rotated = db
        .store
        .rotate_refresh_token(&[2; 32], &next, at(0), at(30))
        .await;
    assert_eq!(rotated.expect("an answer"), Refresh::Unknown);
}

async fn a_connection_goes_with_its_user_and_project(db: Backend) {
    let demo = project(&db.store, "demo").await;
    let other = project(&db.store, "other").await;
    let ada = user_row("ada");
    let revision = db.store.create_user(&ada).await.expect("a user");
    let bob = user(&db, "bob").await;
    for (number, (project, user)) in [(demo, ada.id), (demo, bob), (other, bob)]
        .into_iter()
        .enumerate()
    {
        let row = row(project, user);
        let number = u8::try_from(number).expect("small");
        let created = db.store.create_connection(&row, &code(row.id, number)).await;
        created.expect("created");
    }
    db.store.delete_user(ada.id, revision).await.expect("deleted");
    let left = db.store.connections(demo).await.expect("read");
    assert_eq!(left.iter().map(|row| row.user).collect::<Vec<_>>(), [bob]);
    db.store.delete_project(demo, at(50)).await.expect("deleted");
    let left = db.store.load_directory().await.expect("read").connections;
    assert_eq!(left.iter().map(|row| row.project).collect::<Vec<_>>(), [other]);
}

async fn what_is_over_is_forgotten(db: Backend) {
    let living = connected(&db).await;
    let never = row(living.project, living.user);
    let created = db.store.create_connection(&never, &code(never.id, 4)).await;
    created.expect("created");
    let ids = async || {
        let rows = db.store.connections(living.project).await.expect("read");
        rows.iter().map(|row| row.id).collect::<Vec<_>>()
    };
    assert_eq!(
        db.store.prune_connections(at(10), at(100)).await.expect("pruned"),
        0
    );
    // Its code was never used.
    assert_eq!(
        db.store.prune_connections(at(71), at(100)).await.expect("pruned"),
        1
    );
    assert_eq!(ids().await, [living.id]);
    assert!(db.store.oauth_code(&[1; 32]).await.expect("read").is_none());
    assert!(db.store.refresh_token(&[2; 32]).await.expect("read").is_some());
    // Its last refresh token has expired.
    assert_eq!(
        db.store
            .prune_connections(at(440), at(500))
            .await
            .expect("pruned"),
        1
    );
    assert!(ids().await.is_empty());
}

async fn clients_are_kept_while_they_are_used(db: Backend) {
    let client = |id: &str, seconds: i64| OauthClientRow {
        id: id.to_owned(),
        name: "Ä client".to_owned(),
        redirect_uris: vec!["https://a.example/cb?x=1".to_owned()],
        created_at: at(seconds),
    };
    for (id, seconds) in [("tgc_a", 1), ("tgc_b", 2), ("tgc_c", 3)] {
        let kept = db.store.register_client(&client(id, seconds), 3).await;
        kept.expect("kept");
    }
    let found = db.store.oauth_client("tgc_a").await.expect("read");
    assert_eq!(found, Some(client("tgc_a", 1)));
    let user = user(&db, "ada").await;
    let row = row(project(&db.store, "demo").await, user);
    let created = db.store.create_connection(&row, &code(row.id, 1)).await;
    created.expect("created");
    // `a` is used, so the two newest of the others stay.
    let kept = db.store.register_client(&client("tgc_d", 4), 2).await;
    kept.expect("kept");
    let known = async || {
        let mut known = Vec::new();
        for id in ["tgc_a", "tgc_b", "tgc_c", "tgc_d"] {
            if db.store.oauth_client(id).await.expect("read").is_some() {
                known.push(id);
            }
        }
        known
    };
    assert_eq!(known().await, ["tgc_a", "tgc_c", "tgc_d"]);
    assert_eq!(
        db.store.prune_oauth_clients(at(4), at(5)).await.expect("pruned"),
        1
    );
    assert_eq!(known().await, ["tgc_a", "tgc_d"]);
    assert_eq!(
        db.store.prune_oauth_clients(at(4), at(50)).await.expect("pruned"),
        0
    );
    db.store.delete_connection(row.id).await.expect("deleted");
    assert_eq!(
        db.store.prune_oauth_clients(at(4), at(50)).await.expect("pruned"),
        1
    );
    assert_eq!(known().await, ["tgc_d"]);
}
