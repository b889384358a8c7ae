//! Service keys, and what identities hold in projects.

use chrono::TimeDelta;
use secrecy::ExposeSecret;
use toolgate_api::permissions::GrantTerms;
use toolgate_core::principal::{PrincipalKind, PrincipalRef, Role};
use toolgate_store::rows::{PreviousSecret, ProjectRow};
use uuid::Uuid;

use super::fixtures::{at, directory, grant_row, key_row, own_only, project, rows, user_id, verdict};
use crate::auth::api_key::mint;
use crate::auth::directory::Directory;
use crate::auth::grants::{Holdings, WithGrant};

#[tokio::test]
async fn a_key_works_in_its_own_project_only() {
    let (one, two) = (project(1, "one"), project(2, "two"));
    let minted = mint().unwrap();
    let mut rows = rows();
    let key = key_row(1, &minted, &one);
    let who = PrincipalRef::key(key.id);
    rows.keys.push(key);
    rows.grants.push(grant_row(&one, who, Role::Agent, &["default"]));
    let directory = directory(&rows);

    let identity = own_only()
        .authenticate(&directory, minted.text.expose_secret(), at(0))
        .await
        .unwrap();
    assert_eq!(
        (identity.principal.kind, identity.principal.name.as_str()),
        (PrincipalKind::ServiceKey, "agent 1")
    );
    let grant = identity.grant(&directory, &one, at(0)).unwrap();
    assert_eq!(
        (grant.role, grant.groups.to_vec()),
        (Role::Agent, vec!["default".to_owned()])
    );
    assert_eq!(identity.grant(&directory, &two, at(0)), None);
    // The slug may be used again by another project: the key does not move with it.
    assert_eq!(identity.grant(&directory, &project(3, "one"), at(0)), None);
}

#[tokio::test]
async fn keys_get_their_verdict() {
    let one = project(1, "one");
    let (minted, other, expiring, revoked) =
        (mint().unwrap(), mint().unwrap(), mint().unwrap(), mint().unwrap());
    let mut rows = rows();
    rows.keys = vec![
        key_row(1, &minted, &one),
        key_row(2, &other, &one),
        key_row(3, &expiring, &one),
    ];
    rows.keys[2].expires_at = Some(at(100));
    rows.keys.push(key_row(4, &revoked, &one));
    rows.keys[3].revoked_at = Some(at(-1));
    let directory = directory(&rows);
    let authenticator = own_only();

    let text = minted.text.expose_secret();
    let (prefix, secret) = text.rsplit_once('_').unwrap();
    let other_secret = other.text.expose_secret().rsplit_once('_').unwrap().1;
    let last = if secret.ends_with('a') { "b" } else { "a" };
    let unknown = mint().unwrap();
    let table = [
        ("right", text.to_owned(), 0, "ok"),
        (
            "another key's secret",
            format!("{prefix}_{other_secret}"),
            0,
            "wrong_secret",
        ),
        (
            "last character wrong",
            format!("{}{last}", &text[..text.len() - 1]),
            0,
            "wrong_secret",
        ),
        (
            "secret of zeros",
            format!("{prefix}_{}", "0".repeat(43)),
            0,
            "wrong_secret",
        ),
        (
            "unknown prefix",
            unknown.text.expose_secret().to_owned(),
            0,
            "unknown_key",
        ),
        ("prefix alone", prefix.to_owned(), 0, "malformed"),
        ("with white space", format!("{text} "), 0, "malformed"),
        ("cut", text[..text.len() - 1].to_owned(), 0, "malformed"),
        ("in a token's place", format!("{text}.a.b"), 0, "malformed"),
        (
            "before it expires",
            expiring.text.expose_secret().to_owned(),
            99,
            "ok",
        ),
        (
            "when it expires",
            expiring.text.expose_secret().to_owned(),
            100,
            "expired",
        ),
        ("revoked", revoked.text.expose_secret().to_owned(), 0, "revoked"),
    ];
    for (name, credential, seconds, expected) in table {
        assert_eq!(
            verdict(&authenticator, &directory, &credential, at(seconds)).await,
            expected,
            "{name}"
        );
    }
}

