//! The user of a person whom a provider has named: made at the first sign-in, and what it holds brought up to date at every one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use toolgate_api::ErrorCode;
use toolgate_api::permissions::{GrantTerms, GrantedGroup};
use toolgate_api::users::UpdateUser;
use toolgate_core::ids::{ProjectId, UserId};
use toolgate_core::policy::groups::GroupSet;
use toolgate_core::principal::{Principal, PrincipalKind, PrincipalRef, Role};
use toolgate_store::rows::{UserIdentity, UserRow};

use super::provider::{Person, Provider};
use crate::auth::authenticator::{Credential, Identity};
use crate::config::ProjectRule;
use crate::gateway::access::{self, Actor};
use crate::gateway::entry::Origin;
use crate::gateway::users::{self, check_display_name, check_username};
use crate::gateway::{Gateway, Problem};

/// The user of a person, who may sign in.
///
/// # Errors
/// 403 for a user who is disabled, whose name cannot be a user name here, or is that of another user.
pub(super) async fn user(
    gateway: &Arc<Gateway>,
    provider: &Provider,
    origin: &Origin,
    person: Person,
) -> Result<UserId, Problem> {
    gateway.snapshots.refresh().await?;
    let administration = administration(gateway, provider);
    let actor = Actor {
        identity: &administration,
        origin,
    };
    let identity = UserIdentity {
        issuer: provider.issuer().to_owned(),
        subject: person.subject.clone(),
    };
    let user = match known(gateway, &identity) {
        Some(user) => user,
        None => join(gateway, provider, actor, &person, identity).await?,
    };
    if user.disabled_at.is_some() {
        return Err(Problem::new(
            ErrorCode::Forbidden,
            format!(
                "The user \"{}\" is disabled. An administrator can enable it.",
                user.username
            ),
        ));
    }
    keep_administration(gateway, provider, actor, &user, &person).await?;
    keep_grants(gateway, provider, actor, &user, &person).await?;
    Ok(user.id)
}

fn known(gateway: &Gateway, identity: &UserIdentity) -> Option<Arc<UserRow>> {
    let snapshot = gateway.snapshots.now();
    let mut users = snapshot.directory.users();
    users
        .find(|user| user.identity.as_ref() == Some(identity))
        .cloned()
}

/// Takes over the user of the same name, where the configuration says so, or makes one.
async fn join(
    gateway: &Arc<Gateway>,
    provider: &Provider,
    actor: Actor<'_>,
    person: &Person,
    identity: UserIdentity,
) -> Result<Arc<UserRow>, Problem> {
    let refused = |detail: String| Problem::new(ErrorCode::Forbidden, detail);
    let claim = &provider.config.username_claim;
    let name = person.username.clone().ok_or_else(|| {
        refused(format!(
            "The provider sends no claim \"{claim}\", which is to be the user name here."
        ))
    })?;
    if check_username(&name).is_some() {
        return Err(refused(format!(
            "The claim \"{claim}\" of the provider cannot be a user name here: it takes 1-64 letters, digits, '.', '_', '-', '+' and '@'."
        )));
    }
    let namesake = {
        let snapshot = gateway.snapshots.now();
        let mut users = snapshot.directory.users();
        users.find(|user| user.username == name).cloned()
    };
    match namesake {
        Some(user) if provider.config.adopt_users && user.identity.is_none() => {
            users::identify(gateway, actor, &user, identity).await
        }
        Some(_) => Err(refused(format!(
            "There is another user \"{name}\" here. An administrator can delete that user, or set adopt_users for this provider."
        ))),
        None => {
            let password = users::new_password(gateway, None).await?;
            let display_name = person.name.as_deref().map(|name| name.trim().to_owned());
            let row = UserRow {
                id: UserId(gateway.clock.new_id()),
                username: name,
                display_name: display_name
                    .filter(|name| !name.is_empty() && check_display_name(Some(name)).is_none()),
                // Random and shown to no person: this user signs in at the provider.
                password_hash: password.hash,
                token_generation: 0,
                system_admin: false,
                disabled_at: None,
                second_factor_at: None,
                second_factor_required: false,
                identity: Some(identity.clone()),
                created_at: gateway.clock.now(),
                revision: 0,
            };
            match Box::pin(users::create(gateway, actor, row)).await {
                // Another request of the same person was faster.
                Err(problem) if problem.code() == ErrorCode::Conflict => {
                    gateway.snapshots.refresh().await?;
                    known(gateway, &identity).ok_or(problem)
                }
                created => created,
            }
        }
    }
}

