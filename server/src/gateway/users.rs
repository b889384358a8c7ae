//! Creating, changing and deleting users, and their passwords: always on the record of the server, and on that of every
//! project where the user holds something.

mod enabling;

use std::collections::HashSet;
use std::sync::Arc;

use secrecy::{ExposeSecret, SecretString};
use serde_json::{Map, Value, json};
use toolgate_api::users::UpdateUser;
use toolgate_api::{Diagnostic, ErrorCode};
use toolgate_core::ids::UserId;
use toolgate_core::principal::PrincipalRef;
use toolgate_core::readable::name_fault;
use toolgate_store::StoreError;
use toolgate_store::rows::{Opening, RevokedTokenRow, UserChange, UserIdentity, UserRow};

use self::enabling::Enabling;
use super::access::{self, Actor, Place};
use super::change_record::differing;
use super::policy_tests;
use super::server_snapshot::{ProjectState, ServerSnapshot};
use crate::auth::password::{self, MAX_PASSWORD_BYTES, PasswordError};
use crate::auth::strength;
use crate::gateway::{Gateway, Problem};

/// A password that was chosen or made.
pub struct NewPassword {
    /// What to store.
    pub hash: String,
    /// What was made, to be shown once; `None` when it was chosen.
    pub generated: Option<SecretString>,
}

/// What is wrong with a user name, if anything.
#[must_use]
pub fn check_username(name: &str) -> Option<Diagnostic> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-' | b'+' | b'@');
    let valid = (1..=64).contains(&name.len())
        && name.bytes().all(plain)
        && name.starts_with(|first: char| first.is_ascii_alphanumeric());
    (!valid).then(|| {
        Diagnostic::error(
            "a user name has 1-64 letters, digits, '.', '_', '-', '+' and '@', and starts with a letter or a digit",
        )
        .at_pointer("/username")
    })
}

/// What is wrong with a name for people, if anything.
#[must_use]
pub fn check_display_name(name: Option<&str>) -> Option<Diagnostic> {
    // An empty one removes the name.
    let name = name.map(str::trim).filter(|name| !name.is_empty())?;
    name_fault(name, 100).map(|fault| Diagnostic::error(fault).at_pointer("/display_name"))
}

/// What is wrong with a password that was chosen for the user of these names, if anything.
///
/// # Errors
/// 503 when too many passwords are being looked at.
pub async fn check_password(
    gateway: &Gateway,
    password: Option<&str>,
    names: &[Option<&str>],
    pointer: &str,
) -> Result<Option<Diagnostic>, Problem> {
    let Some(password) = password else { return Ok(None) };
    let length = password.chars().count();
    if length < strength::SHORTEST || password.len() > MAX_PASSWORD_BYTES {
        let fault = Diagnostic::error("a password has 12 characters to 1024 bytes");
        return Ok(Some(fault.at_pointer(pointer.to_owned())));
    }
    let names = names.iter().copied().flatten().map(str::to_owned).collect();
    let weakness = gateway
        .passwords
        .weakness(SecretString::from(password), names)
        .await?;
    Ok(weakness.map(|why| {
        Diagnostic::error(format!("this password is too easy to guess: {why}"))
            .hint("Use several words that are not related, or a password made by a password manager.")
            .at_pointer(pointer.to_owned())
    }))
}

/// 422 with every fault, if there is any.
pub fn refuse(faults: impl IntoIterator<Item = Option<Diagnostic>>) -> Result<(), Problem> {
    let faults: Vec<Diagnostic> = faults.into_iter().flatten().collect();
    if faults.is_empty() {
        return Ok(());
    }
    Err(Problem::new(
        ErrorCode::InvalidRequest,
        "This cannot be stored like this; `errors` names every fault.",
    )
    .errors(faults))
}

/// Hashes the given password, or makes one.
pub async fn new_password(gateway: &Gateway, given: Option<String>) -> Result<NewPassword, Problem> {
    let (password, generated) = match given {
        Some(given) => (SecretString::from(given), None),
        None => {
            let made = password::generate_password().map_err(|error| Problem::internal(&error))?;
            (made.clone(), Some(made))
        }
    };
    let hash = gateway.passwords.hash(password).await?;
    Ok(NewPassword { hash, generated })
}

