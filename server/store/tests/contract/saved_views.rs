//! Views of the record that were kept under a name.

use toolgate_api::saved_views::SavedView;

use crate::backend::Backend;
use crate::examples::{at, new_uuid, project};

contract! {
    a_principal_sees_its_own_views_and_the_shared_ones,
    a_view_of_the_same_name_is_replaced,
    views_of_an_owner_are_bounded,
}

fn view(author: &str, name: &str, shared: bool) -> SavedView {
    SavedView {
        id: new_uuid(),
        name: name.to_owned(),
        query: "outcome=failed".to_owned(),
        shared,
        author: author.to_owned(),
        created_at: at(5),
    }
}

async fn a_principal_sees_its_own_views_and_the_shared_ones(db: Backend) {
    let (store, uid) = (&db.store, project(&db.store, "demo").await);
    let other = project(store, "other").await;
    let (own, shared) = (view("user:1", "b", false), view("user:2", "a", true));
    for (project, view) in [(uid, &own), (uid, &shared), (other, &view("user:1", "c", true))] {
        assert!(store.save_view(project, view, 9).await.expect("stored"));
    }
    assert_eq!(
        store.saved_views(uid, "user:1").await.expect("views"),
        [shared.clone(), own.clone()]
    );
    assert_eq!(
        store.saved_views(uid, "user:2").await.expect("views"),
        std::slice::from_ref(&shared)
    );
    assert!(
        !store
            .delete_saved_view(other, shared.id)
            .await
            .expect("an answer")
    );
    assert!(store.delete_saved_view(uid, shared.id).await.expect("an answer"));
    assert_eq!(store.saved_views(uid, "user:1").await.expect("views"), [own]);
}

async fn a_view_of_the_same_name_is_replaced(db: Backend) {
    let (store, uid) = (&db.store, project(&db.store, "demo").await);
    let first = view("user:1", "a", false);
    let second = SavedView {
        query: "tool=x".to_owned(),
        ..view("user:1", "a", false)
    };
    let shared = view("user:1", "a", true);
    for view in [&first, &second, &shared] {
        assert!(store.save_view(uid, view, 1).await.expect("stored"));
    }
    assert_eq!(
        store.saved_views(uid, "user:1").await.expect("views"),
        [shared, second]
    );
}

async fn views_of_an_owner_are_bounded(db: Backend) {
    let (store, uid) = (&db.store, project(&db.store, "demo").await);
    let save = async |author, name, shared| {
        let stored = store.save_view(uid, &view(author, name, shared), 1).await;
        stored.expect("an answer")
    };
    assert!(save("user:1", "a", false).await);
    assert!(!save("user:1", "b", false).await);
    assert!(save("user:2", "b", false).await);
    assert!(save("user:1", "b", true).await);
    assert!(
        !save("user:2", "c", true).await,
        "shared views are bounded together"
    );
}
