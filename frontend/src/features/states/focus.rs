//! A part of the state machine: what is around a state, or a way from the start to it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use toolgate_api::states::{GraphTransition, StateGraph};

use crate::language::marked;

/// States that are drawn at most; of more, what is around the current state.
pub(super) const DRAWN: usize = 150;

/// Which part is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Focus {
    /// All of it.
    All,
    /// The current state, and what leads to it and out of it.
    Around,
    /// The shortest way from the start to the current state.
    Way,
}

impl Focus {
    /// Every choice, as the address writes it, and its name.
    pub(super) const CHOICES: [(&'static str, &'static str); 3] = [
        ("", marked("All states")),
        ("around", marked("Around the current state")),
        ("way", marked("The way from the start to it")),
    ];

    /// As the address writes it.
    pub(super) fn read(word: &str) -> Self {
        match word {
            "around" => Self::Around,
            "way" => Self::Way,
            _ => Self::All,
        }
    }

    /// The part of a machine around a state.
    pub(super) fn of(self, machine: &StateGraph, here: &str) -> StateGraph {
        match self {
            Self::All => machine.clone(),
            Self::Around => around(machine, here),
            Self::Way => way(machine, here),
        }
    }
}

fn around(machine: &StateGraph, here: &str) -> StateGraph {
    let touches = |step: &GraphTransition| step.to == here || step.from.as_deref() == Some(here);
    let mut states = BTreeSet::from([here]);
    for step in machine.transitions.iter().filter(|step| touches(step)) {
        states.insert(&step.to);
        states.extend(step.from.as_deref());
    }
    part(machine, &states, touches)
}

fn way(machine: &StateGraph, here: &str) -> StateGraph {
    // Where each state was first reached from.
    let mut before: BTreeMap<&str, &str> = BTreeMap::new();
    let mut queue = VecDeque::from([machine.start.as_str()]);
    while let Some(at) = queue.pop_front() {
        for step in &machine.transitions {
            let leads = step.from.as_deref().is_none_or(|from| from == at);
            if leads && step.to != machine.start && !before.contains_key(step.to.as_str()) {
                before.insert(&step.to, at);
                queue.push_back(&step.to);
            }
        }
    }
    let mut states = BTreeSet::from([machine.start.as_str(), here]);
    let mut pairs = BTreeSet::new();
    let mut at = here;
    while let Some(from) = before.get(at) {
        states.insert(from);
        pairs.insert((*from, at));
        at = from;
    }
    part(machine, &states, |step| match step.from.as_deref() {
        Some(from) => pairs.contains(&(from, step.to.as_str())),
        None => pairs.iter().any(|(_, to)| *to == step.to),
    })
}

fn part(
    machine: &StateGraph,
    states: &BTreeSet<&str>,
    is_shown: impl Fn(&GraphTransition) -> bool,
) -> StateGraph {
    let mut shown = machine.clone();
    shown.states.retain(|state| states.contains(state.name.as_str()));
    shown.transitions.retain(|step| is_shown(step));
    shown
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolgate_api::states::StateGraph;

    use super::Focus;

    fn machine() -> StateGraph {
        let state = |name: &str| json!({"name": name, "reachable": true, "open_tools": 1});
        let step = |from: &str, to: &str| json!({"from": from, "to": to, "tools": ["t"], "tool_count": 1});
        let states: Vec<_> = ["a", "b", "c", "d", "e"].map(state).to_vec();
        let mut steps: Vec<_> = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a"), ("c", "c")]
            .map(|(from, to)| step(from, to))
            .to_vec();
        steps.push(json!({"to": "e", "tools": ["t"], "tool_count": 1}));
        let machine = json!({
            "start": "a", "states": states, "transitions": steps, "unreachable": [], "dead_ends": [], "cycles": [],
            "unused": [], "never_callable": [], "only_in_unreachable": [], "truncated": false,
            "state_count": 5, "transition_count": 6
        });
        serde_json::from_value(machine).expect("a machine")
    }

    fn shown(focus: Focus, here: &str) -> (String, usize) {
        let part = focus.of(&machine(), here);
        let names: String = part.states.iter().map(|state| state.name.as_str()).collect();
        (names, part.transitions.len())
    }

    #[test]
    fn a_focus_shows_a_part() {
        for (focus, here, names, arrows) in [
            (Focus::All, "c", "abcde", 6),
            (Focus::Around, "c", "bcd", 3),
            (Focus::Around, "e", "e", 1),
            (Focus::Way, "d", "abcd", 3),
            (Focus::Way, "e", "ae", 1),
            (Focus::Way, "a", "a", 0),
        ] {
            assert_eq!(shown(focus, here), (names.to_owned(), arrows), "{focus:?} {here}");
        }
    }

    #[test]
    fn every_choice_is_read() {
        let read = Focus::CHOICES.map(|(word, _)| Focus::read(word));
        assert_eq!(read, [Focus::All, Focus::Around, Focus::Way]);
    }
}
