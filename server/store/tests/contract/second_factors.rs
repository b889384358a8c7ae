//! Second factors of users.

use toolgate_core::ids::UserId;
use toolgate_store::rows::{Resealed, SecondFactorRow};

use crate::backend::Backend;
use crate::examples::{at, user_row};

contract! {
    a_second_factor_counts_once_it_is_confirmed,
    a_code_counts_once,
    second_factors_are_sealed_again,
    a_second_factor_goes_with_its_user,
}

fn secret(secret: &[u8]) -> SecondFactorRow {
    SecondFactorRow {
        key_id: None,
        secret: secret.to_vec(),
        confirmed_at: None,
    }
}

async fn ada(db: &Backend) -> UserId {
    let row = user_row("ada");
    db.store.create_user(&row).await.expect("created");
    row.id
}

async fn a_second_factor_counts_once_it_is_confirmed(db: Backend) {
    let (store, ada) = (&db.store, ada(&db).await);
    let since = async || {
        let rows = store.load_directory().await.expect("a directory");
        rows.users[0].second_factor_at
    };
    assert!(
        !store
            .confirm_second_factor(ada, 1, &[], at(1))
            .await
            .expect("none")
    );
    for text in [b"first", b"later"] {
        assert!(
            store
                .propose_second_factor(ada, &secret(text), at(1))
                .await
                .expect("stored")
        );
    }
    let found = store.second_factor(ada).await.expect("read").expect("a factor");
    assert_eq!(
        (found.secret.as_slice(), found.confirmed_at),
        (b"later".as_slice(), None)
    );
    assert!(
        !store.use_second_factor_step(ada, 9).await.expect("an answer"),
        "not confirmed"
    );
    assert_eq!(since().await, None);

    assert!(
        store
            .confirm_second_factor(ada, 7, &[[1; 32]], at(2))
            .await
            .expect("confirmed")
    );
    assert!(
        !store
            .confirm_second_factor(ada, 8, &[], at(3))
            .await
            .expect("once")
    );
    assert!(
        !store
            .propose_second_factor(ada, &secret(b"other"), at(3))
            .await
            .expect("refused")
    );
    assert_eq!(since().await, Some(at(2)));

    assert!(store.remove_second_factor(ada).await.expect("removed"));
    assert!(!store.remove_second_factor(ada).await.expect("none"));
    assert_eq!(since().await, None);
    assert!(!store.use_recovery_code(ada, &[1; 32], at(4)).await.expect("gone"));
}

async fn a_code_counts_once(db: Backend) {
    let (store, ada) = (&db.store, ada(&db).await);
    store
        .propose_second_factor(ada, &secret(b"s"), at(1))
        .await
        .expect("stored");
    store
        .confirm_second_factor(ada, 7, &[[1; 32], [2; 32]], at(2))
        .await
        .expect("confirmed");
    for (step, counts) in [(7, false), (8, true), (8, false), (6, false), (9, true)] {
        let used = store.use_second_factor_step(ada, step).await.expect("an answer");
        assert_eq!(used, counts, "step {step}");
    }
    let uses = async |digest: u8| {
        store
            .use_recovery_code(ada, &[digest; 32], at(3))
            .await
            .expect("an answer")
    };
    assert_eq!(
        (uses(1).await, uses(1).await, uses(3).await),
        (true, false, false)
    );
    store
        .replace_recovery_codes(ada, &[[3; 32]])
        .await
        .expect("replaced");
    assert_eq!((uses(2).await, uses(3).await), (false, true));
}

async fn second_factors_are_sealed_again(db: Backend) {
    let (store, ada) = (&db.store, ada(&db).await);
    store
        .propose_second_factor(ada, &secret(b"plain"), at(1))
        .await
        .expect("stored");
    let mut found = store.second_factors_not_under("k1").await.expect("read");
    let (user, old) = found.pop().expect("one");
    assert_eq!((user, old.secret.as_slice()), (ada, b"plain".as_slice()));
    let new = || Resealed {
        key_id: "k1".to_owned(),
        sealed: b"sealed".to_vec(),
    };
    let again = [(ada, old.clone(), new()), (ada, secret(b"of before"), new())];
    assert_eq!(store.reseal_second_factors(&again).await.expect("done"), 1);
    assert!(
        store
            .second_factors_not_under("k1")
            .await
            .expect("read")
            .is_empty()
    );
    let stored = store.second_factor(ada).await.expect("read").expect("one");
    assert_eq!(
        (stored.key_id.as_deref(), stored.secret.as_slice()),
        (Some("k1"), b"sealed".as_slice())
    );
}

async fn a_second_factor_goes_with_its_user(db: Backend) {
    let (store, ada) = (&db.store, ada(&db).await);
    let boss = toolgate_store::rows::UserRow {
        system_admin: true,
        ..user_row("boss")
    };
    store.create_user(&boss).await.expect("created");
    store
        .propose_second_factor(ada, &secret(b"s"), at(1))
        .await
        .expect("stored");
    store
        .confirm_second_factor(ada, 7, &[[1; 32]], at(2))
        .await
        .expect("confirmed");
    let rows = store.load_directory().await.expect("a directory");
    let revision = rows
        .users
        .iter()
        .find(|user| user.id == ada)
        .expect("ada")
        .revision;
    store.delete_user(ada, revision).await.expect("deleted");
    assert!(store.second_factor(ada).await.expect("read").is_none());
    assert!(!store.use_recovery_code(ada, &[1; 32], at(3)).await.expect("gone"));
}
