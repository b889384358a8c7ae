//! Where everything is in the drawing: states in columns by the fewest moves from the start, and the arrows between
//! them.

use std::collections::{BTreeMap, VecDeque};

use toolgate_api::states::{GraphTransition, StateGraph};

/// Width of a state's box.
pub(super) const BOX_WIDTH: i32 = 160;
/// Height of a state's box.
pub(super) const BOX_HEIGHT: i32 = 48;
const COLUMN: i32 = 310;
const ROW: i32 = 112;
const MARGIN: i32 = 56;
/// How far below the boxes the first arrow back runs, and each further one below it.
const LANE: i32 = 34;

/// How an arrow runs, and where its label is.
pub(super) struct Route {
    /// As an SVG path takes it.
    pub(super) path: String,
    /// The middle of the label's last line.
    pub(super) label: (i32, i32),
}

/// Places of all states and arrows, and the size of the drawing.
pub(super) struct Layout {
    places: BTreeMap<String, (i32, i32)>,
    /// One for each transition of the graph; none for one to a state that is not drawn.
    pub(super) routes: Vec<Option<Route>>,
    /// Width of everything.
    pub(super) width: i32,
    /// Height of everything.
    pub(super) height: i32,
}

impl Layout {
    /// Places a graph. Unreachable states are below all others.
    pub(super) fn of(graph: &StateGraph) -> Self {
        let (columns, unreachable) = columns(graph);
        let tallest = count(columns.iter().map(Vec::len).max().unwrap_or(1));
        let mut places = BTreeMap::new();
        for (x, column) in columns.iter().enumerate() {
            let first = MARGIN + (tallest - count(column.len())) * ROW / 2;
            for (row, name) in column.iter().enumerate() {
                places.insert(
                    (*name).to_owned(),
                    (MARGIN + count(x) * COLUMN, first + count(row) * ROW),
                );
            }
        }
        let bottom = MARGIN + (tallest - 1) * ROW + BOX_HEIGHT;
        let mut layout = Self {
            places,
            routes: Vec::new(),
            width: MARGIN * 2 + (count(columns.len()) - 1) * COLUMN + BOX_WIDTH,
            height: bottom,
        };
        let lanes = graph
            .transitions
            .iter()
            .filter_map(|step| layout.ends(step))
            .filter(|(from, to)| to.0 < from.0)
            .count();
        if lanes > 0 {
            layout.height += LANE * count(lanes + 1);
        }
        for (at, name) in unreachable.iter().enumerate() {
            let column = at % columns.len();
            if column == 0 {
                layout.height += ROW / 2 + BOX_HEIGHT;
            }
            let place = (MARGIN + count(column) * COLUMN, layout.height - BOX_HEIGHT);
            layout.places.insert((*name).to_owned(), place);
        }
        layout.height += MARGIN;
        layout.run_arrows(graph, bottom);
        layout
    }

    /// The upper left corner of a state.
    pub(super) fn place(&self, state: &str) -> Option<(i32, i32)> {
        self.places.get(state).copied()
    }

    /// The places that a transition leads from and to; nothing when it leads from everywhere.
    fn ends(&self, step: &GraphTransition) -> Option<((i32, i32), (i32, i32))> {
        Some((self.place(step.from.as_deref()?)?, self.place(&step.to)?))
    }

    /// `bottom` is where the reachable states end.
    fn run_arrows(&mut self, graph: &StateGraph, bottom: i32) {
        let forward = |step: &GraphTransition| {
            self.ends(step)
                .filter(|(from, to)| to.0 > from.0 && from.1 < bottom)
        };
        // Where arrows leave and meet a side, spread over it in the order of their other ends.
        let (mut outs, mut ins) = (BTreeMap::new(), BTreeMap::new());
        for (from, to) in graph.transitions.iter().filter_map(forward) {
            outs.entry(from).or_insert_with(Vec::new).push(to);
            ins.entry(to).or_insert_with(Vec::new).push(from);
        }
        for ends in outs.values_mut().chain(ins.values_mut()) {
            ends.sort_unstable_by_key(|(x, y)| (*y, *x));
        }
        let port = |ends: Option<&Vec<(i32, i32)>>, end: (i32, i32)| {
            let ends = ends.map_or(&[][..], Vec::as_slice);
            let at = ends.iter().position(|known| *known == end).unwrap_or(0);
            BOX_HEIGHT * (count(at) + 1) / (count(ends.len()) + 1)
        };
        let mut lanes = 0;
        let mut route = |step: &GraphTransition| {
            if step.from.is_none() {
                return Some(from_anywhere(self.place(&step.to)?));
            }
            let (from, to) = self.ends(step)?;
            Some(if from == to {
                around(to)
            } else if forward(step).is_some() {
                ahead(
                    (from.0 + BOX_WIDTH, from.1 + port(outs.get(&from), to)),
                    (to.0 - 3, to.1 + port(ins.get(&to), from)),
                )
            } else if from.0 == to.0 && from.1 < bottom {
                within(from, to)
            } else if from.1 > bottom && to.1 < bottom {
                rise(from, to)
            } else {
                lanes += 1;
                back(from, to, lanes, bottom.max(from.1 + BOX_HEIGHT))
            })
        };
        let routes = graph.transitions.iter().map(&mut route).collect();
        self.routes = routes;
    }
}