impl From<PasswordError> for Problem {
    fn from(error: PasswordError) -> Self {
        match error {
            PasswordError::Busy => Self::new(
                ErrorCode::Unavailable,
                "Too many people sign in at once. Try again shortly.",
            )
            .retry_after(1),
            other => Self::internal(&other),
        }
    }
}

impl NewPassword {
    /// What was made, for the one answer that shows it.
    #[must_use]
    pub fn shown(&self) -> Option<String> {
        self.generated
            .as_ref()
            .map(|made| made.expose_secret().to_owned())
    }
}

/// Creates a user.
pub async fn create(gateway: &Arc<Gateway>, actor: Actor<'_>, row: UserRow) -> Result<Arc<UserRow>, Problem> {
    let mut what = what("user_created", &row);
    what.insert("system_admin".to_owned(), json!(row.system_admin));
    let openings = vec![of_server(gateway, actor, what)];
    let (store, id) = (gateway.store.clone(), row.id);
    access::carry_out(gateway, openings, async move {
        match store.create_user(&row).await {
            Ok(_) => Ok(()),
            Err(StoreError::Conflict { .. }) => Err(Problem::new(
                ErrorCode::Conflict,
                format!(
                    "There is a user \"{}\" already. Choose another name.",
                    row.username
                ),
            )),
            Err(error) => Err(error.into()),
        }
    })
    .await?;
    find(&gateway.snapshots.now(), id)
}

/// A user of the directory.
pub fn find(server_snapshot: &ServerSnapshot, id: UserId) -> Result<Arc<UserRow>, Problem> {
    let user = server_snapshot.directory.user(id).cloned();
    user.ok_or_else(|| Problem::not_found(format!("user {id}")))
}

/// The user as the database has it now, after `precondition` has agreed with it.
async fn fresh(
    gateway: &Gateway,
    id: UserId,
    precondition: impl Fn(&UserRow) -> Result<(), Problem>,
) -> Result<(Arc<ServerSnapshot>, Arc<UserRow>), Problem> {
    gateway.snapshots.refresh().await?;
    let server_snapshot = gateway.snapshots.now();
    let user = find(&server_snapshot, id)?;
    precondition(&user)?;
    Ok((server_snapshot, user))
}

/// Changes a user. Disabling one is never held up, but what it breaks of a project's expectations is on its record; a user
/// is let in again only if that breaks none, or is meant to.
pub async fn update(
    gateway: &Arc<Gateway>,
    actor: Actor<'_>,
    id: UserId,
    request: UpdateUser,
    ignore_policy_tests: bool,
    precondition: impl Fn(&UserRow) -> Result<(), Problem>,
) -> Result<Arc<UserRow>, Problem> {
    let (server_snapshot, user) = fresh(gateway, id, precondition).await?;
    let is_disabled = user.disabled_at.is_some();
    let change = UserChange {
        display_name: request.display_name.map(|name| {
            let name = name.trim().to_owned();
            (!name.is_empty()).then_some(name)
        }),
        disabled_at: request
            .disabled
            .filter(|&disabled| disabled != is_disabled)
            .map(|disabled| disabled.then(|| gateway.clock.now())),
        system_admin: request.system_admin.filter(|&admin| admin != user.system_admin),
        second_factor_required: request
            .second_factor_required
            .filter(|&required| required != user.second_factor_required),
        identity: None,
    };
    let concerns_access = change.disabled_at.is_some() || change.system_admin.is_some();
    if !concerns_access && change.display_name.is_none() && change.second_factor_required.is_none() {
        return Ok(user);
    }
    let mut what = what("user", &user);
    what.insert(
        "disabled".to_owned(),
        json!(change.disabled_at.map(|at| at.is_some())),
    );
    what.insert("system_admin".to_owned(), json!(change.system_admin));
    let (before, after) = sides(&user, &change);
    what.insert("before".to_owned(), before);
    what.insert("after".to_owned(), after);
    let enabling = (change.disabled_at == Some(None)).then_some(Enabling {
        user: id,
        ignore_policy_tests,
    });
    let judged = enabling
        .map(|enabling| enabling.judge(gateway, &server_snapshot))
        .transpose();
    let judged = match judged {
        Ok(judged) => judged.unwrap_or_default(),
        Err(refusal) => {
            let opening = of_server(gateway, actor, what);
            return Err(access::refused(gateway, opening, refusal).await?);
        }
    };
    let principal = PrincipalRef::user(id);
    let disables = matches!(change.disabled_at, Some(Some(_)));
    let openings = if concerns_access {
        openings(
            gateway,
            actor,
            &server_snapshot,
            &user,
            what,
            |project| match disables {
                true => policy_tests::foretold(gateway, &server_snapshot, project, &principal),
                false => judged.said(project),
            },
        )
    } else {
        // A name for people or how to sign in: of no concern to projects.
        vec![of_server(gateway, actor, what)]
    };
    tracing::info!(
        user = %id, by = %actor.identity.principal.id, disabled = ?change.disabled_at, system_admin = ?change.system_admin,
        "a user is changed"
    );
    let (task, revision) = (Arc::clone(gateway), user.revision);
    access::carry_out(gateway, openings, async move {
        let stored = enabling::store(&task, id, revision, &change, enabling, judged);
        stored.await
    })
    .await?;
    find(&gateway.snapshots.now(), id)
}