#[tokio::test]
async fn a_revoked_or_deleted_key_ends_at_once() {
    let minted = mint().unwrap();
    let authenticator = own_only();
    let mut rows = rows();
    rows.keys.push(key_row(1, &minted, &project(1, "one")));
    let text = minted.text.expose_secret();
    assert_eq!(
        verdict(&authenticator, &directory(&rows), text, at(0)).await,
        "ok"
    );
    rows.keys[0].revoked_at = Some(at(1));
    assert_eq!(
        verdict(&authenticator, &directory(&rows), text, at(1)).await,
        "revoked"
    );
    rows.keys.clear();
    assert_eq!(
        verdict(&authenticator, &directory(&rows), text, at(1)).await,
        "unknown_key"
    );
}

#[tokio::test]
async fn the_secret_before_a_rotation_works_for_a_while() {
    let (old, new, one) = (mint().unwrap(), mint().unwrap(), project(1, "one"));
    let mut rows = rows();
    rows.keys.push(key_row(1, &new, &one));
    rows.keys[0].previous = Some(PreviousSecret {
        prefix: old.prefix.clone(),
        digest: old.digest,
        until: at(60),
    });
    let directory = directory(&rows);
    let authenticator = own_only();
    for (name, minted, seconds, expected) in [
        ("the new one", &new, 0, "ok"),
        ("the new one, later", &new, 60, "ok"),
        ("the old one", &old, 59, "ok"),
        ("the old one, later", &old, 60, "wrong_secret"),
    ] {
        let text = minted.text.expose_secret();
        let found = verdict(&authenticator, &directory, text, at(seconds)).await;
        assert_eq!(found, expected, "{name}");
    }
    let mixed = format!(
        "{}_{}",
        old.prefix,
        new.text.expose_secret().rsplit_once('_').unwrap().1
    );
    assert_eq!(
        verdict(&authenticator, &directory, &mixed, at(0)).await,
        "wrong_secret"
    );
}

#[test]
fn what_a_principal_holds_is_the_same_by_its_name_and_after_a_change() {
    let (one, two) = (project(1, "one"), project(2, "two"));
    let mut rows = rows();
    let mut keys = Vec::new();
    for n in 1..=3 {
        let key = key_row(n, &mint().unwrap(), &one);
        keys.push(PrincipalRef::key(key.id));
        rows.keys.push(key);
    }
    rows.keys[1].revoked_at = Some(at(5));
    rows.keys[2].expires_at = Some(at(7));
    for key in &keys {
        rows.grants
            .push(grant_row(&one, key.clone(), Role::Agent, &["default"]));
    }
    let subject = PrincipalRef::parse("external:https://idp.test/|agent").unwrap();
    rows.grants
        .push(grant_row(&two, subject.clone(), Role::Viewer, &["web"]));
    rows.grants[0].terms.expires_at = Some(at(9));
    let (ada, bob) = (PrincipalRef::user(user_id(1)), PrincipalRef::user(user_id(2)));
    let held = |directory: &Directory, principal: &PrincipalRef, project: &ProjectRow, seconds| {
        directory
            .grant_of(principal, project.uid, at(seconds))
            .map(|grant| format!("{:?} {}", grant.role, grant.groups.to_vec().join(" ")))
    };
    let now = directory(&rows);
    // (principal, project, seconds, what it holds)
    let table = [
        (&bob, &one, 8, Some("Editor knowledge")),
        (&bob, &one, 9, None),
        (&bob, &two, 0, None),
        (&ada, &two, 0, Some("Owner ")),
        (&keys[0], &one, 0, Some("Agent default")),
        (&keys[0], &two, 0, None),
        (&keys[1], &one, 4, Some("Agent default")),
        (&keys[1], &one, 5, None),
        (&keys[2], &one, 6, Some("Agent default")),
        (&keys[2], &one, 7, None),
        (&subject, &two, 0, Some("Viewer web")),
        (&subject, &one, 0, None),
    ];
    for (principal, project, seconds, expected) in table {
        let found = held(&now, principal, project, seconds);
        assert_eq!(
            found.as_deref(),
            expected,
            "{principal} in {} at {seconds}",
            project.id
        );
    }
    rows.users[1].disabled_at = Some(at(3));
    let disabled = directory(&rows);
    assert!(held(&disabled, &bob, &one, 2).is_some());
    assert_eq!(held(&disabled, &bob, &one, 3), None);

    let terms = GrantTerms {
        role: Role::Owner,
        groups: Vec::new(),
        expires_at: None,
    };
    let changed = WithGrant::new(&now, one.uid, &bob, Some(terms.clone()));
    let grant = changed.grant_of(&bob, one.uid, at(100)).unwrap();
    assert_eq!((grant.role, grant.groups.is_empty()), (Role::Owner, true));
    assert_eq!(changed.grant_of(&bob, two.uid, at(0)), None);
    assert_eq!(
        changed.grant_of(&keys[0], one.uid, at(0)),
        now.grant_of(&keys[0], one.uid, at(0))
    );
    let taken = WithGrant::new(&now, one.uid, &bob, None);
    assert_eq!(taken.grant_of(&bob, one.uid, at(0)), None);
    let revoked = WithGrant::new(&now, one.uid, &keys[1], Some(terms));
    assert_eq!(
        revoked.grant_of(&keys[1], one.uid, at(5)),
        None,
        "a grant revives no key"
    );
}