fn count(of: usize) -> i32 {
    i32::try_from(of).unwrap_or(i32::MAX)
}

/// The states of each column, in an order that keeps arrows short, and those that cannot be reached.
fn columns(graph: &StateGraph) -> (Vec<Vec<&str>>, Vec<&str>) {
    let mut depth: BTreeMap<&str, usize> = BTreeMap::from([(graph.start.as_str(), 0)]);
    let mut queue = VecDeque::from([graph.start.as_str()]);
    while let Some(at) = queue.pop_front() {
        let next = depth.get(at).copied().unwrap_or(0) + 1;
        for step in &graph.transitions {
            let leads = step.from.as_deref().is_none_or(|from| from == at);
            if leads && !depth.contains_key(step.to.as_str()) {
                depth.insert(&step.to, next);
                queue.push_back(&step.to);
            }
        }
    }
    let last = depth.values().max().copied().unwrap_or(0);
    let mut columns = vec![Vec::new(); last + 1];
    let mut unreachable = Vec::new();
    for state in &graph.states {
        let column = depth.get(state.name.as_str()).and_then(|at| columns.get_mut(*at));
        column.unwrap_or(&mut unreachable).push(state.name.as_str());
    }
    for at in 1..columns.len() {
        let (before, here) = columns.split_at_mut(at);
        let Some(before) = before.last() else {
            continue;
        };
        // By the middle of where arrows come from; a state that none leads to from there stays last.
        here[0].sort_by_cached_key(|name| {
            let rows: Vec<usize> = graph
                .transitions
                .iter()
                .filter(|step| step.to == **name)
                .filter_map(|step| before.iter().position(|from| Some(*from) == step.from.as_deref()))
                .collect();
            (rows.iter().sum::<usize>() * 16)
                .checked_div(rows.len())
                .unwrap_or(usize::MAX)
        });
    }
    (columns, unreachable)
}

/// A short arrow from above, for a move that is possible in every state.
fn from_anywhere((x, y): (i32, i32)) -> Route {
    let x = x + BOX_WIDTH / 4;
    Route {
        path: format!("M{x} {} L{x} {}", y - 28, y - 3),
        label: (x, y - 33),
    }
}

/// A loop over the right corner.
fn around((x, y): (i32, i32)) -> Route {
    let x = x + BOX_WIDTH * 3 / 4;
    let (left, right, high) = (x - 18, x + 18, y - 36);
    Route {
        path: format!(
            "M{left} {y} C{} {high} {} {high} {right} {}",
            left - 8,
            right + 8,
            y - 3
        ),
        label: (x, y - 33),
    }
}

/// To a later column; over those in between it bows.
fn ahead((x1, y1): (i32, i32), (x2, y2): (i32, i32)) -> Route {
    let half = (x2 - x1) / 2;
    let bow = if x2 - x1 > COLUMN { ROW * 3 / 4 } else { 0 };
    let (a, b) = (y1 - bow, y2 - bow);
    Route {
        path: format!("M{x1} {y1} C{} {a} {} {b} {x2} {y2}", x1 + half, x2 - half),
        label: (x1 + half, (y1 + y2) / 2 - bow * 3 / 4 - 7),
    }
}

