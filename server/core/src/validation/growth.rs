//! How much work a schema can make of a value, found out from the schema alone.

use serde_json::Value;

use super::graph::{Graph, Node, Part};

/// Schemas that may look at one value at the same place, counted each time that one is reached.
const MAX_LOOKS: u64 = 10_000;
/// Schemas that may be nested within each other without going to a part of the value.
const MAX_NESTED: u32 = 200;
/// Schemas that may look at the values on one way into a value before it is worth a warning.
const MANY: u64 = 100_000;
/// Steps of the search for what only deserves a warning.
const MAX_COMPARISONS: usize = 2_000_000;

/// What is known of a schema's work.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Growth {
    /// Schemas that look at nothing, for one value, at most.
    pub(super) silent: u64,
    /// Schemas that look at the name of one member, at most.
    pub(super) names: u64,
    /// Why checks may take more than a bounded multiple of the value's size.
    pub(super) warning: Option<String>,
}

impl Growth {
    /// Of a schema.
    ///
    /// # Errors
    /// Why no value can be checked against it within bounds: a text that ends a sentence.
    pub(super) fn of(schema: &Value) -> Result<Self, String> {
        let graph = Graph::of(schema)?;
        let nodes = &graph.nodes;
        let order = same_value_order(nodes)?;
        let mut looks = vec![1_u64; nodes.len()];
        let mut nested = vec![1_u32; nodes.len()];
        let mut silent: Vec<u64> = nodes.iter().map(|node| u64::from(!node.looks)).collect();
        for &at in order.iter().rev() {
            for &next in &nodes[at].same {
                looks[at] = looks[at].saturating_add(looks[next]);
                nested[at] = nested[at].max(nested[next].saturating_add(1));
                silent[at] = silent[at].saturating_add(silent[next]);
            }
        }
        if looks.iter().any(|&looks| looks > MAX_LOOKS) {
            return Err(format!(
                "references and combinations lead to more than {MAX_LOOKS} schemas for one value: use fewer alternatives, or \
                 refer to each schema in fewer ways"
            ));
        }
        if nested.iter().any(|&nested| nested > MAX_NESTED) {
            return Err(format!(
                "more than {MAX_NESTED} schemas for one value refer to each other in a row"
            ));
        }
        let names = nodes.iter().flat_map(|node| &node.names).map(|&at| looks[at]);
        Ok(Self {
            silent: silent.into_iter().max().unwrap_or_default(),
            names: names.max().unwrap_or_default(),
            warning: warning(nodes, &order),
        })
    }
}

/// The schemas in such an order that those for the same value come after the one that names them.
fn same_value_order(nodes: &[Node<'_>]) -> Result<Vec<usize>, String> {
    let mut before = vec![0_usize; nodes.len()];
    for &next in nodes.iter().flat_map(|node| &node.same) {
        before[next] += 1;
    }
    let mut order: Vec<usize> = (0..nodes.len()).filter(|&at| before[at] == 0).collect();
    let mut done = 0;
    while let Some(&at) = order.get(done) {
        done += 1;
        for &next in &nodes[at].same {
            before[next] -= 1;
            if before[next] == 0 {
                order.push(next);
            }
        }
    }
    if order.len() == nodes.len() {
        return Ok(order);
    }
    let reference = endless_reference(nodes, &before);
    Err(format!(
        "the reference {reference:?} leads back to itself for the same value, so it says nothing: let it go through \
         properties or items, or remove it"
    ))
}

/// A reference on a circle of schemas for the same value. `before` counts what is left of the ways to each.
fn endless_reference<'s>(nodes: &[Node<'s>], before: &[usize]) -> &'s str {
    // Every schema that is left leads from a circle; going backwards along what is left ends in one.
    let mut at = before.iter().position(|&ways| ways > 0).unwrap_or_default();
    let mut reference = "";
    for _ in 0..2 * nodes.len() {
        let back = (0..nodes.len()).find(|&from| before[from] > 0 && nodes[from].same.contains(&at));
        at = back.unwrap_or(at);
        reference = nodes[at].reference.unwrap_or(reference);
        if !reference.is_empty() && back.is_none() {
            break;
        }
    }
    reference
}

