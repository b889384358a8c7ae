//! Grants with groups that their principals do not ask for.

use std::collections::HashMap;

use chrono::{DateTime, TimeDelta, Utc};
use toolgate_api::permissions::{GrantedGroup, UnusedGrant, UnusedGrants, UnusedGroup};
use toolgate_core::ids::{KeyId, UserId};
use toolgate_core::policy::grants::stands;
use toolgate_core::policy::groups::{ANY, parents};
use toolgate_core::principal::{PrincipalKind, PrincipalRef};

use crate::auth::directory::Directory;
use crate::auth::grants::StoredGrant;
use crate::gateway::server_snapshot::{ProjectState, ServerSnapshot};
use crate::gateway::{Gateway, Problem, observe};

/// Grants of one answer.
const MOST: usize = 1000;

/// The grants of a project that were made before a time and hold groups that were not asked for since, with `tag` as their entity
/// tag. A group is used when it or a child is asked for, by a call or by a question what is available. Grants of those who cannot
/// use them any more are left out.
///
/// # Errors
/// When the database does not answer.
pub async fn unused(
    gateway: &Gateway,
    server_snapshot: &ServerSnapshot,
    project: &ProjectState,
    age: TimeDelta,
    tag: impl Fn(&StoredGrant) -> String,
) -> Result<UnusedGrants, Problem> {
    let (now, uid) = (gateway.clock.now(), project.row.uid);
    let since = now - age;
    if let Err(error) = observe::flush(gateway).await {
        tracing::debug!(
            cause = format!("{error:#}"),
            "the latest uses of groups are not known"
        );
    }
    let mut uses: HashMap<String, Vec<(String, DateTime<Utc>)>> = HashMap::new();
    for row in gateway.store.group_uses_of(uid).await? {
        uses.entry(row.principal)
            .or_default()
            .push((row.group, row.last_at));
    }
    let directory = &server_snapshot.directory;
    let mut items: Vec<UnusedGrant> = Vec::new();
    for stored in directory.grants_of(uid) {
        if stored.granted_at > since
            || stored.at(now).is_none()
            || !is_usable(directory, &stored.principal, now)
        {
            continue;
        }
        let principal = stored.principal.to_string();
        let used = uses.get(&principal).map(Vec::as_slice).unwrap_or_default();
        let groups = stored.terms().groups.iter();
        let mut unused: Vec<UnusedGroup> = groups
            .filter(|granted| stands(granted.expires_at, now))
            .map(|granted| last_use(granted, used))
            .filter(|group| group.last_used_at.is_none_or(|at| at < since))
            .collect();
        if unused.is_empty() {
            continue;
        }
        unused.sort_by(|a, b| a.group.cmp(&b.group));
        items.push(UnusedGrant {
            principal,
            kind: stored.principal.kind,
            name: directory.name_of(&stored.principal),
            unused,
            grant: stored.terms().clone(),
            granted_at: stored.granted_at,
            etag: tag(stored),
        });
    }
    items.sort_by(|a, b| (&a.name, &a.principal).cmp(&(&b.name, &b.principal)));
    let more = items.len() > MOST;
    items.truncate(MOST);
    Ok(UnusedGrants { since, items, more })
}

/// When a granted group was last asked for, by its name or that of a child.
fn last_use(granted: &GrantedGroup, used: &[(String, DateTime<Utc>)]) -> UnusedGroup {
    let covers = |name: &str| {
        let is_it = |name: &str| name == granted.group;
        granted.group == ANY || is_it(name) || parents(name).any(is_it)
    };
    let times = used.iter().filter(|(name, _)| covers(name));
    UnusedGroup {
        group: granted.group.clone(),
        last_used_at: times.map(|(_, at)| *at).max(),
    }
}

/// Whether the principal could use its grant now.
fn is_usable(directory: &Directory, principal: &PrincipalRef, now: DateTime<Utc>) -> bool {
    let id = principal.uuid();
    match principal.kind {
        PrincipalKind::User => {
            let user = id.and_then(|id| directory.user(UserId(id)));
            user.is_some_and(|user| user.disabled_at.is_none())
        }
        PrincipalKind::ServiceKey => {
            let key = id.and_then(|id| directory.key(KeyId(id)));
            key.is_some_and(|key| key.revoked_at.is_none() && stands(key.expires_at, now))
        }
        PrincipalKind::External => true,
    }
}
