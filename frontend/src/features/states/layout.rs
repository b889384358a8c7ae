//! Where everything is in the drawing: layers, places and routes by dagre, which keeps room for the labels of arrows.

use std::collections::{BTreeMap, VecDeque};

use dagre::graph::{Graph, GraphOptions};
use dagre::layout::types::{LabelPos, Point, Ranker};
use dagre::{EdgeLabel, LayoutOptions, NodeLabel, RankDir, layout};
use toolgate_api::states::{GraphTransition, StateGraph};

/// Width of a state's box.
pub(super) const BOX_WIDTH: i32 = 160;
/// Height of a state's box.
pub(super) const BOX_HEIGHT: i32 = 48;
/// Width of the mark where a move begins that is possible in every state.
pub(super) const MARK_WIDTH: i32 = 72;
/// Height of the same.
pub(super) const MARK_HEIGHT: i32 = 22;
/// Height of a line of a label.
pub(super) const LINE: i32 = 14;
/// Width of a letter of a label, and the room beside a label.
const LETTER: f64 = 6.8;
const BESIDE: f64 = 10.0;
const MARGIN: f64 = 32.0;
/// Transitions from which on the layers are found by the quick way.
const MANY: usize = 400;
/// The shape of the frame: what is this much wider than high fills it.
const FRAME: f64 = 2.0;

/// How an arrow runs, and where its label is.
pub(super) struct Route {
    /// As an SVG path takes it.
    pub(super) path: String,
    /// The middle of the label.
    pub(super) label: (i32, i32),
    /// The upper left corner of the mark where it begins, for a move that is possible in every state.
    pub(super) mark: Option<(i32, i32)>,
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

type Drawing = Graph<NodeLabel, EdgeLabel>;

impl Layout {
    /// Places a graph whose arrows have these lines as labels: from left to right or downwards, whichever fits the frame better.
    pub(super) fn of(graph: &StateGraph, labels: &[Vec<String>]) -> Self {
        let [across, down] =
            [RankDir::LR, RankDir::TB].map(|direction| Self::along(direction, graph, labels));
        let scale = |layout: &Self| {
            let (width, height) = (f64::from(layout.width), f64::from(layout.height));
            (FRAME / width).min(1.0 / height)
        };
        if scale(&down) > scale(&across) {
            down
        } else {
            across
        }
    }

    fn along(direction: RankDir, graph: &StateGraph, labels: &[Vec<String>]) -> Self {
        let mut drawing = Drawing::with_options(GraphOptions {
            directed: true,
            multigraph: true,
            compound: false,
        });
        let names: BTreeMap<&str, String> = in_order(graph)
            .into_iter()
            .enumerate()
            .map(|(at, name)| (name, format!("s{at}")))
            .collect();
        // Arrows back are those that return to what was added before.
        for name in in_order(graph) {
            if let Some(id) = names.get(name) {
                drawing.set_node(id.clone(), Some(sized(BOX_WIDTH, BOX_HEIGHT)));
            }
        }
        let ends: Vec<Option<(String, String)>> = graph
            .transitions
            .iter()
            .enumerate()
            .map(|(at, step)| {
                Some((
                    begin(&mut drawing, &names, step, at)?,
                    names.get(step.to.as_str())?.clone(),
                ))
            })
            .collect();
        for (at, (from, to)) in ends
            .iter()
            .enumerate()
            .filter_map(|(at, ends)| Some((at, ends.as_ref()?)))
        {
            let lines = labels.get(at).map_or(&[][..], Vec::as_slice);
            let label = EdgeLabel {
                width: width_of(lines),
                height: f64::from(LINE * int(lines.len())) + BESIDE,
                labelpos: LabelPos::Center,
                ..EdgeLabel::default()
            };
            drawing.set_edge(from.clone(), to.clone(), Some(label), Some(&at.to_string()));
        }
        let ranker = if graph.transitions.len() > MANY {
            Ranker::LongestPath
        } else {
            Ranker::NetworkSimplex
        };
        layout(
            &mut drawing,
            Some(LayoutOptions {
                rankdir: direction,
                nodesep: 28.0,
                edgesep: 14.0,
                ranksep: 44.0,
                marginx: MARGIN,
                marginy: MARGIN,
                ranker,
                ..LayoutOptions::default()
            }),
        );
        read(&drawing, graph, &names, &ends)
    }

