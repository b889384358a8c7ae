//! A snapshot that came about by changes answers what one that was built from nothing answers.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use crate::ids::ToolName;
use crate::snapshot::testing::{Draft, anytime, grant, tool};
use crate::snapshot::{ProjectSnapshot, ToolInput};

const GROUPS: [&str; 7] = ["default", "*", "a", "a/b", "a/b/c", "a//b", "b"];
const STATES: [&str; 5] = ["undefined", "x", "y", "*", ""];

/// A tool as a change leaves it; `None`: the change removes it.
type Change = (usize, Option<Draft>);

fn some_of(names: &'static [&'static str]) -> impl Strategy<Value = Vec<&'static str>> {
    subsequence(names, 0..=3)
}

fn draft() -> impl Strategy<Value = Draft> {
    let target = proptest::option::of(select(&["x", "y", "z"][..]));
    (
        some_of(&GROUPS),
        some_of(&STATES),
        target,
        prop::bool::weighted(0.2),
    )
        .prop_map(|(groups, states, target, disabled)| {
            let mut draft = tool("replaced").groups(&groups).states(&states);
            if let Some(target) = target {
                draft = draft.moves_to(target);
            }
            if disabled { draft.disabled() } else { draft }
        })
}

/// Each step changes a few of 24 tools, so that names between others come, go, and come again.
fn steps() -> impl Strategy<Value = Vec<Vec<Change>>> {
    let change = || (0..24_usize, proptest::option::weighted(0.7, draft()));
    let first = proptest::collection::vec(change(), 0..24);
    let later = proptest::collection::vec(proptest::collection::vec(change(), 0..4), 1..8);
    (first, later).prop_map(|(first, later)| std::iter::once(first).chain(later).collect())
}

fn name(at: usize) -> String {
    format!("t{at:02}")
}

/// Everything that the bitmaps answer.
fn facts(snapshot: &ProjectSnapshot) -> impl PartialEq + std::fmt::Debug + use<> {
    let mut resolved = Vec::new();
    for group in GROUPS.iter().chain(&["", "unknown"]) {
        for state in STATES.iter().chain(&["z"]) {
            let asked = [(*group).to_owned()];
            let answer = snapshot
                .resolve(&grant(&["*"]), Some(&asked[..]), Some(*state), &anytime())
                .expect("everything is granted");
            resolved.push((
                answer.available(),
                answer.filtered_by_group(),
                answer.filtered_by_state(),
                answer.unknown_groups.clone(),
            ));
        }
    }
    let owned = |names: BTreeSet<&str>| names.into_iter().map(str::to_owned).collect::<Vec<_>>();
    let sizes = |sizes: Vec<(&str, u64)>| {
        sizes
            .into_iter()
            .map(|(name, size)| (name.to_owned(), size))
            .collect::<BTreeMap<_, _>>()
    };
    (
        snapshot
            .tools()
            .iter()
            .map(|tool| (tool.name().to_owned(), tool.revision))
            .collect::<Vec<_>>(),
        resolved,
        owned(snapshot.group_names()),
        owned(snapshot.state_names()),
        sizes(snapshot.group_sizes().collect()),
        sizes(snapshot.state_sizes().collect()),
        GROUPS.map(|group| {
            let own: Vec<_> = snapshot
                .tools_in_group(group)
                .map(|tool| tool.name().to_owned())
                .collect();
            (own, snapshot.group_size(group))
        }),
        snapshot
            .visible(&grant(&["a", "b"]))
            .iter()
            .map(|tool| tool.name().to_owned())
            .collect::<Vec<_>>(),
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn a_sequence_of_changes_gives_the_snapshot_that_a_full_build_gives(steps in steps()) {
        let mut current: BTreeMap<usize, ToolInput> = BTreeMap::new();
        let mut changed = ProjectSnapshot::build(0, Vec::new(), Vec::new(), None);
        for (version, step) in (1..).zip(steps) {
            // A change names each tool once.
            let step: BTreeMap<usize, Option<Draft>> = step.into_iter().collect();
            let (mut inputs, mut removed) = (Vec::new(), Vec::new());
            for (at, draft) in step {
                let named = ToolName::parse(name(at)).expect("a valid name");
                match draft {
                    Some(draft) => {
                        let Draft(mut input) = draft.revision(version);
                        input.definition.name = named;
                        current.insert(at, input.clone());
                        inputs.push(input);
                    }
                    None => {
                        current.remove(&at);
                        removed.push(named);
                    }
                }
            }
            changed = changed.with_changes(version, inputs, &removed, Vec::new());
            let built = ProjectSnapshot::build(version, current.values().cloned().collect(), Vec::new(), None);
            prop_assert_eq!(facts(&changed), facts(&built));
            for at in 0..24 {
                prop_assert_eq!(
                    changed.tool(&name(at)).map(|tool| tool.revision),
                    current.get(&at).map(|input| input.revision)
                );
            }
        }
    }
}
