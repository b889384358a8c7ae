//! Where each state stands in the drawing: in columns by the fewest moves from the start.

use std::collections::{BTreeMap, VecDeque};

use toolgate_api::states::StateGraph;

/// Width of a state's box.
pub(super) const BOX_WIDTH: i32 = 150;
/// Height of a state's box.
pub(super) const BOX_HEIGHT: i32 = 44;
const COLUMN: i32 = 250;
const ROW: i32 = 96;
const MARGIN: i32 = 40;

/// Places of all states, and the size of the drawing.
pub(super) struct Layout {
    places: BTreeMap<String, (i32, i32)>,
    /// Width of everything.
    pub(super) width: i32,
    /// Height of everything.
    pub(super) height: i32,
}

impl Layout {
    /// Places every state of a graph. Unreachable ones stand in a column of their own at the end.
    pub(super) fn of(graph: &StateGraph) -> Self {
        let mut depth: BTreeMap<&str, i32> = BTreeMap::new();
        let mut queue = VecDeque::from([graph.start.as_str()]);
        depth.insert(&graph.start, 0);
        while let Some(at) = queue.pop_front() {
            let next = depth.get(at).copied().unwrap_or(0) + 1;
            for transition in &graph.transitions {
                let leads = transition.from.as_deref().is_none_or(|from| from == at);
                if leads && !depth.contains_key(transition.to.as_str()) {
                    depth.insert(&transition.to, next);
                    queue.push_back(&transition.to);
                }
            }
        }
        let last = depth.values().max().copied().unwrap_or(0) + 1;
        let mut filled: BTreeMap<i32, i32> = BTreeMap::new();
        let mut places = BTreeMap::new();
        for state in &graph.states {
            let column = depth.get(state.name.as_str()).copied().unwrap_or(last);
            let row = filled.entry(column).or_insert(0);
            places.insert(
                state.name.clone(),
                (MARGIN + column * COLUMN, MARGIN + *row * ROW),
            );
            *row += 1;
        }
        let columns = filled.keys().max().copied().unwrap_or(0) + 1;
        let rows = filled.values().max().copied().unwrap_or(1);
        Self {
            places,
            width: MARGIN * 2 + (columns - 1) * COLUMN + BOX_WIDTH,
            height: MARGIN * 2 + (rows - 1) * ROW + BOX_HEIGHT,
        }
    }

    /// The upper left corner of a state.
    pub(super) fn place(&self, state: &str) -> Option<(i32, i32)> {
        self.places.get(state).copied()
    }
}

#[cfg(test)]
mod tests {
    use toolgate_api::states::{GraphState, GraphTransition, StateGraph};

    use super::Layout;

    #[test]
    fn states_stand_in_columns_by_their_distance() {
        let state = |name: &str| GraphState {
            name: name.to_owned(),
            reachable: true,
            open_tools: 1,
        };
        let step = |from: Option<&str>, to: &str| GraphTransition {
            from: from.map(str::to_owned),
            to: to.to_owned(),
            tools: vec![],
            tool_count: 1,
        };
        let graph = StateGraph {
            start: "undefined".to_owned(),
            states: ["undefined", "a", "b", "lonely"].map(state).to_vec(),
            transitions: vec![
                step(Some("undefined"), "a"),
                step(Some("a"), "b"),
                step(None, "undefined"),
            ],
            unreachable: vec!["lonely".to_owned()],
            dead_ends: vec![],
            cycles: vec![],
            unused: vec![],
            never_callable: vec![],
            only_in_unreachable: vec![],
            truncated: false,
            state_count: 4,
            transition_count: 3,
        };
        let layout = Layout::of(&graph);
        let x = |name: &str| layout.place(name).map(|(x, _)| x);
        assert!(x("undefined") < x("a") && x("a") < x("b") && x("b") < x("lonely"));
        assert_eq!(layout.place("nowhere"), None);
    }
}
