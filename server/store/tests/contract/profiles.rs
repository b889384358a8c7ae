//! What users prefer, and what they have read.

use toolgate_api::profile::{Density, Preferences, PreferredLanguage, PreferredTheme};
use toolgate_store::rows::NO_PROJECT;

use crate::backend::Backend;
use crate::examples::{at, project_row, user_row};

contract! {
    preferences_are_those_of_a_user,
    what_was_read_is_of_a_user_and_a_project,
}

async fn preferences_are_those_of_a_user(db: Backend) {
    let (store, ada, bob) = (&db.store, user_row("ada"), user_row("bob"));
    for user in [&ada, &bob] {
        store.create_user(user).await.expect("created");
    }
    assert_eq!(store.preferences(ada.id).await.expect("read"), None);
    let dark = Preferences {
        theme: PreferredTheme::Dark,
        time_zone: "Europe/Berlin".to_owned(),
        density: Density::Compact,
        language: PreferredLanguage::De,
    };
    for preferences in [Preferences::default(), dark.clone()] {
        let set = store.set_preferences(ada.id, &preferences, at(1)).await;
        set.expect("stored");
    }
    assert_eq!(store.preferences(ada.id).await.expect("read"), Some(dark));
    assert_eq!(store.preferences(bob.id).await.expect("read"), None);
}

async fn what_was_read_is_of_a_user_and_a_project(db: Backend) {
    let (store, ada, bob) = (&db.store, user_row("ada"), user_row("bob"));
    for user in [&ada, &bob] {
        store.create_user(user).await.expect("created");
    }
    let (demo, other) = (project_row("demo"), project_row("other"));
    for project in [&demo, &other] {
        store.create_project(project, None).await.expect("created");
    }
    let ids = ["alert:1", "alert:2"].map(str::to_owned);
    for seconds in [1, 9] {
        let read = store
            .read_notifications(ada.id, demo.uid, &ids, at(seconds))
            .await;
        read.expect("stored");
    }
    let read = async |user, project| {
        let read = store.notifications_read(user, project).await.expect("read");
        read.len()
    };
    assert_eq!(read(ada.id, demo.uid).await, 2);
    assert_eq!(
        (read(ada.id, other.uid).await, read(bob.id, demo.uid).await),
        (0, 0)
    );
    // Those of the server are in no project.
    let of_server = store.read_notifications(bob.id, NO_PROJECT, &ids[..1], at(1));
    of_server.await.expect("stored");
    assert_eq!(read(bob.id, NO_PROJECT).await, 1);
    assert_eq!(store.prune_read_notifications(at(1)).await.expect("pruned"), 0);
    assert_eq!(store.prune_read_notifications(at(2)).await.expect("pruned"), 3);
}
