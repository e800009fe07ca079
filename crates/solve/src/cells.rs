//! The method `cells`: a decision tree says for each cell of the output what colour it has.
//!
//! Features are those of the input's cell at the same place, where input and output have the same size, and the values of the simplest
//! pieces. How many training pairs the method gets right that were left out of its learning is what its answers are trusted by.

use std::collections::BTreeSet;

use xxhash_rust::xxh3::xxh3_64;

use crate::features::features;
use crate::image::Image;
use crate::meter::Meter;
use crate::tree::{CLASSES, Samples, Tree, UNCHANGED};

/// Trees of a forest.
const TREES: u64 = 11;

/// All samples of a task: those of pair after pair, the test's last.
pub(crate) struct CellTask {
    samples: Samples,
    /// The first sample of each pair, and where the last ends.
    starts: Vec<usize>,
    sizes: Vec<(usize, usize)>,
    /// The cells that UNCHANGED stands for, where input and output have the same size.
    base: Option<Vec<u8>>,
}

/// What a decision about cells gives.
pub(crate) struct CellAnswer {
    pub(crate) image: Image,
    /// Training pairs that it gets right after learning from all.
    pub(crate) fits: usize,
    /// Training pairs that it gets right after learning from the others.
    pub(crate) foreseen: usize,
    /// How many tests the tree makes.
    pub(crate) tests: usize,
    pub(crate) forest: bool,
}

impl CellTask {
    /// Collects samples. `layers` are images of the outputs' sizes for each pair, the test last.
    pub(crate) fn new(
        inputs: &[Image],
        outputs: &[Image],
        layers: &[Vec<&Image>],
        size: (usize, usize),
    ) -> Self {
        let sizes: Vec<(usize, usize)> = (0..inputs.len())
            .map(|pair| outputs.get(pair).map_or(size, Image::size))
            .collect();
        let same = inputs
            .iter()
            .zip(&sizes)
            .all(|(input, size)| input.size() == *size);
        let mut columns: Vec<Vec<i8>> = Vec::new();
        let mut classes = Vec::new();
        let mut starts = vec![0];
        let mut base = Vec::new();
        for (pair, input) in inputs.iter().enumerate() {
            let (w, h) = sizes[pair];
            let mut own: Vec<Vec<i8>> = layers
                .iter()
                .map(|layer| layer[pair].cells.iter().map(|&cell| cell as i8).collect())
                .collect();
            if same {
                let mut all = features(input);
                all.append(&mut own);
                own = all;
                base.extend_from_slice(&input.cells);
            } else {
                own.push((0..w * h).map(|cell| (cell % w) as i8).collect());
                own.push((0..w * h).map(|cell| (cell / w) as i8).collect());
            }
            columns.resize(own.len(), Vec::new());
            columns
                .iter_mut()
                .zip(own)
                .for_each(|(column, own)| column.extend(own));
            for cell in 0..w * h {
                let before = same.then(|| input.cells[cell]);
                let class = outputs.get(pair).map_or(0, |output| output.cells[cell]);
                classes.push(if Some(class) == before {
                    UNCHANGED
                } else {
                    class
                });
            }
            starts.push(classes.len());
        }
        distinct(&mut columns);
        Self {
            samples: Samples {
                features: columns,
                classes,
            },
            starts,
            sizes,
            base: same.then_some(base),
        }
    }

    /// What one pass over all features costs.
    fn work(&self) -> usize {
        self.samples.features.len() * self.samples.classes.len()
    }

    /// A tree on all features, and a vote of trees on parts of them.
    pub(crate) fn solve(&self, meter: &mut Meter<'_>) -> Vec<CellAnswer> {
        let all: Vec<usize> = (0..self.samples.features.len()).collect();
        let mut parts: Vec<Vec<usize>> = Vec::new();
        for tree in 0..TREES {
            let mut state = tree.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d;
            let mut part = all.clone();
            part.retain(|_| {
                state = state
                    .wrapping_mul(0x5851_f42d_4c95_7f2d)
                    .wrapping_add(0x1405_7b7e_f767_814f);
                (state >> 33) % 100 < 35
            });
            parts.push(part);
        }
        let single = self.answer(std::slice::from_ref(&all), None, meter);
        let foreseen = single.foreseen;
        let mut answers = vec![single];
        if !meter.is_over() {
            answers.push(self.answer(&parts, Some(foreseen), meter));
        }
        answers
    }