/// Says who a user is at an OpenID Connect provider, at which it signs in from now on.
///
/// # Errors
/// When the user has changed meanwhile.
pub async fn identify(
    gateway: &Arc<Gateway>,
    actor: Actor<'_>,
    user: &UserRow,
    identity: UserIdentity,
) -> Result<Arc<UserRow>, Problem> {
    let mut what = what("user", user);
    what.insert("signs_in_at".to_owned(), json!(identity.issuer));
    let openings = vec![of_server(gateway, actor, what)];
    let change = UserChange {
        identity: Some(identity),
        ..UserChange::default()
    };
    let (store, id, revision) = (gateway.store.clone(), user.id, user.revision);
    access::carry_out(gateway, openings, async move {
        let stored = store.update_user(id, revision, &change, &[]).await;
        stored.map_err(changed_meanwhile)
    })
    .await?;
    find(&gateway.snapshots.now(), id)
}

/// Deletes a user with all grants. What that breaks of a project's expectations is on its record.
pub async fn delete(
    gateway: &Arc<Gateway>,
    actor: Actor<'_>,
    id: UserId,
    precondition: impl Fn(&UserRow) -> Result<(), Problem>,
) -> Result<(), Problem> {
    let (server_snapshot, user) = fresh(gateway, id, precondition).await?;
    let mut what = what("user", &user);
    what.insert("deleted".to_owned(), json!(true));
    let principal = PrincipalRef::user(id);
    let openings = openings(gateway, actor, &server_snapshot, &user, what, |project| {
        policy_tests::foretold(gateway, &server_snapshot, project, &principal)
    });
    tracing::info!(user = %id, by = %actor.identity.principal.id, "a user is deleted");
    let (store, revision) = (gateway.store.clone(), user.revision);
    access::carry_out(gateway, openings, async move {
        let deleted = store.delete_user(id, revision).await;
        deleted.map_err(changed_meanwhile)
    })
    .await
}

/// Replaces a user's password and ends the user's sign-ins. One's own is changed, that of another user is reset.
pub async fn set_password(
    gateway: &Arc<Gateway>,
    actor: Actor<'_>,
    user: &UserRow,
    hash: String,
) -> Result<(), Problem> {
    let own = PrincipalRef::user(user.id) == PrincipalRef::from(&actor.identity.principal);
    let change = if own { "password_changed" } else { "password_reset" };
    let openings = vec![of_server(gateway, actor, what(change, user))];
    tracing::info!(user = %user.id, by = %actor.identity.principal.id, "a password is replaced");
    let (store, id) = (gateway.store.clone(), user.id);
    access::carry_out(gateway, openings, async move {
        match store.set_password(id, &hash).await? {
            true => Ok(()),
            false => Err(Problem::not_found(format!("user {id}"))),
        }
    })
    .await
}