    /// The upper left corner of a state.
    pub(super) fn place(&self, state: &str) -> Option<(i32, i32)> {
        self.places.get(state).copied()
    }
}

/// Where a transition begins: its state, or a mark of its own for one that is possible in every state.
fn begin(
    drawing: &mut Drawing,
    names: &BTreeMap<&str, String>,
    step: &GraphTransition,
    at: usize,
) -> Option<String> {
    match &step.from {
        Some(from) => names.get(from.as_str()).cloned(),
        None => {
            let mark = format!("m{at}");
            drawing.set_node(mark.clone(), Some(sized(MARK_WIDTH, MARK_HEIGHT)));
            Some(mark)
        }
    }
}

/// What dagre has found.
fn read(
    drawing: &Drawing,
    graph: &StateGraph,
    names: &BTreeMap<&str, String>,
    ends: &[Option<(String, String)>],
) -> Layout {
    let corner = |id: &str| {
        let node = drawing.node(id)?;
        Some((
            whole(node.x? - node.width / 2.0),
            whole(node.y? - node.height / 2.0),
        ))
    };
    let places = graph.states.iter().filter_map(|state| {
        let place = corner(names.get(state.name.as_str())?)?;
        Some((state.name.clone(), place))
    });
    let places: BTreeMap<String, (i32, i32)> = places.collect();
    let (mut width, mut height) = (0.0_f64, 0.0_f64);
    for node in drawing.nodes().iter().filter_map(|id| drawing.node(id)) {
        width = width.max(node.x.unwrap_or(0.0) + node.width / 2.0);
        height = height.max(node.y.unwrap_or(0.0) + node.height / 2.0);
    }
    let routes = ends.iter().enumerate().map(|(at, ends)| {
        let (from, to) = ends.as_ref()?;
        let edge = drawing.edge(from, to, Some(&at.to_string()))?;
        let label = (edge.x?, edge.y?);
        width = width.max(label.0 + edge.width / 2.0);
        height = height.max(label.1 + edge.height / 2.0);
        for point in &edge.points {
            (width, height) = (width.max(point.x), height.max(point.y));
        }
        let path = if from == to {
            around(drawing.node(from)?, label)
        } else {
            through(&edge.points)
        };
        Some(Route {
            path,
            label: (whole(label.0), whole(label.1)),
            mark: graph
                .transitions
                .get(at)
                .filter(|step| step.from.is_none())
                .and_then(|_| corner(from)),
        })
    });
    let routes = routes.collect();
    Layout {
        places,
        routes,
        width: whole(width + MARGIN),
        height: whole(height + MARGIN),
    }
}

/// The states by the fewest moves from the start, then those that cannot be reached.
fn in_order(graph: &StateGraph) -> Vec<&str> {
    let mut order: Vec<&str> = Vec::new();
    let begins = [graph.start.as_str()].into_iter();
    for begin in begins.chain(graph.states.iter().map(|state| state.name.as_str())) {
        let mut queue = VecDeque::from([begin]);
        while let Some(at) = queue.pop_front() {
            let is_drawn = graph.states.iter().any(|state| state.name == at);
            if !is_drawn || order.contains(&at) {
                continue;
            }
            order.push(at);
            let next = graph.transitions.iter();
            let next = next.filter(|step| step.from.as_deref() == Some(at));
            queue.extend(next.map(|step| step.to.as_str()));
        }
    }
    order
}

fn sized(width: i32, height: i32) -> NodeLabel {
    NodeLabel {
        width: f64::from(width),
        height: f64::from(height),
        ..NodeLabel::default()
    }
}

fn width_of(lines: &[String]) -> f64 {
    let letters = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
    f64::from(int(letters)) * LETTER + BESIDE
}

fn int(of: usize) -> i32 {
    i32::try_from(of).unwrap_or(i32::MAX)
}

/// Fractions of a pixel are not seen, and the code that writes them is heavy.
fn whole(length: f64) -> i32 {
    #[expect(clippy::cast_possible_truncation, reason = "no drawing is that large")]
    let whole = length.round() as i32;
    whole
}

/// A smooth line along points, which begins and ends at the first and the last.
fn through(points: &[Point]) -> String {
    let at = |point: &Point| format!("{} {}", whole(point.x), whole(point.y));
    let between = |a: &Point, b: &Point| Point::new(f64::midpoint(a.x, b.x), f64::midpoint(a.y, b.y));
    let (Some(first), Some(last)) = (points.first(), points.last()) else {
        return String::new();
    };
    let mut path = format!("M{}", at(first));
    for pair in points.windows(2).skip(1) {
        if let [a, b] = pair {
            path += &format!(" Q{} {}", at(a), at(&between(a, b)));
        }
    }
    path + &format!(" L{}", at(last))
}

/// A loop from a box around the label beside it.
fn around(node: &NodeLabel, (x, y): (f64, f64)) -> String {
    let (at_x, at_y) = (node.x.unwrap_or(0.0), node.y.unwrap_or(0.0));
    let is_beside = (x - at_x).abs() > (y - at_y).abs();
    let ([x1, y1], [x2, y2]) = if is_beside {
        let side = at_x + (x - at_x).signum() * node.width / 2.0;
        ([side, at_y - 10.0], [side, at_y + 10.0])
    } else {
        let side = at_y + (y - at_y).signum() * node.height / 2.0;
        ([at_x - 16.0, side], [at_x + 16.0, side])
    };
    let [a, b, c, d, e, f, g, h] = if is_beside {
        [x1, y1, x, y1 - 22.0, x, y2 + 22.0, x2, y2]
    } else {
        [x1, y1, x1 - 22.0, y, x2 + 22.0, y, x2, y2]
    }
    .map(whole);
    format!("M{a} {b} C{c} {d} {e} {f} {g} {h}")
}

#[cfg(test)]
mod tests {
    use toolgate_api::states::{GraphState, GraphTransition, StateGraph};

