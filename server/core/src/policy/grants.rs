//! Grants over time: what a grant gives at a time, by which grants a group is held, and what its holder may grant to
//! others.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use toolgate_api::auth::Role;
use toolgate_api::permissions::{GrantTerms, GrantedGroup, HowGranted};

use super::groups::{ANY, GroupSet, parents};
use crate::principal::{Grant, may_give};

/// When something expires; `None` is never.
pub type End = Option<DateTime<Utc>>;

/// Whether something with this end is in force at `now`.
#[must_use]
pub fn stands(end: End, now: DateTime<Utc>) -> bool {
    end.is_none_or(|end| now < end)
}

/// The earlier of two ends.
#[must_use]
pub fn earlier(a: End, b: End) -> End {
    match (a, b) {
        (None, end) | (end, None) => end,
        (Some(a), Some(b)) => Some(a.min(b)),
    }
}

/// Whether `a` is not after `b`.
fn within(a: End, b: End) -> bool {
    match (a, b) {
        (_, None) => true,
        (None, Some(_)) => false,
        (Some(a), Some(b)) => a <= b,
    }
}

/// What the terms of a grant give at a moment; `None` when the whole grant has expired.
#[must_use]
pub fn at(terms: &GrantTerms, now: DateTime<Utc>) -> Option<Grant> {
    stands(terms.expires_at, now).then(|| Grant {
        role: terms.role,
        groups: terms
            .groups
            .iter()
            .filter(|granted| stands(granted.expires_at, now))
            .map(|granted| granted.group.as_str())
            .collect(),
    })
}

/// The first moment at which the terms give less than they do now; `None` when nothing in them is still to expire.
#[must_use]
pub fn next_end(terms: &GrantTerms, now: DateTime<Utc>) -> End {
    let ends = terms.groups.iter().map(|granted| granted.expires_at);
    ends.chain([terms.expires_at])
        .flatten()
        .filter(|&end| now < end)
        .min()
}

/// The terms of a grant, prepared so that reading them at every request is cheap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreparedGrant {
    terms: GrantTerms,
    /// What the terms give before the first of them expires.
    whole: Grant,
    /// When the first of them expires.
    until: End,
}

impl PreparedGrant {
    /// Prepares terms.
    #[must_use]
    pub fn new(terms: GrantTerms) -> Self {
        let names = terms.groups.iter().map(|granted| granted.group.as_str());
        Self {
            whole: Grant {
                role: terms.role,
                groups: names.collect::<GroupSet>(),
            },
            until: next_end(&terms, DateTime::<Utc>::MIN_UTC),
            terms,
        }
    }

    /// The terms.
    #[must_use]
    pub fn terms(&self) -> &GrantTerms {
        &self.terms
    }

    /// What it gives at a moment. Without a copy of the names, unless some of them have expired.
    #[must_use]
    pub fn at(&self, now: DateTime<Utc>) -> Option<Grant> {
        if stands(self.until, now) {
            Some(self.whole.clone())
        } else {
            at(&self.terms, now)
        }
    }
}

/// How a group is covered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Coverage<'a> {
    /// How.
    pub how: HowGranted,
    /// The name in the grant that covers it.
    pub via: &'a str,
    /// When that ends, or has ended.
    pub end: End,
}

/// The groups of a grant with the end of each, for many questions about one moment.
#[derive(Debug, Clone, Default)]
pub struct Ends<'a> {
    by_name: HashMap<&'a str, End>,
}

impl<'a> Ends<'a> {
    /// Of a grant: no group outlives it.
    #[must_use]
    pub fn of(terms: &'a GrantTerms) -> Self {
        Self::new(&terms.groups, terms.expires_at)
    }

    /// Of groups that all end with `whole` at the latest. Of two entries for a group the later end counts.
    #[must_use]
    pub fn new(groups: &'a [GrantedGroup], whole: End) -> Self {
        let mut ends = Self::default();
        for granted in groups {
            ends.add(&granted.group, earlier(granted.expires_at, whole));
        }
        ends
    }

    /// Adds a group.
    pub fn add(&mut self, group: &'a str, end: End) {
        let known = self.by_name.entry(group).or_insert(end);
        if !within(end, *known) {
            *known = end;
        }
    }

