//! Decisions, resolutions and listings against an oracle that is nothing but the rule's text over plain strings.

use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use toolgate_api::ErrorCode;

use crate::policy::decision::Offer;
use crate::policy::groups::GroupSet;
use crate::snapshot::testing::{Draft, anytime, project, tool};

const GROUPS: [&str; 13] = [
    "default", "*", "a", "a/b", "a/b/c", "a/", "a//b", "/a", "ab", "A", "b", "", "*/a",
];
const STATES: [&str; 5] = ["undefined", "x", "X", "*", ""];

mod rule {
    //! Written from the specification alone; slow and obvious on purpose.

    fn has(names: &[String], name: &str) -> bool {
        names.iter().any(|n| n == name)
    }

    /// `knowledge/read` is a child of `knowledge`: a holder of the parent has the children.
    pub(super) fn covers(holder: &str, name: &str) -> bool {
        holder == name || (!holder.is_empty() && name != "*" && name.starts_with(&format!("{holder}/")))
    }

    pub(super) fn effective_request(requested: &Option<Vec<String>>) -> Vec<String> {
        requested.clone().unwrap_or_else(|| vec!["default".to_owned()])
    }

    pub(super) fn granted(granted: &[String], requested: &[String]) -> bool {
        requested.iter().all(|asked| {
            has(granted, "*") || (asked != "*" && granted.iter().any(|holder| covers(holder, asked)))
        })
    }

    pub(super) fn group_test(tool: &Option<Vec<String>>, requested: &[String]) -> bool {
        let groups = tool.clone().unwrap_or_else(|| vec!["default".to_owned()]);
        has(requested, "*")
            || groups
                .iter()
                .any(|group| requested.iter().any(|asked| asked != "*" && covers(asked, group)))
    }

    pub(super) fn state_test(tool: &Option<Vec<String>>, state: &Option<String>) -> bool {
        let states = tool.clone().unwrap_or_else(|| vec!["*".to_owned()]);
        let current = match state {
            None => "undefined",
            Some(state) if state.is_empty() => "undefined",
            Some(state) => state,
        };
        has(&states, "*") || has(&states, current)
    }
}

fn some_of(names: &'static [&'static str]) -> impl Strategy<Value = Vec<String>> {
    subsequence(names, 0..=4).prop_map(|names| names.into_iter().map(str::to_owned).collect())
}

fn state() -> impl Strategy<Value = Option<String>> {
    proptest::option::of(select(&["undefined", "x", "X", "*", "", "never-named"][..]).prop_map(str::to_owned))
}

/// Groups, states, and why it can never be called.
type Kind = (Option<Vec<String>>, Option<Vec<String>>, Option<ErrorCode>);

fn kinds() -> impl Strategy<Value = Vec<Kind>> {
    let kind = (
        proptest::option::of(some_of(&GROUPS)),
        proptest::option::of(some_of(&STATES)),
        proptest::option::weighted(
            0.3,
            select(&[ErrorCode::ToolDisabled, ErrorCode::ToolUnavailable][..]),
        ),
    );
    proptest::collection::vec(kind, 0..12)
}