    use super::{BOX_HEIGHT, BOX_WIDTH, LINE, Layout, width_of};

    fn graph(states: &[String], steps: &[(Option<usize>, usize)]) -> StateGraph {
        StateGraph {
            start: states[0].clone(),
            states: states
                .iter()
                .map(|name| GraphState {
                    name: name.clone(),
                    reachable: true,
                    open_tools: 1,
                })
                .collect(),
            transitions: steps
                .iter()
                .map(|(from, to)| GraphTransition {
                    from: from.map(|from| states[from].clone()),
                    to: states.get(*to).cloned().unwrap_or_else(|| "gone".to_owned()),
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

    fn names(count: usize) -> Vec<String> {
        (0..count).map(|at| format!("state-{at}")).collect()
    }

    /// Left, top, right and bottom.
    type Bounds = [i32; 4];

    fn overlap(a: Bounds, b: Bounds) -> bool {
        a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3]
    }

    /// No two of the boxes and labels of a drawing lie over one another, and all are in it.
    fn assert_clear(graph: &StateGraph, labels: &[Vec<String>]) {
        let layout = Layout::of(graph, labels);
        let mut all: Vec<(String, Bounds)> = Vec::new();
        for state in &graph.states {
            let (x, y) = layout.place(&state.name).expect("a place");
            all.push((state.name.clone(), [x, y, x + BOX_WIDTH, y + BOX_HEIGHT]));
        }
        for (at, (route, lines)) in layout.routes.iter().zip(labels).enumerate() {
            let Some(route) = route else { continue };
            let (x, y) = route.label;
            #[expect(clippy::cast_possible_truncation, reason = "a short text")]
            let half = (width_of(lines) / 2.0) as i32 - 1;
            let tall = LINE * i32::try_from(lines.len()).expect("few") / 2;
            all.push((format!("label {at}"), [x - half, y - tall, x + half, y + tall]));
        }
        for (at, (name, bounds)) in all.iter().enumerate() {
            assert!(
                bounds[0] >= 0 && bounds[1] >= 0 && bounds[2] <= layout.width && bounds[3] <= layout.height,
                "{name} is outside"
            );
            for (other, others) in &all[at + 1..] {
                assert!(
                    !overlap(*bounds, *others),
                    "{name} and {other}: {bounds:?} {others:?}"
                );
            }
        }
    }

    fn lines(count: usize) -> Vec<Vec<String>> {
        vec![vec!["summarise-documents".to_owned(), "look-up-in-archi +3".to_owned()]; count]
    }

    #[test]
    fn nothing_overlaps_with_eight_states_and_a_way_between_most() {
        let states = names(8);
        let mut steps = Vec::new();
        for from in 0..8_usize {
            for to in 0..8 {
                if (from * 5 + to * 3) % 4 != 0 {
                    steps.push((Some(from), to));
                }
            }
        }
        steps.push((None, 3));
        assert!(steps.len() > 40);
        assert_clear(&graph(&states, &steps), &lines(steps.len()));
    }

    #[test]
    fn nothing_overlaps_with_forty_states() {
        let states = names(40);
        let mut steps: Vec<_> = (0..39).map(|at| (Some(at), at + 1)).collect();
        steps.extend((0..20).map(|at| (Some(at * 2), (at * 7 + 3) % 40)));
        steps.extend([(None, 0), (Some(39), 0), (Some(7), 7)]);
        assert_clear(&graph(&states, &steps), &lines(steps.len()));
    }

    #[test]
    fn the_start_comes_first_and_every_arrow_has_its_own_way() {
        let states = names(4);
        let steps = [
            (Some(0), 1),
            (Some(0), 2),
            (Some(1), 2),
            (Some(2), 3),
            (Some(3), 0),
            (Some(1), 1),
            (None, 1),
            (Some(0), 9),
        ];
        let graph = graph(&states, &steps);
        let layout = Layout::of(&graph, &lines(steps.len()));
        let place = |at: usize| layout.place(&states[at]).expect("a place");
        let (start, end) = (place(0), place(3));
        assert!(start.0 < end.0 || start.1 < end.1);
        let paths: std::collections::BTreeSet<_> =
            layout.routes.iter().flatten().map(|route| &route.path).collect();
        assert_eq!(paths.len(), 7);
        assert!(
            layout.routes[7].is_none(),
            "a state that is not there has no place"
        );
        assert!(
            layout.routes[6]
                .as_ref()
                .is_some_and(|route| route.mark.is_some())
        );
        assert_eq!(layout.place("nowhere"), None);
    }
}
