//! The limits of a project, ready to be applied.

use std::sync::Arc;

use toolgate_api::limits::{Limit, LimitSubject, ProjectLimits, RequestRate};

use super::ledger::Seat;
use crate::policy::groups::names_cover;
use crate::principal::{Principal, PrincipalKind, PrincipalRef};

/// The principals that a rule counts.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Subject {
    /// Every principal of a kind separately; `None`: of every kind.
    Each(Option<PrincipalKind>),
    Principal(PrincipalRef),
    Tool(String),
    Group(String),
    Project,
}

/// One limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// Its name.
    pub name: Arc<str>,
    /// How many calls in how long.
    pub requests: Option<RequestRate>,
    /// How many calls at the same time.
    pub concurrency: Option<u32>,
    subject: Subject,
}

/// All limits of a project.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rules(Vec<Rule>);

/// What a request is for: the tool's name and its groups.
#[derive(Debug, Clone, Copy)]
pub struct Target<'a> {
    /// The tool's name.
    pub tool: &'a str,
    /// The groups it is in.
    pub groups: &'a [String],
}

impl Rules {
    /// Makes the limits ready. They have been checked when they were stored; a principal that cannot be read matches
    /// no caller.
    #[must_use]
    pub fn new(limits: &ProjectLimits) -> Self {
        Self(limits.limits.iter().filter_map(Rule::new).collect())
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Rule> {
        self.0.iter()
    }

    /// Those that apply to a request, each with the seat that it would take.
    ///
    /// Without a target the request is about no single tool, and limits of tools and groups do not apply. A limit of a
    /// group applies to every tool in the group or one of its children, whichever group was asked for.
    #[must_use]
    pub fn applicable(&self, principal: &Principal, target: Option<Target<'_>>) -> Vec<(&Rule, Seat)> {
        let mut who: Option<Arc<str>> = None;
        let mut seats = Vec::new();
        for rule in &self.0 {
            let applies = match &rule.subject {
                Subject::Each(kind) => kind.is_none_or(|kind| kind == principal.kind),
                Subject::Principal(one) => one.kind == principal.kind && one.id == principal.id,
                Subject::Tool(name) => target.is_some_and(|target| target.tool == name),
                Subject::Group(name) => target.is_some_and(|target| {
                    let limited = |group: &str| group == name;
                    target.groups.iter().any(|group| names_cover(limited, group))
                }),
                Subject::Project => true,
            };
            if !applies {
                continue;
            }
            let each = matches!(rule.subject, Subject::Each(_));
            let who = each.then(|| {
                Arc::clone(who.get_or_insert_with(|| PrincipalRef::from(principal).to_string().into()))
            });
            seats.push((
                rule,
                Seat {
                    limit: Arc::clone(&rule.name),
                    who,
                },
            ));
        }
        seats
    }
}

impl Rule {
    /// A rule that counts each subject separately.
    #[must_use]
    pub fn each(name: &str, requests: RequestRate) -> Self {
        Self {
            name: name.into(),
            requests: Some(requests),
            concurrency: None,
            subject: Subject::Each(None),
        }
    }

    fn new(limit: &Limit) -> Option<Self> {
        let subject = match &limit.subject {
            LimitSubject::EachPrincipal => Subject::Each(None),
            LimitSubject::EachKey => Subject::Each(Some(PrincipalKind::ServiceKey)),
            LimitSubject::EachUser => Subject::Each(Some(PrincipalKind::User)),
            LimitSubject::EachExternal => Subject::Each(Some(PrincipalKind::External)),
            LimitSubject::Principal { principal } => Subject::Principal(PrincipalRef::parse(principal)?),
            LimitSubject::Tool { tool } => Subject::Tool(tool.clone()),
            LimitSubject::Group { group } => Subject::Group(group.clone()),
            LimitSubject::Project => Subject::Project,
        };
        Some(Self {
            name: limit.name.as_str().into(),
            requests: limit.requests,
            concurrency: limit.concurrency,
            subject,
        })
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn rules(subject: &serde_json::Value) -> Rules {
        let limits = json!({"limits": [{"name": "x", "subject": subject, "concurrency": 1}]});
        Rules::new(&serde_json::from_value(limits).expect("limits"))
    }

    const KEY: &str = "0199f7c2-5a8e-7c31-b7f8-0c5b2f6a9e11";

    #[rstest]
    #[case::project(json!({"kind": "project"}), true, true, true)]
    #[case::each(json!({"kind": "each_principal"}), true, true, true)]
    #[case::each_key(json!({"kind": "each_key"}), true, false, true)]
    #[case::each_user(json!({"kind": "each_user"}), false, true, false)]
    #[case::each_external(json!({"kind": "each_external"}), false, false, false)]
    #[case::one(json!({"kind": "principal", "principal": format!("service_key:{KEY}")}), true, false, true)]
    #[case::same_id_other_kind(json!({"kind": "principal", "principal": format!("user:{KEY}")}), false, true, false)]
    #[case::nobody(json!({"kind": "principal", "principal": "somebody"}), false, false, false)]
    #[case::tool(json!({"kind": "tool", "tool": "web-search"}), true, true, false)]
    #[case::other_tool(json!({"kind": "tool", "tool": "web"}), false, false, false)]
    #[case::group(json!({"kind": "group", "group": "costly"}), true, true, false)]
    #[case::parent(json!({"kind": "group", "group": "knowledge"}), true, true, false)]
    #[case::child(json!({"kind": "group", "group": "costly/more"}), false, false, false)]
    fn whom_a_limit_is_about(
        #[case] subject: serde_json::Value,
        #[case] key: bool,
        #[case] user: bool,
        #[case] key_without_tool: bool,
    ) {
        let rules = rules(&subject);
        let groups = ["costly".to_owned(), "knowledge/read".to_owned()];
        let target = Target {
            tool: "web-search",
            groups: &groups,
        };
        let asks = |kind, target| {
            let principal = Principal {
                kind,
                id: KEY.to_owned(),
                name: "somebody".to_owned(),
            };
            !rules.applicable(&principal, target).is_empty()
        };
        assert_eq!(asks(PrincipalKind::ServiceKey, Some(target)), key);
        assert_eq!(asks(PrincipalKind::User, Some(target)), user);
        assert_eq!(asks(PrincipalKind::ServiceKey, None), key_without_tool);
    }

    #[test]
    fn only_limits_for_each_tell_principals_apart() {
        let requester = |id: &str| Principal {
            kind: PrincipalKind::ServiceKey,
            id: id.to_owned(),
            name: "same".to_owned(),
        };
        let seat = |rules: &Rules, id| rules.applicable(&requester(id), None)[0].1.clone();
        let each = rules(&json!({"kind": "each_key"}));
        assert_ne!(seat(&each, "a"), seat(&each, "b"));
        assert_eq!(seat(&each, "a"), seat(&each, "a"));
        let all = rules(&json!({"kind": "project"}));
        assert_eq!(seat(&all, "a"), seat(&all, "b"));
    }
}