/// To another state of the column: down on its right side, up on its left.
fn within(from: (i32, i32), to: (i32, i32)) -> Route {
    let (side, out) = if to.1 > from.1 {
        (from.0 + BOX_WIDTH, 48)
    } else {
        (from.0, -48)
    };
    let (y1, y2) = (from.1 + BOX_HEIGHT * 3 / 4, to.1 + BOX_HEIGHT / 4);
    let (bow, tip) = (side + out, side + out.signum() * 3);
    Route {
        path: format!("M{side} {y1} C{bow} {y1} {bow} {y2} {tip} {y2}"),
        label: (side + out * 3 / 4, i32::midpoint(y1, y2) + 4),
    }
}

/// From below all others to one of them.
fn rise(from: (i32, i32), to: (i32, i32)) -> Route {
    let (x1, y1) = (from.0 + BOX_WIDTH / 2, from.1);
    let (x2, y2) = (to.0 + BOX_WIDTH / 4, to.1 + BOX_HEIGHT + 3);
    Route {
        path: format!(
            "M{x1} {y1} C{x1} {} {x2} {} {x2} {y2}",
            y1 - ROW / 2,
            y2 + ROW / 2
        ),
        label: (x1, y1 - 10),
    }
}

/// To an earlier column: below the boxes, each in a lane of its own.
fn back(from: (i32, i32), to: (i32, i32), lane: i32, bottom: i32) -> Route {
    let shift = lane % 4 * 12;
    let (x1, y1) = (from.0 + BOX_WIDTH / 2 - 20 + shift, from.1 + BOX_HEIGHT);
    let (x2, y2) = (to.0 + BOX_WIDTH / 2 - 20 + shift, to.1 + BOX_HEIGHT + 3);
    let low = bottom + LANE * lane;
    // A curve comes three quarters of the way to its handles.
    let (a, b) = (y1 + (low - y1) * 4 / 3, y2 + (low - y2) * 4 / 3);
    Route {
        path: format!("M{x1} {y1} C{x1} {a} {x2} {b} {x2} {y2}"),
        label: (i32::midpoint(x1, x2), low - 6),
    }
}

#[cfg(test)]
mod tests {
    use toolgate_api::states::{GraphState, GraphTransition, StateGraph};

    use super::Layout;

    fn graph(states: &[&str], steps: &[(Option<&str>, &str)]) -> StateGraph {
        StateGraph {
            start: "undefined".to_owned(),
            states: states
                .iter()
                .map(|name| GraphState {
                    name: (*name).to_owned(),
                    reachable: true,
                    open_tools: 1,
                })
                .collect(),
            transitions: steps
                .iter()
                .map(|(from, to)| GraphTransition {
                    from: from.map(str::to_owned),
                    to: (*to).to_owned(),
                    tools: vec![],
                    tool_count: 1,
                })
                .collect(),
            unreachable: vec![],
            dead_ends: vec![],
            cycles: vec![],
            unused: vec![],
            never_callable: vec![],
            only_in_unreachable: vec![],
            truncated: false,
            state_count: 4,
            transition_count: 3,
        }
    }

    #[test]
    fn states_are_in_columns_by_their_distance() {
        let graph = graph(
            &["undefined", "a", "b", "lonely"],
            &[(Some("undefined"), "a"), (Some("a"), "b"), (None, "undefined")],
        );
        let layout = Layout::of(&graph);
        let x = |name: &str| layout.place(name).map(|(x, _)| x);
        assert!(x("undefined") < x("a") && x("a") < x("b"));
        let y = |name: &str| layout.place(name).map(|(_, y)| y);
        assert!(y("lonely") > y("b"), "what cannot be reached is below");
        assert_eq!(layout.place("nowhere"), None);
    }

    #[test]
    fn every_arrow_runs_its_own_way() {
        let graph = graph(
            &["undefined", "a", "b", "c"],
            &[
                (Some("undefined"), "a"),
                (Some("undefined"), "b"),
                (Some("undefined"), "c"),
                (Some("a"), "c"),
                (Some("c"), "undefined"),
                (Some("b"), "undefined"),
                (Some("a"), "a"),
                (None, "a"),
                (Some("a"), "gone"),
            ],
        );
        let routes = Layout::of(&graph).routes;
        let paths: std::collections::BTreeSet<_> = routes.iter().flatten().map(|route| &route.path).collect();
        assert_eq!(
            paths.len(),
            8,
            "eight states' arrows are drawn, none over another"
        );
        assert!(routes[8].is_none(), "a state that is not there has no place");
    }
}
