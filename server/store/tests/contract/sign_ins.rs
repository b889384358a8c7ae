//! From where users have signed in.

use crate::backend::Backend;
use crate::examples::{at, user_row};

contract! {
    a_user_is_known_where_it_has_signed_in,
    the_networks_that_were_not_used_longest_are_forgotten,
    what_is_kept_goes_with_its_user,
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