/// What a change of a user changes, before and after.
fn sides(user: &UserRow, change: &UserChange) -> (Value, Value) {
    let side = |name: Option<&String>, disabled: bool, admin: bool, second_factor: bool| {
        json!({
            "display_name": name,
            "disabled": disabled,
            "system_admin": admin,
            "second_factor_required": second_factor,
        })
    };
    let is_disabled = user.disabled_at.is_some();
    let before = side(
        user.display_name.as_ref(),
        is_disabled,
        user.system_admin,
        user.second_factor_required,
    );
    let name = change.display_name.as_ref().unwrap_or(&user.display_name);
    let disabled = change.disabled_at.map_or(is_disabled, |at| at.is_some());
    let after = side(
        name.as_ref(),
        disabled,
        change.system_admin.unwrap_or(user.system_admin),
        change
            .second_factor_required
            .unwrap_or(user.second_factor_required),
    );
    differing(before, after)
}

/// Ends one sign-in of a user, on the record.
pub async fn sign_out(
    gateway: &Arc<Gateway>,
    actor: Actor<'_>,
    token: RevokedTokenRow,
) -> Result<(), Problem> {
    let principal = &actor.identity.principal;
    let what = json!({
        "change": "signed_out",
        "principal": PrincipalRef::from(principal).to_string(),
        "principal_name": principal.name,
    });
    let (store, openings) = (
        gateway.store.clone(),
        vec![access::server_opening(gateway, actor, &what)],
    );
    access::carry_out(
        gateway,
        openings,
        async move { Ok(store.revoke_token(&token).await?) },
    )
    .await
}

/// What is recorded about a change of a user.
pub(super) fn what(change: &str, user: &UserRow) -> Map<String, Value> {
    let mut what = Map::new();
    what.insert("change".to_owned(), json!(change));
    what.insert(
        "principal".to_owned(),
        json!(PrincipalRef::user(user.id).to_string()),
    );
    what.insert("principal_name".to_owned(), json!(user.username));
    what
}

pub(super) fn of_server(gateway: &Gateway, actor: Actor<'_>, what: Map<String, Value>) -> Opening {
    access::server_opening(gateway, actor, &Value::Object(what))
}

/// A record for the server, and one for every project where the user holds something, because what is held there changes.
fn openings(
    gateway: &Gateway,
    actor: Actor<'_>,
    server_snapshot: &Arc<ServerSnapshot>,
    user: &UserRow,
    what: Map<String, Value>,
    said: impl Fn(&ProjectState) -> Option<String>,
) -> Vec<Opening> {
    let now = gateway.clock.now();
    let of_projects = projects_of(server_snapshot, user.id).filter_map(|project| {
        let place = Place {
            server_snapshot: Arc::clone(server_snapshot),
            project: Arc::clone(project),
            grant: actor
                .identity
                .grant(&server_snapshot.directory, &project.row, now)?,
            now,
        };
        let what = access::noted(Value::Object(what.clone()), said(project));
        Some(access::opening(gateway, &place, actor, &what))
    });
    let mut openings: Vec<Opening> = of_projects.collect();
    openings.push(of_server(gateway, actor, what));
    openings
}

/// The projects that are not deleted and where a user has a grant.
fn projects_of(server_snapshot: &ServerSnapshot, user: UserId) -> impl Iterator<Item = &Arc<ProjectState>> {
    let concerned: HashSet<_> = server_snapshot.directory.projects_of(user).collect();
    server_snapshot
        .projects()
        .filter(move |project| concerned.contains(&project.row.uid))
}

fn changed_meanwhile(error: StoreError) -> Problem {
    match error {
        StoreError::VersionConflict => Problem::new(
            ErrorCode::PreconditionFailed,
            "The user has changed since it was read. Read it again and merge.",
        ),
        StoreError::NotFound { .. } => Problem::not_found("such user"),
        other => other.into(),
    }
}
