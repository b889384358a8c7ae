//! The use case "what groups are there": as the caller may see them.

use std::collections::HashMap;

use toolgate_api::groups::{ClosedBy, Group, GroupHolder, GroupUsage};
use toolgate_core::policy::ClosedGroup;
use toolgate_core::policy::groups::{ANY, parents};
use toolgate_core::principal::Permission;

use super::entry::Entry;
use super::labels::{Kind, Label, matches};
use super::load;
use crate::auth::grants::Holdings;
use crate::gateway::Gateway;

/// The most children that are listed.
const MAX_CHILDREN: usize = 200;
/// The most holders that are listed.
const MAX_HOLDERS: usize = 200;

impl Label for Group {
    const KIND: Kind = Kind::Group;

    fn name(&self) -> &str {
        &self.name
    }

    fn get(gateway: &Gateway, place: &Entry, name: &str) -> Option<Self> {
        Groups::new(gateway, place).get(name)
    }

    fn list(
        gateway: &Gateway,
        place: &Entry,
        after: Option<&str>,
        needle: Option<&str>,
        most: usize,
    ) -> Vec<Self> {
        let groups = Groups::new(gateway, place);
        let described = |name: &str| {
            let declared = place.project.snapshot.declared_group(name)?;
            Some(declared.label.description.as_str())
        };
        let names = groups.names.iter().copied();
        names
            .filter(|name| after.is_none_or(|after| *name > after))
            .filter(|name| matches(name, described(name), needle))
            .take(most)
            .map(|name| groups.group(name))
            .collect()
    }
}

/// The groups of a project through the eyes of one caller.
struct Groups<'a> {
    gateway: &'a Gateway,
    place: &'a Entry,
    /// Every group the caller may see, sorted.
    names: Vec<&'a str>,
    closed: HashMap<String, ClosedGroup>,
    reads_definitions: bool,
    reads_access: bool,
}

impl<'a> Groups<'a> {
    /// A role that reads definitions sees every group; others see those that their grant covers.
    fn new(gateway: &'a Gateway, place: &'a Entry) -> Self {
        let snapshot = &place.project.snapshot;
        let reads_definitions = place.may(Permission::ReadDefinitions);
        let granted = &place.grant.groups;
        let now = gateway.clock.now();
        let principal = &place.caller.identity.principal;
        let evaluation = load::evaluation(&place.project, now, principal, None);
        Self {
            gateway,
            place,
            names: snapshot
                .group_names()
                .into_iter()
                .filter(|name| reads_definitions || granted.covers(name))
                .collect(),
            closed: snapshot
                .closed_groups(&evaluation)
                .into_iter()
                .map(|closed| (closed.group.clone(), closed))
                .collect(),
            reads_definitions,
            reads_access: place.may(Permission::ReadAccess),
        }
    }

    /// One group; `None` when there is none that the caller may see.
    fn get(&self, name: &str) -> Option<Group> {
        self.names.binary_search(&name).ok()?;
        let mut group = self.group(name);
        if self.reads_access {
            let holders = self.holders(name);
            group.holder_count = Some(holders.len() as u64);
            group.holders = Some(holders.into_iter().take(MAX_HOLDERS).collect());
        }
        Some(group)
    }

    /// One of the names for a list.
    fn group(&self, name: &str) -> Group {
        let snapshot = &self.place.project.snapshot;
        let declared = snapshot.declared_group(name).map(|group| &group.label);
        let closed = std::iter::once(name)
            .chain(parents(name))
            .find_map(|name| self.closed.get(name));
        let (tools, tools_with_children) = snapshot.group_size(name);
        let (listed_tools, tokens) = snapshot.group_cost(name);
        let for_readers = |declared: Option<String>| declared.filter(|_| self.reads_definitions);
        let usage = self
            .gateway
            .observer
            .usage()
            .group(self.place.project.row.uid, name)
            .filter(|_| self.reads_definitions);
        Group {
            name: name.to_owned(),
            description: declared.map_or_else(String::new, |label| label.description.clone()),
            condition: for_readers(declared.and_then(|label| label.condition.clone())),
            declared: declared.is_some(),
            open: closed.is_none(),
            closed_by: closed.filter(|_| self.reads_definitions).map(|closed| ClosedBy {
                group: closed.condition_of.clone(),
                reason: closed.because.to_string(),
            }),
            tools,
            tools_with_children,
            listed_tools,
            tokens,
            parent: parents(name)
                .find(|parent| self.names.binary_search(parent).is_ok())
                .map(str::to_owned),
            children: self.children(name),
            holder_count: self.reads_access.then(|| self.holders(name).len() as u64),
            holders: None,
            usage: usage.map(|used| GroupUsage {
                counts: used.counts,
                last_at: used.last_at,
            }),
            updated_at: declared.map(|label| label.updated_at),
            updated_by: for_readers(declared.map(|label| label.updated_by.clone())),
        }
    }

    /// The names one level below.
    fn children(&self, name: &str) -> Vec<String> {
        let below = format!("{name}/");
        let start = self.names.partition_point(|other| *other < below.as_str());
        self.names[start..]
            .iter()
            .take_while(|other| other.starts_with(&below))
            .filter(|other| parents(other).next() == Some(name))
            .take(MAX_CHILDREN)
            .map(|&other| other.to_owned())
            .collect()
    }

    /// Every principal whose grant covers the group now, sorted by principal.
    fn holders(&self, name: &str) -> Vec<GroupHolder> {
        let project = &self.place.project.row;
        let directory = &self.place.caller.server_snapshot.directory;
        let now = self.place.caller.now;
        let mut holders: Vec<GroupHolder> = directory
            .grants_of(project.uid)
            .iter()
            .filter_map(|stored| {
                let grant = directory.grant_of(&stored.principal, project.uid, now)?;
                let via = std::iter::once(name)
                    .chain(parents(name))
                    .chain([ANY])
                    .find(|holder| grant.groups.iter().any(|held| held == *holder))?;
                Some(GroupHolder {
                    principal: stored.principal.to_string(),
                    name: directory.name_of(&stored.principal),
                    role: grant.role,
                    via: via.to_owned(),
                })
            })
            .collect();
        holders.sort_by(|a, b| a.principal.cmp(&b.principal));
        holders
    }
}
