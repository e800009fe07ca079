//! Decision trees over small whole numbers.
//!
//! Greedy by entropy, with tests for equality and for order. Of tests that are equally good the first feature wins, so features stand in
//! the order of their simplicity.

/// Samples: for each feature the values of all samples, and for each sample its class (below [`CLASSES`]).
pub(crate) struct Samples {
    pub(crate) features: Vec<Vec<i8>>,
    pub(crate) classes: Vec<u8>,
}

/// There are fewer classes than this.
pub(crate) const CLASSES: usize = 17;

/// The class of what stays as it is; the others are colours.
pub(crate) const UNCHANGED: u8 = 16;

/// How deep a tree grows.
const DEEPEST: usize = 14;

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

/// A tree.
#[derive(Debug)]
pub(crate) struct Tree {
    root: Node,
}

impl Tree {
    /// Learns from the samples with these numbers, by the features that are allowed.
    pub(crate) fn learn(samples: &Samples, chosen: &[u32], allowed: &[usize]) -> Self {
        Self {
            root: grow(samples, chosen, allowed, DEEPEST),
        }
    }

    /// The class of a sample, whose features are asked for.
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

    /// The number of tests.
    pub(crate) fn tests(&self) -> usize {
        count(&self.root)
    }
}

fn count(node: &Node) -> usize {
    match node {
        Node::Leaf(_) => 0,
        Node::Equal { yes, no, .. } | Node::AtMost { yes, no, .. } => 1 + count(yes) + count(no),
    }
}

/// The best test so far: the entropy that remains, the feature, the value, and whether it asks for equality.
type Test = (f64, usize, i8, bool);

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
    let Some((_, feature, value, equal)) = best_test(samples, chosen, allowed, &total) else {
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

fn best_test(
    samples: &Samples,
    chosen: &[u32],
    allowed: &[usize],
    total: &[u32; CLASSES],
) -> Option<Test> {
    // Counts of classes that are not there are never looked at.
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
    let mut best: Option<Test> = None;
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
                    // What remains of the entropy, as size times bits; less is better.
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
    fn trees_learn_what_features_tell() {
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
        assert_eq!(tree.tests(), 2);
        for &(one, other) in &pairs {
            assert_eq!(
                tree.classify(|feature| if feature == 0 { one } else { other }),
                class((one, other))
            );
        }
        assert_eq!(Tree::learn(&samples, &all, &[]).tests(), 0);
    }
}