/// Whether it is a system administrator, where the configuration decides that.
async fn keep_administration(
    gateway: &Arc<Gateway>,
    provider: &Provider,
    actor: Actor<'_>,
    user: &UserRow,
    person: &Person,
) -> Result<(), Problem> {
    let admins = &provider.config.system_admins;
    let is_admin = is_in(&person.groups, admins);
    if admins.is_empty() || is_admin == user.system_admin {
        return Ok(());
    }
    let change = UpdateUser {
        system_admin: Some(is_admin),
        ..UpdateUser::default()
    };
    Box::pin(users::update(gateway, actor, user.id, change, true, |_| Ok(())))
        .await
        .map(|_| ())
}

/// Gives what the rules say and takes what they do not say any more. What a person has given or changed stays.
async fn keep_grants(
    gateway: &Arc<Gateway>,
    provider: &Provider,
    actor: Actor<'_>,
    user: &UserRow,
    person: &Person,
) -> Result<(), Problem> {
    let principal = PrincipalRef::user(user.id);
    for (project, terms) in by_project(&provider.config.projects, &person.groups) {
        let snapshot = gateway.snapshots.now();
        // A project of the configuration may not be there yet.
        let Some(project) = snapshot.project(project.as_str()) else {
            continue;
        };
        let current = snapshot.directory.stored_grant(&principal, project.row.uid);
        let is_ours = current.is_none_or(|grant| grant.granted_by == actor.identity.principal.name);
        if !is_ours || current.map(|grant| grant.terms()) == terms.as_ref() {
            continue;
        }
        match terms {
            Some(terms) => {
                access::put(gateway, actor, project, &principal, terms, |_| Ok(()), true).await?;
            }
            None => access::delete(gateway, actor, project, &principal, |_| Ok(()), true).await?,
        }
    }
    Ok(())
}

/// What the rules give in each project that they name: the groups of all that apply, and the role of the first.
fn by_project<'r>(
    rules: &'r [ProjectRule],
    groups: &GroupSet,
) -> BTreeMap<&'r ProjectId, Option<GrantTerms>> {
    let mut found: BTreeMap<&ProjectId, Option<(Role, BTreeSet<&str>)>> = BTreeMap::new();
    for rule in rules {
        let given = found.entry(&rule.project).or_default();
        if rule.when.as_ref().is_none_or(|when| is_in(groups, when)) {
            let (_, names) = given.get_or_insert_with(|| (rule.role, BTreeSet::new()));
            names.extend(rule.groups.iter().map(String::as_str));
        }
    }
    let terms = |(role, names): (Role, BTreeSet<&str>)| GrantTerms {
        role,
        groups: names
            .into_iter()
            .map(|name| GrantedGroup {
                group: name.to_owned(),
                expires_at: None,
            })
            .collect(),
        expires_at: None,
    };
    found
        .into_iter()
        .map(|(project, given)| (project, given.map(terms)))
        .collect()
}

fn is_in(groups: &GroupSet, names: &[String]) -> bool {
    groups.iter().any(|group| names.iter().any(|name| name == group))
}

/// Who changes users and grants at a sign-in: the operator's configuration, in the name of the provider.
fn administration(gateway: &Gateway, provider: &Provider) -> Identity {
    let projects: Vec<ProjectId> = provider
        .config
        .projects
        .iter()
        .map(|rule| rule.project.clone())
        .collect();
    Identity {
        principal: Principal {
            kind: PrincipalKind::External,
            id: format!("toolgate|sign-in {}", provider.config.id),
            name: format!("sign-in {}", provider.config.id),
        },
        credential: Credential::External {
            groups: GroupSet::default(),
            role: Role::Owner,
            projects: projects.into(),
            token: None,
            expires_at: gateway.clock.now(),
        },
        system_admin: true,
    }
}