#[tokio::test]
async fn roles_manage_and_grants_call() {
    let (one, two) = (project(1, "one"), project(2, "two"));
    let rows = rows();
    let directory = directory(&rows);
    let authenticator = own_only();
    // (user, project, role, groups); a user without a place in a project learns nothing of it.
    let table = [
        (1, &one, Some((Role::Owner, vec![]))),
        (1, &two, Some((Role::Owner, vec![]))),
        (2, &one, Some((Role::Editor, vec!["knowledge".to_owned()]))),
        (2, &two, None),
    ];
    for (user, project, expected) in table {
        let issued = authenticator
            .issue(&directory, user_id(user), Uuid::from_u128(user), at(0))
            .unwrap();
        let identity = authenticator
            .authenticate(&directory, issued.token.expose_secret(), at(0))
            .await
            .unwrap();
        let held = identity
            .grant(&directory, project, at(0))
            .map(|grant| (grant.role, grant.groups.to_vec()));
        assert_eq!(held, expected, "user {user} in {}", project.id);
    }
    assert_eq!(directory.projects_of(user_id(2)).collect::<Vec<_>>(), [one.uid]);
}

#[test]
fn the_directory_lists_keys_newest_first_and_refuses_contradictions() {
    let (one, two) = (project(1, "one"), project(2, "two"));
    let mut rows = rows();
    for (n, project) in [(1, &one), (2, &one), (3, &two)] {
        let mut row = key_row(n, &mint().unwrap(), project);
        row.created_at = at(0) + TimeDelta::seconds(i64::try_from(n).unwrap());
        rows.keys.push(row);
    }
    let directory = directory(&rows);
    let names: Vec<_> = directory.keys_of(one.uid).map(|key| key.name.as_str()).collect();
    assert_eq!(names, ["agent 2", "agent 1"]);
    assert_eq!(directory.key(rows.keys[2].id).unwrap().name, "agent 3");
    assert_eq!(directory.user_by_name("bob").unwrap().id, user_id(2));
    assert!(directory.user_by_name("Bob").is_none());

    let mut twice = rows.clone();
    twice.keys[1].prefix = twice.keys[0].prefix.clone();
    let error = Directory::from_rows(twice).unwrap_err().to_string();
    assert!(error.contains("prefix"), "{error}");
    let mut damaged = rows;
    damaged.signing_keys[0].pkcs8.truncate(20);
    let error = Directory::from_rows(damaged).unwrap_err().to_string();
    assert!(error.contains("PKCS#8"), "{error}");
}