/// Whether the work can grow faster than the value.
fn warning(nodes: &[Node<'_>], order: &[usize]) -> Option<String> {
    let circle = circles(nodes);
    // Schemas on one way into a value, at most. A way that comes back is left out here.
    let mut place = vec![0; nodes.len()];
    for (at, &node) in order.iter().enumerate() {
        place[node] = at;
    }
    let mut sorted: Vec<usize> = (0..nodes.len()).collect();
    // Circles are numbered from the last that is reached.
    sorted.sort_unstable_by_key(|&at| (circle[at], std::cmp::Reverse(place[at])));
    let mut ways = vec![0_u64; nodes.len()];
    for &at in &sorted {
        let node = &nodes[at];
        let same = node
            .same
            .iter()
            .map(|&next| ways[next])
            .fold(0, u64::saturating_add);
        let parts = node.parts.iter().filter(|(_, next)| circle[*next] != circle[at]);
        // A member has one name and an item one place; all else may be true of it too.
        let (mut one, mut all) = (0, 0_u64);
        for (part, next) in parts {
            match part {
                Part::Member(_) | Part::Item(_) => one = ways[*next].max(one),
                _ => all = all.saturating_add(ways[*next]),
            }
        }
        let most = all.saturating_add(one);
        ways[at] = most.saturating_add(same).saturating_add(1);
    }
    if ways[0] > MANY {
        return Some(format!(
            "more than {MANY} schemas look at one value and its parts; checking nested values may take long, and a call whose \
             arguments take too long is refused"
        ));
    }
    let mut comparisons = MAX_COMPARISONS;
    let again = (0..nodes.len()).find_map(|at| comes_back_twice(nodes, &circle, at, &mut comparisons))?;
    Some(format!(
        "a value can be checked twice against the schemas around {again:?} at each level, so that checking deeply nested values \
         may take long; a call whose arguments take too long is refused"
    ))
}

/// A reference of a circle by which a schema comes back to the circle in two ways for the same part of a value.
fn comes_back_twice<'s>(
    nodes: &[Node<'s>],
    circle: &[usize],
    start: usize,
    comparisons: &mut usize,
) -> Option<&'s str> {
    let mut seen: Vec<(usize, Part<'s>)> = Vec::new();
    let mut open = vec![start];
    let mut reference = None;
    while let Some(at) = open.pop() {
        reference = nodes[at].reference.or(reference);
        for (part, next) in &nodes[at].parts {
            if circle[*next] != circle[start] {
                continue;
            }
            *comparisons = comparisons.checked_sub(1 + seen.len())?;
            if seen.iter().any(|(of, other)| part.may_be(at, *other, *of)) {
                return Some(reference.or(nodes[*next].reference).unwrap_or("#"));
            }
            seen.push((at, *part));
        }
        *comparisons = comparisons.checked_sub(1 + nodes[at].same.len())?;
        // A schema that is reached in two ways looks twice. What is on no way back cannot come back.
        open.extend(
            nodes[at]
                .same
                .iter()
                .filter(|next| circle[**next] == circle[start]),
        );
    }
    None
}

/// The number of the circle that each schema is on (its strongly connected component): numbered so that what is reached from
/// a circle has a smaller number.
fn circles(nodes: &[Node<'_>]) -> Vec<usize> {
    let next = |at: usize| -> Vec<usize> {
        let node = &nodes[at];
        node.same
            .iter()
            .copied()
            .chain(node.parts.iter().map(|(_, next)| *next))
            .collect()
    };
    // Tarjan's algorithm with its own stack, because chains of references may be long.
    const NONE: usize = usize::MAX;
    let (mut found, mut low) = (vec![NONE; nodes.len()], vec![0; nodes.len()]);
    let (mut circle, mut stack, mut count, mut circles) = (vec![NONE; nodes.len()], Vec::new(), 0, 0);
    for root in 0..nodes.len() {
        if found[root] != NONE {
            continue;
        }
        let mut open = vec![(root, next(root), 0)];
        (found[root], low[root]) = (count, count);
        count += 1;
        stack.push(root);
        while let Some((at, ways, done)) = open.last_mut() {
            let at = *at;
            if let Some(&to) = ways.get(*done) {
                *done += 1;
                if found[to] == NONE {
                    (found[to], low[to]) = (count, count);
                    count += 1;
                    stack.push(to);
                    open.push((to, next(to), 0));
                } else if circle[to] == NONE {
                    low[at] = low[at].min(found[to]);
                }
                continue;
            }
            open.pop();
            if let Some((above, ..)) = open.last() {
                low[*above] = low[*above].min(low[at]);
            }
            if low[at] == found[at] {
                while let Some(member) = stack.pop() {
                    circle[member] = circles;
                    if member == at {
                        break;
                    }
                }
                circles += 1;
            }
        }
    }
    circle
}
