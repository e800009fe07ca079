//! Strongly connected components: maximal sets of states in which every state can reach every other
//! one.
//!
//! This is Pearce's variant of Tarjan's algorithm (Information Processing Letters 116, 2016)
//! without recursion. Apart from its stacks it keeps one number per node.

use crate::Graph;

/// The strongly connected components of a graph.
///
/// **Invariant:** a component is listed after all components that it leads to, so an analysis that
/// propagates values backwards visits the components in order.
#[derive(Clone, Debug)]
pub struct Components {
    /// All nodes, component by component.
    order: Vec<u32>,
    /// The end of each component in `order`.
    ends: Vec<u32>,
    /// For each node, a number that identifies its component.
    component_of: Vec<u32>,
}

/// Marks a stack frame whose node may still be the root of its component.
const ROOT: u32 = 1 << 31;

impl Components {
    /// Computes the components of a graph.
    pub fn of(graph: &Graph) -> Self {
        let nodes = graph.nodes();
        // For each node: 0 until it is visited, then its position in the order of discovery, and
        // finally the number of its component. Components are numbered downwards from the number of
        // nodes, so that these numbers are greater than those of nodes whose component is not known
        // yet.
        let mut rank = vec![0_u32; nodes];
        let mut open: Vec<u32> = Vec::new();
        let mut frames: Vec<(u32, u32)> = vec![(ROOT, 0)];
        let (mut next, mut component) = (1_u32, nodes as u32);
        let mut order = Vec::with_capacity(nodes);
        let mut ends = Vec::new();
        rank[0] = next;
        next += 1;
        while let Some(frame) = frames.last_mut() {
            let node = frame.0 & !ROOT;
            let targets = graph.targets(node);
            if let Some(&target) = targets.get(frame.1 as usize) {
                if rank[target as usize] == 0 {
                    rank[target as usize] = next;
                    next += 1;
                    frames.push((target | ROOT, 0));
                    continue;
                }
                frame.1 += 1;
                if rank[target as usize] < rank[node as usize] {
                    rank[node as usize] = rank[target as usize];
                    frame.0 &= !ROOT;
                }
                continue;
            }
            let is_root = frame.0 & ROOT != 0;
            frames.pop();
            if !is_root {
                open.push(node);
                continue;
            }
            next -= 1;
            while let Some(&member) = open.last()
                && rank[node as usize] <= rank[member as usize]
            {
                open.pop();
                rank[member as usize] = component;
                order.push(member);
                next -= 1;
            }
            rank[node as usize] = component;
            order.push(node);
            component -= 1;
            ends.push(order.len() as u32);
        }
        Self {
            order,
            ends,
            component_of: rank,
        }
    }

    /// Returns the number of components.
    pub fn count(&self) -> usize {
        self.ends.len()
    }

    /// Iterates over the nodes of each component.
    pub fn iter(&self) -> impl Iterator<Item = &[u32]> {
        let mut start = 0;
        self.ends.iter().map(move |&end| {
            let members = &self.order[start..end as usize];
            start = end as usize;
            members
        })
    }

    /// Returns whether two nodes belong to the same component.
    #[inline]
    pub fn same_component(&self, a: u32, b: u32) -> bool {
        self.component_of[a as usize] == self.component_of[b as usize]
    }

    /// Returns the sizes of all components with more than one node, in descending order.
    pub fn sizes(&self) -> Vec<usize> {
        let mut sizes: Vec<usize> = self
            .iter()
            .map(<[u32]>::len)
            .filter(|&size| size > 1)
            .collect();
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        sizes
    }
}