    /// How a group is covered now; `None` when it is not and never was. By itself before by a parent, by the nearest
    /// parent before `*`; what has expired comes last.
    #[must_use]
    pub fn coverage(&self, group: &str, now: DateTime<Utc>) -> Option<Coverage<'a>> {
        let covering = || self.covering(group);
        let prepared = covering().find(|covered| stands(covered.end, now));
        prepared.or_else(|| {
            let expired = |covered: Coverage<'a>| Coverage {
                how: HowGranted::Expired,
                ..covered
            };
            covering().next().map(expired)
        })
    }

    /// Until when a group is covered; `None` when it is not covered now.
    #[must_use]
    pub fn covered_until(&self, group: &str, now: DateTime<Utc>) -> Option<End> {
        let ends = self.covering(group).map(|covered| covered.end);
        ends.filter(|&end| stands(end, now))
            .reduce(|a, b| if within(a, b) { b } else { a })
    }

    fn covering<'s>(&'s self, group: &'s str) -> impl Iterator<Item = Coverage<'a>> + 's {
        let (none, parents) = if group == ANY {
            (None, None)
        } else {
            (Some((HowGranted::Any, ANY)), Some(parents(group)))
        };
        let parents = parents
            .into_iter()
            .flatten()
            .map(|name| (HowGranted::Parent, name));
        [(HowGranted::Direct, group)]
            .into_iter()
            .chain(parents)
            .chain(none)
            .filter_map(|(how, name)| {
                let (&via, &end) = self.by_name.get_key_value(name)?;
                Some(Coverage { how, via, end })
            })
    }
}

/// What the principal holds that wants to grant something.
#[derive(Debug, Clone)]
pub enum Granter<'a> {
    /// A system administrator may grant anything.
    SystemAdmin,
    /// Others grant no more than they hold, and no longer.
    Holder {
        /// The role.
        role: Role,
        /// Until when it is held.
        role_end: End,
        /// The groups.
        groups: Ends<'a>,
    },
}

/// What a grant would give beyond what its granter may give.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Excess {
    /// The role is more than the granter's own.
    pub role: bool,
    /// The role would be held longer than the granter's own.
    pub role_end: bool,
    /// Groups that the granter does not hold, in the order of the grant.
    pub groups: Vec<String>,
    /// Groups that the granter holds, but not for so long.
    pub group_ends: Vec<String>,
}

impl Excess {
    /// Whether the grant may be made.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// What `asked` gives beyond what the granter holds now and what the principal itself holds now by `current`: a
/// principal cannot grant more than it holds, and what is there may be kept or shortened by any principal.
#[must_use]
pub fn excess(
    granter: &Granter<'_>,
    current: Option<&GrantTerms>,
    asked: &GrantTerms,
    now: DateTime<Utc>,
) -> Excess {
    let mut excess = Excess::default();
    let Granter::Holder {
        role,
        role_end,
        groups: held,
    } = granter
    else {
        return excess;
    };
    // A grant that has ended before it begins gives nothing.
    if !stands(asked.expires_at, now) {
        return excess;
    }
    let current = current.filter(|terms| stands(terms.expires_at, now));
    let kept = |terms: &GrantTerms| terms.role == asked.role && within(asked.expires_at, terms.expires_at);
    if !current.is_some_and(kept) {
        excess.role = !may_give(*role, asked.role);
        excess.role_end = !excess.role && !within(asked.expires_at, *role_end);
    }
    let kept = current.map(Ends::of).unwrap_or_default();
    for granted in &asked.groups {
        let end = earlier(granted.expires_at, asked.expires_at);
        if !stands(end, now) {
            continue;
        }
        let lasts = |ends: &Ends<'_>| {
            ends.covered_until(&granted.group, now)
                .map(|until| within(end, until))
        };
        match (lasts(held), lasts(&kept)) {
            (Some(true), _) | (_, Some(true)) => {}
            (Some(false), _) => excess.group_ends.push(granted.group.clone()),
            (None, _) => excess.groups.push(granted.group.clone()),
        }
    }
    excess
}

#[cfg(test)]
mod tests;
