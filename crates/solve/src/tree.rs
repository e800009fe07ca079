//! Decision trees over small integers.
//!
//! Trees grow greedily: each node uses the split that leaves the least entropy. A split compares a
//! feature with a value, for equality or order. Among equally good splits the first feature wins,
//! so callers order features from simple to complex.

/// Training data: for each feature the values of all samples, and for each sample its class, which
/// is below [`CLASSES`].
pub(crate) struct Samples {
    pub(crate) features: Vec<Vec<i8>>,
    pub(crate) classes: Vec<u8>,
}

/// The number of classes: 16 colours and [`UNCHANGED`].
pub(crate) const CLASSES: usize = 17;

/// The class of samples that keep their colour. The other classes are the colours that samples get.
pub(crate) const UNCHANGED: u8 = 16;

/// The maximum depth of a tree.
const MAX_DEPTH: usize = 14;

#[derive(Debug)]
enum Node {
    Leaf(u8),
    Equal {
        feature: usize,
        value: i8,
        yes: Box<Node>,
        no: Box<Node>,
    },
    AtMost {
        feature: usize,
        value: i8,
        yes: Box<Node>,
        no: Box<Node>,
    },
}

/// A learnt decision tree.
#[derive(Debug)]
pub(crate) struct Tree {
    root: Node,
}

impl Tree {
    /// Learns from the samples with the indices `chosen`, using only the `allowed` features.
    pub(crate) fn learn(samples: &Samples, chosen: &[u32], allowed: &[usize]) -> Self {
        Self {
            root: grow(samples, chosen, allowed, MAX_DEPTH),
        }
    }

    /// Returns the class of a sample. `feature` returns the value of the feature with the given
    /// index.
    pub(crate) fn classify(&self, feature: impl Fn(usize) -> i8) -> u8 {
        let mut node = &self.root;
        loop {
            node = match node {
                Node::Leaf(class) => return *class,
                Node::Equal {
                    feature: index,
                    value,
                    yes,
                    no,
                } => {
                    if feature(*index) == *value {
                        yes
                    } else {
                        no
                    }
                }
                Node::AtMost {
                    feature: index,
                    value,
                    yes,
                    no,
                } => {
                    if feature(*index) <= *value {
                        yes
                    } else {
                        no
                    }
                }
            };
        }
    }

    /// Returns the number of inner nodes.
    pub(crate) fn splits(&self) -> usize {
        count_splits(&self.root)
    }
}

fn count_splits(node: &Node) -> usize {
    match node {
        Node::Leaf(_) => 0,
        Node::Equal { yes, no, .. } | Node::AtMost { yes, no, .. } => {
            1 + count_splits(yes) + count_splits(no)
        }
    }
}

/// A split: the remaining entropy, the feature, the value that it is compared with, and whether the
/// test is for equality rather than order.
type Split = (f64, usize, i8, bool);

fn grow(samples: &Samples, chosen: &[u32], allowed: &[usize], depth: usize) -> Node {
    let mut total = [0_u32; CLASSES];
    for &sample in chosen {
        total[usize::from(samples.classes[sample as usize])] += 1;
    }
    let majority = (0..CLASSES)
        .rev()
        .max_by_key(|&class| total[class])
        .unwrap_or(0) as u8;
    if depth == 0 || total[usize::from(majority)] as usize == chosen.len() {
        return Node::Leaf(majority);
    }
    let Some((_, feature, value, equal)) = best_split(samples, chosen, allowed, &total) else {
        return Node::Leaf(majority);
    };
    let holds = |sample: &u32| {
        let found = samples.features[feature][*sample as usize];
        if equal {
            found == value
        } else {
            found <= value
        }
    };
    let (yes, no): (Vec<u32>, Vec<u32>) = chosen.iter().partition(|sample| holds(sample));
    let yes = Box::new(grow(samples, &yes, allowed, depth - 1));
    let no = Box::new(grow(samples, &no, allowed, depth - 1));
    if equal {
        Node::Equal {
            feature,
            value,
            yes,
            no,
        }
    } else {
        Node::AtMost {
            feature,
            value,
            yes,
            no,
        }
    }
}

