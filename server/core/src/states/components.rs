//! Strongly connected components (Tarjan's algorithm), without recursion: the number of states is not ours to choose.

/// Visits a graph of nodes `0..nodes`; `edges` gives the successors of each. Components come in no particular order,
/// each with its nodes in no particular order.
pub(super) fn components(nodes: usize, edges: impl Fn(usize) -> Vec<usize>) -> Vec<Vec<usize>> {
    const UNSEEN: usize = usize::MAX;
    let mut order = vec![UNSEEN; nodes];
    let mut low = vec![0; nodes];
    let mut on_stack = vec![false; nodes];
    let (mut stack, mut found, mut next) = (Vec::new(), Vec::new(), 0);
    for root in 0..nodes {
        if order[root] != UNSEEN {
            continue;
        }
        let mut path = vec![(root, edges(root), 0)];
        order[root] = next;
        low[root] = next;
        next += 1;
        stack.push(root);
        on_stack[root] = true;
        while let Some((node, successors, at)) = path.last_mut() {
            let node = *node;
            if let Some(&successor) = successors.get(*at) {
                *at += 1;
                if order[successor] == UNSEEN {
                    order[successor] = next;
                    low[successor] = next;
                    next += 1;
                    stack.push(successor);
                    on_stack[successor] = true;
                    path.push((successor, edges(successor), 0));
                } else if on_stack[successor] {
                    low[node] = low[node].min(order[successor]);
                }
                continue;
            }
            path.pop();
            if let Some((parent, _, _)) = path.last() {
                low[*parent] = low[*parent].min(low[node]);
            }
            if low[node] == order[node] {
                let start = stack.iter().rposition(|&member| member == node).unwrap_or(0);
                let component = stack.split_off(start);
                for &member in &component {
                    on_stack[member] = false;
                }
                found.push(component);
            }
        }
    }
    found
}
