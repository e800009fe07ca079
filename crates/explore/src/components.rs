//! Strongly connected components: where play can go round in circles.
//!
//! Pearce's form of Tarjan's algorithm (Information Processing Letters 116, 2016) without recursion: it keeps one number a state beside its stacks.
//! **Invariant:** components are listed after all that they lead to.

use crate::Graph;

/// The components of a graph, those that lead nowhere else first.
#[derive(Clone, Debug)]
pub struct Components {
    /// All states, component by component.
    order: Vec<u32>,
    /// Where each component ends in the order.
    ends: Vec<u32>,
    /// A number that all states of a component share.
    of: Vec<u32>,
}

/// In a frame of the stack: whether the state may still be the first of its component.
const ROOT: u32 = 1 << 31;

impl Components {
    /// Finds them.
    pub fn of(graph: &Graph) -> Self {
        let nodes = graph.nodes();
        // 0: not seen; then the order of discovery; then the component, numbered from above so that it is above all of those.
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
            of: rank,
        }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.ends.len()
    }

    /// The states of each.
    pub fn iter(&self) -> impl Iterator<Item = &[u32]> {
        let mut begun = 0;
        self.ends.iter().map(move |&end| {
            let members = &self.order[begun..end as usize];
            begun = end as usize;
            members
        })
    }

    /// Whether two states are in the same one.
    #[inline]
    pub fn are_together(&self, one: u32, other: u32) -> bool {
        self.of[one as usize] == self.of[other as usize]
    }

    /// The sizes of those with more than one state, the largest first.
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