fn best_split(
    samples: &Samples,
    chosen: &[u32],
    allowed: &[usize],
    total: &[u32; CLASSES],
) -> Option<Split> {
    // Only classes that occur are counted.
    let present: Vec<usize> = (0..CLASSES).filter(|&class| total[class] > 0).collect();
    let mut place = [0_usize; CLASSES];
    present
        .iter()
        .enumerate()
        .for_each(|(index, &class)| place[class] = index);
    let width = present.len();
    let total: Vec<u32> = present.iter().map(|&class| total[class]).collect();
    let classes: Vec<u8> = chosen
        .iter()
        .map(|&sample| place[usize::from(samples.classes[sample as usize])] as u8)
        .collect();
    let logs: Vec<f64> = (0..=chosen.len())
        .map(|count| {
            if count == 0 {
                0.0
            } else {
                count as f64 * (count as f64).log2()
            }
        })
        .collect();
    let mut best: Option<Split> = None;
    let mut counts = vec![0_u32; 256 * width];
    let mut sums = [0_u32; 256];
    let mut seen: Vec<u8> = Vec::with_capacity(256);
    let mut below = vec![0_u32; width];
    for &feature in allowed {
        let values = &samples.features[feature];
        seen.clear();
        for (&sample, &class) in chosen.iter().zip(&classes) {
            let value = (values[sample as usize] as u8) ^ 0x80;
            if sums[usize::from(value)] == 0 {
                seen.push(value);
            }
            sums[usize::from(value)] += 1;
            counts[usize::from(value) * width + usize::from(class)] += 1;
        }
        if seen.len() > 1 {
            seen.sort_unstable();
            below.fill(0);
            let mut lower = 0;
            for (index, &value) in seen.iter().enumerate() {
                let row = &counts[usize::from(value) * width..(usize::from(value) + 1) * width];
                let mut offer = |part: &[u32], size: u32, equal: bool| {
                    // The remaining entropy in bits, weighted by size; less is better.
                    let rest = chosen.len() as u32 - size;
                    let mut remaining = logs[size as usize] + logs[rest as usize];
                    for (&part, &all) in part.iter().zip(&total) {
                        remaining -= logs[part as usize] + logs[(all - part) as usize];
                    }
                    if best.is_none_or(|(least, ..)| remaining < least - 1e-9) {
                        best = Some((remaining, feature, (value ^ 0x80) as i8, equal));
                    }
                };
                let size = sums[usize::from(value)];
                offer(row, size, true);
                below
                    .iter_mut()
                    .zip(row)
                    .for_each(|(below, row)| *below += row);
                lower += size;
                if index > 0 && index + 2 < seen.len() {
                    offer(&below, lower, false);
                }
            }
        }
        for &value in &seen {
            sums[usize::from(value)] = 0;
            counts[usize::from(value) * width..(usize::from(value) + 1) * width].fill(0);
        }
    }
    let before = logs[chosen.len()] - total.iter().map(|&count| logs[count as usize]).sum::<f64>();
    best.filter(|(remaining, ..)| *remaining < before - 1e-9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tree_learns_classes_from_features() {
        // The class is whether the first feature is 2 or the second at most 1.
        let pairs: Vec<(i8, i8)> = (0..5)
            .flat_map(|one| (-2..4).map(move |other| (one, other)))
            .collect();
        let class = |(one, other): (i8, i8)| u8::from(one == 2 || other <= 1);
        let samples = Samples {
            features: vec![
                pairs.iter().map(|pair| pair.0).collect(),
                pairs.iter().map(|pair| pair.1).collect(),
            ],
            classes: pairs.iter().map(|&pair| class(pair)).collect(),
        };
        let all: Vec<u32> = (0..pairs.len() as u32).collect();
        let tree = Tree::learn(&samples, &all, &[0, 1]);
        assert_eq!(tree.splits(), 2);
        for &(one, other) in &pairs {
            assert_eq!(
                tree.classify(|feature| if feature == 0 { one } else { other }),
                class((one, other))
            );
        }
        assert_eq!(Tree::learn(&samples, &all, &[]).splits(), 0);
    }
}