    /// Learns and applies; how much is foreseen is found out unless it is given.
    fn answer(
        &self,
        feature_sets: &[Vec<usize>],
        foreseen: Option<usize>,
        meter: &mut Meter<'_>,
    ) -> CellAnswer {
        let pairs = self.sizes.len() - 1;
        let learn = |left_out: Option<usize>, meter: &mut Meter<'_>| -> Vec<Tree> {
            let chosen: Vec<u32> = (0..pairs)
                .filter(|pair| Some(*pair) != left_out)
                .flat_map(|pair| self.starts[pair] as u32..self.starts[pair + 1] as u32)
                .collect();
            let grow = |part: &Vec<usize>| {
                meter.charge(self.work() * 4 * part.len() / self.samples.features.len().max(1));
                Tree::learn(&self.samples, &chosen, part)
            };
            feature_sets.iter().map(grow).collect()
        };
        let trees = learn(None, meter);
        let right = |trees: &[Tree], pair: usize| {
            let (from, to) = (self.starts[pair], self.starts[pair + 1]);
            (from..to).all(|sample| self.vote(trees, sample) == self.samples.classes[sample])
        };
        let fits = (0..pairs).filter(|&pair| right(&trees, pair)).count();
        let mut foresee = || {
            (0..pairs)
                .filter(|&pair| {
                    pairs > 1 && !meter.is_over() && right(&learn(Some(pair), meter), pair)
                })
                .count()
        };
        let foreseen = foreseen.unwrap_or_else(&mut foresee);
        let (w, h) = self.sizes[pairs];
        let color = |sample: usize| match (self.vote(&trees, sample), &self.base) {
            (UNCHANGED, Some(base)) => base[sample],
            (class, _) => class,
        };
        let cells = (self.starts[pairs]..self.starts[pairs + 1])
            .map(color)
            .collect();
        let tests = trees.iter().map(Tree::tests).sum::<usize>() / trees.len().max(1);
        CellAnswer {
            image: Image {
                x: 0,
                y: 0,
                w,
                h,
                cells,
            },
            fits,
            foreseen,
            tests,
            forest: feature_sets.len() > 1,
        }
    }

    fn vote(&self, trees: &[Tree], sample: usize) -> u8 {
        let classify =
            |tree: &Tree| tree.classify(|feature| self.samples.features[feature][sample]);
        if let [tree] = trees {
            return classify(tree);
        }
        let mut votes = [0_u8; CLASSES];
        trees
            .iter()
            .for_each(|tree| votes[usize::from(classify(tree))] += 1);
        (0..CLASSES)
            .rev()
            .max_by_key(|&class| votes[class])
            .unwrap_or(0) as u8
    }
}

/// Drops features that are the same for all samples, and those that equal an earlier one.
fn distinct(columns: &mut Vec<Vec<i8>>) {
    let mut seen = BTreeSet::new();
    columns.retain(|column| {
        let bytes: Vec<u8> = column.iter().map(|&value| value as u8).collect();
        column.iter().any(|value| *value != column[0]) && seen.insert(xxh3_64(&bytes))
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::image;

    #[test]
    fn a_rule_about_cells_is_learnt() {
        // What touches the border becomes 3.
        let inputs = [
            image(&["1....", "1..1.", "...1.", "....."]),
            image(&["...11", ".....", ".11..", "....."]),
            image(&["....", ".11.", "....", "..11"]),
        ];
        let outputs = [
            image(&["3....", "3..1.", "...1.", "....."]),
            image(&["...33", ".....", ".11..", "....."]),
        ];
        let task = CellTask::new(&inputs, &outputs, &[], (4, 4));
        let never = || false;
        let answers = task.solve(&mut Meter::new(1 << 40, &never));
        assert_eq!(answers[0].fits, 2);
        assert_eq!(answers[0].image, image(&["....", ".11.", "....", "..33"]));
    }
}