fn drafts(kinds: &[Kind]) -> Vec<Draft> {
    let draft = |(at, (group, states, never)): (usize, &Kind)| {
        let mut draft = tool(&format!("t{at:02}"));
        draft = match never {
            Some(ErrorCode::ToolDisabled) => draft.disabled(),
            Some(_) => draft.of_kind("worker"),
            None => draft,
        };
        draft.0.definition.group.clone_from(group);
        draft.0.definition.available_in_states.clone_from(states);
        draft
    };
    kinds.iter().enumerate().map(draft).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn one_call_is_decided_as_the_rule_says(
        kinds in kinds(),
        granted in some_of(&GROUPS),
        requested in proptest::option::of(some_of(&GROUPS)),
        state in state(),
    ) {
        let snapshot = project(drafts(&kinds));
        let grant: GroupSet = granted.iter().cloned().collect();
        let asked = rule::effective_request(&requested);
        for (name, kind) in kinds.iter().enumerate().map(|(at, kind)| (format!("t{at:02}"), Some(kind)))
            .chain([("unknown".to_owned(), None)])
        {
            let expected = match kind {
                _ if !rule::granted(&granted, &asked) => Some(ErrorCode::InsufficientToolGroups),
                None => Some(ErrorCode::ToolNotFound),
                Some((_, _, Some(never))) => Some(*never),
                Some((groups, ..)) if !rule::group_test(groups, &asked) => Some(ErrorCode::ToolNotInGroups),
                Some((_, states, _)) if !rule::state_test(states, &state) => Some(ErrorCode::ToolNotInState),
                Some(_) => None,
            };
            let decision = snapshot.decide(&grant, requested.as_deref(), state.as_deref(), &name, &anytime());
            prop_assert_eq!(decision.code, expected, "{}", name);
            prop_assert_eq!(decision.is_allowed(), expected.is_none());
            prop_assert_eq!(decision.missing.is_empty(), rule::granted(&granted, &asked));
        }
    }

    #[test]
    fn a_resolution_is_the_decision_on_every_tool(
        kinds in kinds(),
        granted in some_of(&GROUPS),
        requested in proptest::option::of(some_of(&GROUPS)),
        state in state(),
    ) {
        let snapshot = project(drafts(&kinds));
        let grant: GroupSet = granted.iter().cloned().collect();
        let (mut open, mut by_group, mut by_state, mut denied) = (vec![], vec![], vec![], false);
        for tool in snapshot.tools() {
            let name = tool.name().to_owned();
            match snapshot.decide(&grant, requested.as_deref(), state.as_deref(), &name, &anytime()).code {
                None => open.push(name),
                Some(ErrorCode::ToolNotInGroups) => by_group.push(name),
                Some(ErrorCode::ToolNotInState) => by_state.push(name),
                // A listing of available tools does not include it.
                Some(ErrorCode::ToolDisabled | ErrorCode::ToolUnavailable) => {}
                Some(_) => denied = true,
            }
        }
        // Asked twice: computed, then from the cache.
        for _ in 0..2 {
            match snapshot.resolve(&grant, requested.as_deref(), state.as_deref(), &anytime()) {
                Ok(resolved) => {
                    prop_assert!(!denied);
                    prop_assert_eq!(resolved.available_count(), open.len());
                    prop_assert_eq!(resolved.filtered_by_group_count(), by_group.len());
                    prop_assert_eq!(resolved.filtered_by_state_count(), by_state.len());
                    prop_assert_eq!(&resolved.available(), &open);
                    prop_assert_eq!(&resolved.filtered_by_group(), &by_group);
                    prop_assert_eq!(&resolved.filtered_by_state(), &by_state);
                    let tools: Vec<_> = resolved.tools().map(|tool| tool.name().to_owned()).collect();
                    prop_assert_eq!(tools, open.clone());
                    for tool in snapshot.tools().iter().filter(|tool| tool.is_offered()) {
                        let offer = Offer { groups: &tool.groups, states: Some(&tool.states) };
                        let decided = snapshot.decide(&grant, requested.as_deref(), state.as_deref(), tool.name(), &anytime());
                        prop_assert_eq!(resolved.closes(offer), decided.code);
                    }

                    let asked = rule::effective_request(&requested);
                    let mut unknown: Vec<_> = asked.into_iter().filter(|group| group != "*" && !kinds.iter()
                          .any(|(groups, ..)| rule::group_test(groups, std::slice::from_ref(group)))).collect();
                    unknown.sort();
                    prop_assert_eq!(&resolved.unknown_groups, &unknown);
                }
                Err(denial) => {
                    prop_assert!(denied || kinds.is_empty());
                    prop_assert!(!denial.missing.is_empty());
                }
            }
        }
    }

    #[test]
    fn a_listing_shows_what_some_granted_request_can_call_in_some_state(
        kinds in kinds(),
        granted in some_of(&GROUPS),
    ) {
        let snapshot = project(drafts(&kinds));
        let grant: GroupSet = granted.iter().cloned().collect();
        // One group at a time is enough: a larger request reaches what its members reach.
        let requests: Vec<Vec<String>> = GROUPS.iter().map(|&group| vec![group.to_owned()]).collect();
        let callable = |name: &str| requests.iter().any(|request| ["undefined", "x", "X", "*"].iter()
            .any(|state| snapshot.decide(&grant, Some(request), Some(state), name, &anytime()).is_allowed()));
        let expected: Vec<_> =
            snapshot.tools().iter().map(|tool| tool.name()).filter(|name| callable(name)).collect();
        for _ in 0..2 {
            let visible = snapshot.visible(&grant);
            prop_assert_eq!(visible.iter().map(|tool| tool.name()).collect::<Vec<_>>(), expected.clone());
            prop_assert_eq!(visible.len(), expected.len());
            prop_assert_eq!(visible.is_empty(), expected.is_empty());
            for tool in snapshot.tools() {
                prop_assert_eq!(visible.tool(tool.name()).is_some(), expected.contains(&tool.name()));
                let after: Vec<_> = visible.after(tool.name()).map(|tool| tool.name()).collect();
                let rest: Vec<_> = expected.iter().copied().filter(|&name| name > tool.name()).collect();
                prop_assert_eq!(after, rest);
            }
        }
    }
}
