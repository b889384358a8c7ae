//! From where users have signed in.

use toolgate_core::ids::UserId;
use toolgate_store::rows::SignInRow;
use uuid::Uuid;

use crate::backend::Backend;
use crate::examples::{at, user_row};

contract! {
    a_user_is_known_where_it_has_signed_in,
    the_networks_that_were_not_used_longest_are_forgotten,
    what_is_kept_goes_with_its_user,
    sign_ins_are_listed_until_they_end,
    ended_sign_ins_are_revoked,
}

fn row(user: UserId, id: u128, created: i64, expires: i64) -> SignInRow {
    SignInRow {
        id: Uuid::from_u128(id),
        user,
        generation: 0,
        way: (id == 2).then(|| "corp".to_owned()),
        address: Some("192.0.2.1".to_owned()),
        browser: Some("Firefox on Linux".to_owned()),
        created_at: at(created),
        expires_at: at(expires),
    }
}

async fn sign_ins_are_listed_until_they_end(db: Backend) {
    let (store, ada, bob) = (&db.store, user_row("ada"), user_row("bob"));
    for user in [&ada, &bob] {
        store.create_user(user).await.expect("created");
    }
    let rows = [
        row(ada.id, 1, 1, 50),
        row(ada.id, 2, 2, 60),
        row(bob.id, 3, 3, 60),
    ];
    for row in &rows {
        store.add_sign_in(row).await.expect("stored");
    }
    let listed = async |now: i64| store.sign_ins(ada.id, at(now)).await.expect("a list");
    assert_eq!(
        listed(10).await,
        [rows[1].clone(), rows[0].clone()],
        "newest first"
    );
    assert_eq!(listed(50).await, [rows[1].clone()], "one has expired");
    assert_eq!(store.prune_ended_sign_ins(at(55)).await.expect("pruned"), 1);
    store.set_password(ada.id, "$argon2id$new").await.expect("set");
    assert_eq!(listed(10).await, [], "a new password ends them");
    assert_eq!(store.sign_ins(bob.id, at(10)).await.expect("a list").len(), 1);
}

async fn ended_sign_ins_are_revoked(db: Backend) {
    let (store, ada, bob) = (&db.store, user_row("ada"), user_row("bob"));
    for user in [&ada, &bob] {
        store.create_user(user).await.expect("created");
    }
    for row in [
        row(ada.id, 1, 1, 50),
        row(ada.id, 2, 2, 60),
        row(ada.id, 3, 3, 60),
        row(bob.id, 4, 4, 60),
    ] {
        store.add_sign_in(&row).await.expect("stored");
    }
    let revoked = async || {
        let rows = store.load_directory().await.expect("a directory");
        let mut ids: Vec<_> = rows.revoked_tokens.into_iter().map(|row| row.jti).collect();
        ids.sort();
        ids
    };
    let id = Uuid::from_u128;
    let end = async |user: UserId, id: Uuid| store.end_sign_in(user, id, at(5)).await.expect("an answer");
    assert!(!end(ada.id, id(4)).await, "it is another user's");
    assert!(end(ada.id, id(1)).await);
    assert!(!end(ada.id, id(1)).await, "once");
    assert_eq!(revoked().await, [id(1).to_string()]);
    let ended = store.end_other_sign_ins(ada.id, id(2), at(5)).await;
    assert_eq!(ended.expect("ended"), 1);
    assert_eq!(revoked().await, [id(1), id(3)].map(|id| id.to_string()));
    let left = store.sign_ins(ada.id, at(5)).await.expect("a list");
    assert_eq!(left.iter().map(|row| row.id).collect::<Vec<_>>(), [id(2)]);
}

async fn a_user_is_known_where_it_has_signed_in(db: Backend) {
    let (ada, bob) = (user_row("ada"), user_row("bob"));
    for user in [&ada, &bob] {
        db.store.create_user(user).await.expect("created");
    }
    for seconds in [1, 5, 3] {
        let noted = db.store.note_sign_in(ada.id, "192.0.2.1", at(seconds)).await;
        noted.expect("kept");
    }
    for (user, network, known) in [
        (&ada, "192.0.2.1", true),
        (&ada, "192.0.2.2", false),
        (&bob, "192.0.2.1", false),
    ] {
        let found = db.store.has_signed_in_from(user.id, network).await;
        assert_eq!(found.expect("an answer"), known, "{} {network}", user.username);
    }
}

async fn the_networks_that_were_not_used_longest_are_forgotten(db: Backend) {
    let ada = user_row("ada");
    db.store.create_user(&ada).await.expect("created");
    let note = async |network: i64, seconds: i64| {
        let noted = db
            .store
            .note_sign_in(ada.id, &network.to_string(), at(seconds))
            .await;
        noted.expect("kept");
    };
    let known = async |network: i64| {
        let found = db.store.has_signed_in_from(ada.id, &network.to_string()).await;
        found.expect("an answer")
    };
    for network in 0..50 {
        note(network, network).await;
    }
    note(0, 50).await;
    note(50, 51).await;
    assert_eq!(
        [known(0).await, known(1).await, known(2).await, known(50).await],
        [true, false, true, true]
    );
    assert_eq!(db.store.prune_sign_ins(at(50)).await.expect("pruned"), 48);
    assert_eq!(
        [known(0).await, known(49).await, known(50).await],
        [true, false, true]
    );
}

async fn what_is_kept_goes_with_its_user(db: Backend) {
    let ada = user_row("ada");
    let revision = db.store.create_user(&ada).await.expect("created");
    db.store
        .note_sign_in(ada.id, "192.0.2.1", at(1))
        .await
        .expect("kept");
    db.store.delete_user(ada.id, revision).await.expect("deleted");
    let found = db.store.has_signed_in_from(ada.id, "192.0.2.1").await;
    assert!(!found.expect("an answer"));
    assert!(db.store.note_sign_in(ada.id, "192.0.2.1", at(2)).await.is_err());
}
