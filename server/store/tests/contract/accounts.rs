//! Accounts of persons: one for each person and provider, refreshed by one server at a time, gone with their persons.

use chrono::DateTime;
use toolgate_core::ids::{ProjectUid, UserId};
use toolgate_store::rows::{AccountFlowRow, AccountRow, Resealed};

use crate::backend::Backend;
use crate::examples::{at, new_uuid, project, user_row};

contract! {
    a_person_has_one_account_at_a_provider,
    one_refreshes_and_the_others_see_the_new_credential,
    an_account_goes_with_its_person_and_its_project,
    a_way_back_is_taken_once_by_its_person,
}

fn sealed(byte: u8) -> Resealed {
    Resealed {
        key_id: "k1".to_owned(),
        sealed: vec![byte; 40],
    }
}

fn row(project: ProjectUid, user: UserId, byte: u8) -> AccountRow {
    AccountRow {
        id: new_uuid(),
        project,
        provider: "issues".to_owned(),
        user,
        label: Some("Ada Größe".to_owned()),
        expired: false,
        sealed: sealed(byte),
        version: 1,
        connected_at: at(10),
        refreshed_at: None,
    }
}

async fn user(db: &Backend, name: &str) -> UserId {
    let row = user_row(name);
    db.store.create_user(&row).await.expect("created");
    row.id
}

async fn a_person_has_one_account_at_a_provider(db: Backend) {
    let store = &db.store;
    let project = project(&db.store, "demo").await;
    let (ada, bo) = (user(&db, "ada").await, user(&db, "bo").await);
    store.put_account(&row(project, ada, 1)).await.expect("stored");
    let second = row(project, ada, 2);
    store.put_account(&second).await.expect("replaced");
    let of_bo = row(project, bo, 3);
    store.put_account(&of_bo).await.expect("stored");
    let found = store.account(project, ada, "issues").await.expect("read");
    assert_eq!(found.as_ref(), Some(&second));
    assert_eq!(
        store.account_by_id(of_bo.id).await.expect("read"),
        Some(of_bo.clone())
    );
    assert_eq!(store.account(project, ada, "other").await.expect("read"), None);
    let all = store.accounts(project, None, 10).await.expect("read");
    assert_eq!(all.len(), 2);
    assert_eq!(
        store.accounts_of(project, bo).await.expect("read"),
        vec![of_bo.clone()]
    );
    assert_eq!(
        store
            .accounts_not_under("k2", None, 10)
            .await
            .expect("read")
            .len(),
        2
    );
    assert!(
        store
            .reseal_account(
                of_bo.id,
                1,
                &Resealed {
                    key_id: "k2".to_owned(),
                    sealed: vec![9; 40]
                }
            )
            .await
            .expect("resealed")
    );
    assert_eq!(
        store
            .accounts_not_under("k2", None, 10)
            .await
            .expect("read")
            .len(),
        1
    );
    assert_eq!(
        store
            .delete_accounts_at(project, "issues")
            .await
            .expect("deleted"),
        2
    );
    assert!(!store.delete_account(second.id).await.expect("asked"));
}

async fn one_refreshes_and_the_others_see_the_new_credential(db: Backend) {
    let store = &db.store;
    let project = project(&db.store, "demo").await;
    let account = row(project, user(&db, "ada").await, 1);
    store.put_account(&account).await.expect("stored");
    let begin = |version, now| store.begin_account_refresh(account.id, version, at(now), at(now + 30));
    assert!(begin(1, 100).await.expect("asked"));
    assert!(!begin(1, 110).await.expect("asked"), "another holds it");
    assert!(
        begin(1, 131).await.expect("asked"),
        "the first one did not come back"
    );
    let (new, late) = (sealed(7), sealed(8));
    let ended = store.end_account_refresh(account.id, 1, Some(&new), false, at(132));
    assert!(ended.await.expect("stored"));
    let late = store.end_account_refresh(account.id, 1, Some(&late), false, at(133));
    assert!(!late.await.expect("asked"), "the first one comes too late");
    assert!(
        !begin(1, 140).await.expect("asked"),
        "an old credential is not refreshed"
    );
    let found = store
        .account_by_id(account.id)
        .await
        .expect("read")
        .expect("there");
    assert_eq!(
        (found.version, found.sealed, found.refreshed_at),
        (2, sealed(7), Some(at(132)))
    );
    assert!(begin(2, 200).await.expect("asked"));
    assert!(
        store
            .end_account_refresh(account.id, 2, None, true, at(201))
            .await
            .expect("stored")
    );
    let found = store
        .account_by_id(account.id)
        .await
        .expect("read")
        .expect("there");
    assert!(found.expired);
    assert!(
        !begin(2, 300).await.expect("asked"),
        "what has expired is not refreshed"
    );
}

async fn an_account_goes_with_its_person_and_its_project(db: Backend) {
    let store = &db.store;
    let project = project(&db.store, "demo").await;
    let ada = user(&db, "ada").await;
    let bo = user(&db, "bo").await;
    for person in [ada, bo] {
        store.put_account(&row(project, person, 1)).await.expect("stored");
    }
    let disabled = toolgate_store::rows::UserChange {
        disabled_at: Some(Some(at(20))),
        ..Default::default()
    };
    let revision = revision_of(&db, ada).await;
    store
        .update_user(ada, revision, &disabled, &[])
        .await
        .expect("disabled");
    assert_eq!(store.account(project, ada, "issues").await.expect("read"), None);
    let revision = revision_of(&db, bo).await;
    store.delete_user(bo, revision).await.expect("deleted");
    assert_eq!(store.accounts(project, None, 10).await.expect("read"), vec![]);
}

async fn revision_of(db: &Backend, user: UserId) -> i64 {
    let directory = db.store.load_directory().await.expect("read");
    let found = directory.users.iter().find(|row| row.id == user);
    found.expect("the user").revision
}

async fn a_way_back_is_taken_once_by_its_person(db: Backend) {
    let store = &db.store;
    let project = project(&db.store, "demo").await;
    let (ada, bo) = (user(&db, "ada").await, user(&db, "bo").await);
    let way = |digest: u8, end: DateTime<chrono::Utc>| AccountFlowRow {
        digest: [digest; 32],
        project,
        provider: "issues".to_owned(),
        user: ada,
        sealed: sealed(digest),
        expires_at: end,
    };
    for digest in 1..=4 {
        let row = way(digest, at(100 + i64::from(digest)));
        store.begin_account_flow(&row, 3).await.expect("stored");
    }
    assert_eq!(
        store.take_account_flow(&[1; 32], ada).await.expect("asked"),
        None,
        "too many"
    );
    assert_eq!(
        store.take_account_flow(&[4; 32], bo).await.expect("asked"),
        None,
        "another's"
    );
    let taken = store.take_account_flow(&[4; 32], ada).await.expect("asked");
    assert_eq!(taken, Some(way(4, at(104))));
    assert_eq!(store.take_account_flow(&[4; 32], ada).await.expect("asked"), None);
    assert_eq!(store.prune_account_flows(at(102)).await.expect("pruned"), 1);
    assert!(
        store
            .take_account_flow(&[3; 32], ada)
            .await
            .expect("asked")
            .is_some()
    );
}
